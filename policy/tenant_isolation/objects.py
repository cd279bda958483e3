"""Kubernetes objects in a tenant's stack, whatever registered them: a typed class, CustomResource, a Patch, YAML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tenant_isolation.clusters import cluster_problems
from tenant_isolation.control_planes import control_plane_problems
from tenant_isolation.kinds import BODY, Kind, identity_problems, kind_of, metadata_problems
from tenant_isolation.machines import MACHINE, TEMPLATE, machine_problems
from tenant_isolation.providers import kubernetes_problems
from tenant_isolation.reading import UNKNOWN, read
from tenant_isolation.verdicts import shown, strange, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tenant_isolation.verdicts import Case

HANDOVER = "hybrid-handover"
CORE = "cluster.x-k8s.io"
CONFIG = ("bootstrap.cluster.x-k8s.io", "TalosConfigTemplate")
HOLDERS = ("spec", "template", "bootstrap")
"""Fields below which references are."""
PROXMOX_CLUSTER = ("infrastructure.cluster.x-k8s.io", "ProxmoxCluster")
CONTROL_PLANE = ("controlplane.cluster.x-k8s.io", "KamajiControlPlane")

RENDERED: dict[tuple[str, str], frozenset[str] | None] = {
    (CORE, "Cluster"): words("clusterNetwork controlPlaneEndpoint controlPlaneRef infrastructureRef paused"),
    (CORE, "MachineDeployment"): words(
        """clusterName replicas strategy rollout deletion remediation selector template paused minReadySeconds
        revisionHistoryLimit progressDeadlineSeconds machineNaming machineNamingStrategy rolloutAfter taints"""
    ),
    (CORE, "MachineHealthCheck"): words(
        "clusterName selector unhealthyConditions maxUnhealthy unhealthyRange nodeStartupTimeout checks remediation"
    ),
    CONTROL_PLANE: None,
    PROXMOX_CLUSTER: None,
    MACHINE: None,
    TEMPLATE: words("template"),
    CONFIG: words("template"),
}
"""(group, kind) of what the program makes for a tenant, and the machines made from it, with the fields of their spec
where these are not judged one by one. All are namespaced. A Cluster has no `topology`, whose machines nobody sees."""

_JUDGES: dict[tuple[str, str], Callable[[Case, Kind], Iterable[str]]] = {
    MACHINE: machine_problems,
    TEMPLATE: machine_problems,
    PROXMOX_CLUSTER: cluster_problems,
    CONTROL_PLANE: control_plane_problems,
}


def object_problems(case: Case) -> list[str]:
    """Judge one object: a kind that the program renders, in the tenant's namespace, made of the tenant's own."""
    kind = kind_of(case.resource.type)
    if kind is None or kind.pair not in RENDERED:
        return [_refusal(case, kind)]
    props = case.resource.props
    problems = kubernetes_problems(case)
    problems += identity_problems(props, kind, BODY)
    problems += metadata_problems(props)
    own = case.stack.namespace
    namespace = read(props, "metadata", "namespace")
    if namespace != own:
        problems.append(
            f"Its namespace is {shown(namespace)}. Stack {case.stack.name} has namespace {own}: write "
            f"metadata.namespace: {own}."
        )
    spec, fields = read(props, "spec"), RENDERED[kind.pair]
    if fields is not None and isinstance(spec, dict):
        problems += strange(spec, fields, "spec has fields")
    if kind.pair != CONFIG:  # its spec is the machine's own configuration, with the tenant cluster's namespaces
        problems += _reference_problems(spec, "spec", own)
    judge = _JUDGES.get(kind.pair)
    return [*problems, *(judge(case, kind) if judge else ())]


def _refusal(case: Case, kind: Kind | None) -> str:
    if kind == Kind("", "v1", "Secret"):
        return (
            f"A tenant's stack makes no Secrets; {HANDOVER} is written by the environment and only read here. "
            "(A read comes by here in `pulumi policy analyze` alone.)"
        )
    what = f"{kind.name} ({kind.api_version})" if kind else case.resource.type
    return f"A tenant's stack makes no {what}. If the platform is to make it, it belongs in the environment's stack."


def _reference_problems(value: Any, path: str, own: str) -> Iterator[str]:
    """Judge every field that names another namespace, or refers to a kind that is none of the tenant's.

    References to pools are judged with their NIC.
    """
    is_reference = path.endswith("Ref") and not path.endswith("PoolRef")
    if value is UNKNOWN and (is_reference or path.rpartition(".")[2] in HOLDERS):
        yield _foreign(path, value, own)
    elif isinstance(value, dict):
        if is_reference and "kind" in value and (_group(value), value["kind"]) not in list(RENDERED):
            yield f"{path} is a {shown(value['kind'])}. It may refer to what a tenant's stack makes alone."
        for key, part in value.items():
            below = f"{path}.{key}"
            if key == "dataSecretName":
                yield f"{below} names a Secret, whose content the machine would get. Write bootstrap.configRef."
            elif (key == "namespace" or key.endswith("Namespace")) and part != own:
                yield _foreign(below, part, own)
            else:
                yield from _reference_problems(part, below, own)
    elif isinstance(value, list):
        for i, part in enumerate(value):
            yield from _reference_problems(part, f"{path}[{i}]", own)


def _foreign(path: str, value: Any, own: str) -> str:
    return f"{path} is {shown(value)}: everything that it refers to must lie in namespace {own}."


def _group(reference: dict[str, Any]) -> Any:
    if "apiGroup" in reference:
        return reference["apiGroup"]
    version = reference.get("apiVersion")
    return version.rpartition("/")[0] if isinstance(version, str) else version
