"""`hybrid-control-planes`: a tenant's KamajiControlPlane says what the program writes, and nothing else.

Everything else in it runs on the management cluster or reaches beyond the tenant: containers, volumes, arguments,
another data store, another cluster. The platform's own charts write such fields and are exempt
(`management.controllers.charts`). Only what a request changes is judged: Kamaji's provider and Cluster API write on
objects that the charts made. A Scale, which sets the number of copies from beside the object, is judged too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from manifests.common import identities, tenant_namespaces
from manifests.policies.parts import Content, Rule, Variables, listed, policy, text, texts, validation

if TYPE_CHECKING:
    from manifests.manifest import Manifest
    from settings.environment import Environment

NAME = "hybrid-control-planes"

_DEFAULTS = {
    "registry": "'registry.k8s.io'",
    "addons.konnectivity.server.image": "'registry.k8s.io/kas-network-proxy/proxy-server'",
    "addons.konnectivity.agent.image": "'registry.k8s.io/kas-network-proxy/proxy-agent'",
    "addons.konnectivity.agent.mode": "'DaemonSet'",
    "addons.konnectivity.agent.hostNetwork": "false",
    "addons.konnectivity.agent.tolerations": "[{'key': 'CriticalAddonsOnly', 'operator': 'Exists'}]",
}
"""What the CRD of both generations fills in by itself: no other value."""


def _fields(environment: Environment) -> dict[str, tuple[str, ...]]:
    """Give the fields that are open, by the place in which they stand."""
    ports = ("additionalServicePorts",) if environment.management.kamaji_service_ports else ()
    return {
        # Kamaji's provider writes controlPlaneEndpoint.
        "": ("replicas", "version", "addons", "kubelet", "network", "registry", "controlPlaneEndpoint"),
        "addons": ("konnectivity",),
        "addons.konnectivity": ("server", "agent"),
        "addons.konnectivity.server": ("port", "image"),
        "addons.konnectivity.agent": ("image", "mode", "hostNetwork", "tolerations"),
        "kubelet": ("cgroupfs", "preferredAddressTypes"),
        "network": ("serviceType", "serviceAddress", "advertiseAddress", "certSANs", *ports),
    }


def _at(root: str, place: str) -> str:
    return root + "".join(f".?{key}" for key in place.split(".")) if place else root


def _part(root: str, place: str) -> str:
    return f"{_at(root, place)}.orValue({{}})" if place else root


def _closed(place: str, fields: tuple[str, ...]) -> str:
    """Write the list of the changed fields of one place that are not open."""
    new, old = _part("variables.spec", place), _part("variables.old", place)
    path = f"spec.{place}." if place else "spec."
    return f"{new}.filter(k, !(k in {texts(fields)}) && (!(k in {old}) || {new}[k] != {old}[k])).map(k, '{path}' + k)"


def _filled(place: str, value: str) -> str:
    """Write the list that holds a field which has another value than the one that is filled in, and changed."""
    new, old = _at("variables.spec", place), _at("variables.old", place)
    return f"[?{new}].filter(v, v != dyn({value}) && {new} != {old}).map(v, 'spec.{place}')"


_BOUNDS = {
    "replicas": ("v < 1 || v > 5", "spec.replicas (1 to 5)"),
    "version": ("!v.matches('^v[0-9]+[.][0-9]+[.][0-9]+$')", "spec.version (like v1.35.6)"),
}
"""What is wrong in the value `v` of a field, and how it is said. The version is the tag of images that are run."""


def _outside(field: str, wrong: str, said: str) -> str:
    """Write the list that holds a field whose value changed to one that is out of bounds."""
    new, old = _at("variables.spec", field), _at("variables.old", field)
    return f"[?{new}].filter(v, {new} != {old} && ({wrong})).map(v, '{said}')"


_STOPPED = (
    "(object.kind == 'Scale' && !has(variables.spec.replicas) && has(variables.old.replicas)"
    f" ? ['{_BOUNDS['replicas'][1]}'] : [])"
)
"""The list that holds `replicas` if a Scale sets it to 0: such a Scale has no field of that name."""


def variables(environment: Environment) -> Variables:
    """Give the policy's variables."""
    names = sorted(f"{tenant.namespace}/{name}" for tenant in environment.tenants.values() for name in tenant.clusters)
    closed = [_closed(place, fields) for place, fields in _fields(environment).items()]
    filled = [_filled(place, value) for place, value in _DEFAULTS.items()]
    return {
        "spec": "object.spec",
        "old": "oldObject == null ? dyn({}) : oldObject.spec",
        "judged": (
            f"request.namespace in {texts(tenant_namespaces(environment))}"
            f" && request.userInfo.username != {text(environment.management.controllers.charts)}"
        ),
        "closed": " + ".join(closed),
        "filled": " + ".join(filled),
        "outside": " + ".join([*(_outside(field, *bounds) for field, bounds in _BOUNDS.items()), _STOPPED]),
        "clusters": texts(names),
        "mine": "variables.clusters.filter(c, c.startsWith(request.namespace + '/'))",
        "named": f"oldObject == null && request.userInfo.username in {texts(identities(environment))}",
    }


VALIDATIONS = [
    validation(
        "!variables.judged || (size(variables.closed) == 0 && size(variables.filled) == 0)",
        "A field is set that is closed to tenants.",
        "'Namespace ' + request.namespace + ': closed to tenants: ' + (variables.closed + variables.filled).join(', ')",
    ),
    validation(
        "!variables.judged || size(variables.outside) == 0",
        "spec.replicas must be 1 to 5, and spec.version like v1.35.6.",
        "'Namespace ' + request.namespace + ': out of bounds: ' + variables.outside.join(', ')",
    ),
    # Kamaji names what it keeps in the shared data store by namespace and name joined: a name of a tenant's choice
    # could be another tenant's.
    validation(
        "!variables.named || (request.namespace + '/' + object.metadata.name) in variables.mine",
        "A tenant's control plane must be named like one of the tenant's clusters.",
        "'No cluster of the tenant is named ' + request.namespace + '/' + object.metadata.name + '; allowed: ' + "
        + listed("variables.mine"),
    ),
]


def control_planes(environment: Environment, after: tuple[str, ...]) -> Manifest:
    """Give the policy for an environment."""
    content = Content(variables(environment), VALIDATIONS)
    rule = Rule.of(environment.management.generation, "KamajiControlPlane")
    (plural,) = rule.resources
    return policy(NAME, replace(rule, resources=(plural, f"{plural}/scale")), content, after)
