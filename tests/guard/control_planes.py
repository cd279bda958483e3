"""KamajiControlPlanes: the program's own, and every field of it that somebody could set, one at a time."""

from __future__ import annotations

import copy
import itertools
from typing import TYPE_CHECKING, Any

from tests.guard.offline import Request

if TYPE_CHECKING:
    from collections.abc import Iterator

Body = dict[str, Any]
Places = tuple[str, ...]
SERVER, AGENT = ("addons", "konnectivity", "server"), ("addons", "konnectivity", "agent")
_TOLERATIONS = [{"key": "CriticalAddonsOnly", "operator": "Exists"}]
FIELDS: dict[tuple[Places, str], list[Any]] = {
    ((), "dataStoreName"): ["other", "default"],
    ((), "deployment"): [{"additionalContainers": []}, {}],
    ((), "replicas"): [2, 1, 5, 0, 6],
    ((), "version"): ["v1.35.6", "v1.36.0", "v1.36", "x-v1.36.0", "v1.36.0-rc.1"],
    ((), "registry"): ["registry.k8s.io", "registry.example"],
    ((), "controlPlaneEndpoint"): [{"host": "203.0.113.10", "port": 6443}],
    ((), "admissionControllers"): [["NodeRestriction"], []],
    (("addons",), "coreDNS"): [{}, {"imageTag": "x"}],
    (("addons", "konnectivity"), "extra"): [{}, {"a": "b"}],
    (SERVER, "port"): [8132, 8133],
    (SERVER, "image"): ["registry.k8s.io/kas-network-proxy/proxy-server", "registry.example/server"],
    (SERVER, "extraArgs"): [["--x"], ["--y"]],
    (AGENT, "image"): ["registry.k8s.io/kas-network-proxy/proxy-agent", "registry.example/agent"],
    (AGENT, "mode"): ["DaemonSet", "Deployment"],
    (AGENT, "hostNetwork"): [True, False],
    (AGENT, "tolerations"): [_TOLERATIONS, [], [{"operator": "Exists"}]],
    (AGENT, "extraArgs"): [["--x"], ["--y"]],
    (("kubelet",), "cgroupfs"): ["systemd", "cgroupfs"],
    (("kubelet",), "preferredAddressTypes"): [["InternalIP"], ["ExternalIP"]],
    (("kubelet",), "configurationJSONPatches"): [[], [{}]],
    (("network",), "serviceType"): ["NodePort", "LoadBalancer"],
    (("network",), "serviceAddress"): ["203.0.113.10", "203.0.113.11"],
    (("network",), "advertiseAddress"): ["203.0.113.10", "203.0.113.11"],
    (("network",), "certSANs"): [["x.example"], ["y.example"]],
    (("network",), "ingress"): [{"className": "x"}, {"className": "y"}],
    (("network",), "serviceAnnotations"): [{"a": "b"}, {}],
    (("network",), "additionalServicePorts"): [[{"name": "talos-trustd", "port": 50001, "targetPort": 50001}], []],
}
"""Fields by their places, with values."""

_ABSENT = object()


def own() -> Body:
    """Give a spec as the program writes it, with a part of what the API server fills in."""
    return {
        "replicas": 2,
        "version": "v1.35.6",
        "registry": "registry.k8s.io",
        "addons": {"konnectivity": {"server": {"port": 8132}, "agent": {"mode": "DaemonSet", "hostNetwork": False}}},
        "kubelet": {"cgroupfs": "systemd", "preferredAddressTypes": ["InternalIP"]},
        "network": {"serviceType": "LoadBalancer", "certSANs": ["x.example"], "serviceAddress": "203.0.113.10"},
    }


def body(namespace: str, spec: Body, *, newer: bool) -> Body:
    """Give the object."""
    return {
        "apiVersion": f"controlplane.cluster.x-k8s.io/{'v1alpha2' if newer else 'v1alpha1'}",
        "kind": "KamajiControlPlane",
        "metadata": {"name": "prod", "namespace": namespace},
        "spec": spec,
    }


def scale(namespace: str, copies: int) -> Body:
    """Give a Scale of it; the API server leaves a number of 0 out."""
    return {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {"name": "prod", "namespace": namespace},
        "spec": {"replicas": copies} if copies else {},
    }


def put(spec: Body, places: Places, field: str, value: Any) -> Body:
    """Give a spec with one field set; `_ABSENT` takes it away."""
    changed = at = copy.deepcopy(spec)
    for place in places:
        at = at.setdefault(place, {})
    if value is _ABSENT:
        at.pop(field, None)
    else:
        at[field] = value
    return changed


def every(namespace: str, *, newer: bool) -> Iterator[Request]:
    """Give requests for each field: new, kept, added, changed, in a whole object and in one with nothing else."""
    for base in (own(), {}):
        for (places, field), values in FIELDS.items():
            specs = [put(base, places, field, value) for value in values]
            for spec in specs:
                now = body(namespace, spec, newer=newer)
                yield Request(namespace, "create", now)
                for before in (*specs, base, put(base, places, field, _ABSENT), {}):
                    yield Request(namespace, "update", now, body(namespace, before, newer=newer))
    # A control plane that says no number gets one by its definition's default; a Scale that says none asks for 0.
    silent = put(own(), (), "replicas", _ABSENT)
    yield Request(namespace, "update", body(namespace, silent, newer=newer), body(namespace, own(), newer=newer))
    for copies, before_it in itertools.product((0, 1, 5, 6), repeat=2):
        yield Request(namespace, "update", scale(namespace, copies), scale(namespace, before_it))
