"""Cases of hosted control planes: what is not the program's own writing is closed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manifests.generations import api_version
from manifests.guard_cases import names
from manifests.guard_cases.bodies import labelled
from manifests.guard_cases.case import Body, Case, Matrix, Request

if TYPE_CHECKING:
    from manifests.guard_cases.world import World

_CONTAINER = {"name": "guard-case", "image": "registry.example/guard-case"}
_ELSEWHERE = {"deploymentNamespace": "x", "kubeconfigSecretName": "x", "kubeconfigSecretKey": "x"}

_CLOSED: dict[str, dict[str, Any]] = {
    "containers of its own": {"deployment": {"extraContainers": [_CONTAINER]}},
    "containers of its own before the start": {"deployment": {"extraInitContainers": [_CONTAINER]}},
    "a volume with a Secret": {"deployment": {"extraVolumes": [{"name": "x", "secret": {"secretName": "x"}}]}},
    "a ServiceAccount": {"deployment": {"serviceAccountName": "default"}},
    "nodes of its choice": {"deployment": {"nodeSelector": {"node-role.kubernetes.io/control-plane": ""}}},
    "another cluster to run in": {"deployment": {"externalClusterReference": _ELSEWHERE}},
    "arguments of the API server": {"apiServer": {"extraArgs": ["--anonymous-auth=true"]}},
    "arguments of the controller manager": {"controllerManager": {"extraArgs": ["--v=9"]}},
    "arguments of the scheduler": {"scheduler": {"extraArgs": ["--v=9"]}},
    "an image of the API server": {"apiServer": {"containerImageName": "guard-case"}},
    "another registry": {"registry": "registry.example"},
    "another data store": {"dataStoreName": "guard-case"},
    "a schema of the data store": {"dataStoreSchema": "guard-case"},
    "arguments of kine": {"kine": {"extraArgs": ["--debug"]}},
    "admission plugins": {"admissionControllers": ["AlwaysAdmit"]},
    "patches of the kubelet": {"kubelet": {"configurationJSONPatches": [{"op": "add", "path": "/x", "value": "x"}]}},
    "an ingress": {"network": {"ingress": {"hostname": "x.example:443"}}},
    "annotations of the Service": {"network": {"serviceAnnotations": {"x.example/y": "z"}}},
    "a load balancer of its choice": {"network": {"loadBalancerConfig": {"loadBalancerClass": "x.example/y"}}},
    "name servers": {"addons": {"coreDNS": {}}},
    "a proxy": {"addons": {"kubeProxy": {}}},
    "an image of the tunnel": {"addons": {"konnectivity": {"server": {"port": 8132, "image": "registry.example/x"}}}},
    "arguments of the tunnel": {"addons": {"konnectivity": {"server": {"port": 8132, "extraArgs": ["--v=9"]}}}},
}
"""What a tenant could ask for beyond the program's own writing: each would run on the management cluster."""


def control_plane_cases(world: World) -> list[Case]:
    """Give the cases for each tenant that has a network."""
    matrix = Matrix(names.CONTROL_PLANES, world.generation)
    for namespace in world.tenants:
        where = f"KamajiControlPlane in {namespace}"
        own = _body(world, namespace)
        twin = Request(f"{where}: as the program writes it", own)
        for text, fields in _CLOSED.items():
            wrong = Request(f"{where}: {text}", _merged(own, fields))
            matrix.refuse(wrong, twin=twin, says=_path(fields))
        for text, field, values in (
            ("no copy", "replicas", (0,)),
            ("six copies", "replicas", (6,)),
            ("a version that is none", "version", ("v1.35", "v1.35.6-rc.1", "x-v1.35.6")),
        ):
            for value in values:
                which = f" ({value})" if len(values) > 1 else ""
                wrong = Request(f"{where}: {text}{which}", _merged(own, {field: value}))
                matrix.refuse(wrong, twin=twin, says=f"spec.{field}")
        self_named = f"{where}, made by the tenant's own identity"
        clusters = sorted(world.environment.tenants[world.tenants[namespace]].clusters)
        other = {**own, "metadata": {**own["metadata"], "name": "guardcase-not-a-cluster"}}
        if clusters:
            mine = {**own, "metadata": {**own["metadata"], "name": clusters[0]}}
            accepted = Request(f"{self_named}: the name of its cluster {clusters[0]}", mine, user="tenant")
        else:
            accepted = Request(f"{where}, made by an administrator: a name of its choice", other)
        matrix.refuse(
            Request(f"{self_named}: a name of its choice", other, user="tenant"),
            twin=accepted,
            says="No cluster of the tenant is named",
        )
        old = _merged(own, {"deployment": {"extraContainers": [_CONTAINER]}})
        more = _merged(own, {"deployment": {"extraContainers": [_CONTAINER, {**_CONTAINER, "name": "second"}]}})
        matrix.refuse(
            Request(f"{where}: a change of containers that were there before", more, old=old, before=True),
            twin=Request(
                f"{where}: a change beside containers that were there before", labelled(old), old=old, before=True
            ),
            says="deployment",
        )
        matrix.refuse(
            Request(f"{where}: a change to containers of its own", old, old=own),
            twin=Request(f"{where}: a change of its replicas", _merged(own, {"replicas": 3}), old=own),
            says="deployment",
        )
    return matrix.all()


def _path(fields: dict[str, Any]) -> str:
    return next(iter(fields))


def _merged(body: Body, fields: dict[str, Any]) -> Body:
    return {**body, "spec": _both(body["spec"], fields)}


def _both(one: dict[str, Any], two: dict[str, Any]) -> dict[str, Any]:
    found = dict(one)
    for key, value in two.items():
        at = found.get(key)
        found[key] = _both(at, value) if isinstance(at, dict) and isinstance(value, dict) else value
    return found


def _body(world: World, namespace: str) -> Body:
    """Give a control plane with every field that the program writes."""
    management = world.environment.management
    network: dict[str, Any] = {
        "serviceType": "LoadBalancer",
        "serviceAddress": "192.0.2.10",
        "advertiseAddress": "192.0.2.10",
        "certSANs": ["192.0.2.10", f"guardcase.{namespace}.svc"],
    }
    if management.kamaji_service_ports:
        port = {"name": "talos-trustd", "port": 50001, "targetPort": 50001, "protocol": "TCP"}
        network["additionalServicePorts"] = [port]
    return {
        "apiVersion": api_version("KamajiControlPlane", world.generation),
        "kind": "KamajiControlPlane",
        "metadata": {"namespace": namespace, "labels": {"cluster.x-k8s.io/role": "control-plane"}},
        "spec": {
            "replicas": 2,
            "version": "v1.35.6",
            "addons": {"konnectivity": {"server": {"port": 8132}}},
            "kubelet": {"cgroupfs": "systemd", "preferredAddressTypes": ["InternalIP", "ExternalIP"]},
            "network": network,
        },
    }
