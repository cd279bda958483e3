"""Objects of capmox between `v1alpha1` and `v1alpha2`, and what a Cluster refers to.

Upwards, `network.default` becomes the first of `networkDevices`, with both default flags and its pool references in one
list; a machine without a network gets a first NIC on `vmbr0`; `cloneSpec` is dropped, `target` becomes `allowedNodes`.
Downwards, one pool reference per family is left of a NIC's list: the first whose name contains "inet6", and the first
other; what the older version can not say is parked in an annotation, as Cluster API's providers do.
"""

from __future__ import annotations

import copy
import json
from typing import Any

from lab.conversion import references

Body = dict[str, Any]

OLD, NEW = "v1alpha1", "v1alpha2"
GROUP = "infrastructure.cluster.x-k8s.io"
PARKED = "cluster.x-k8s.io/conversion-data"
KINDS = ("ProxmoxCluster", "ProxmoxClusterTemplate", "ProxmoxMachine", "ProxmoxMachineTemplate")

DEFINITIONS = (
    *(f"{kind.lower()}s.{GROUP}" for kind in KINDS),
    f"{references.KIND.lower()}s.{references.GROUP}",
)
"""The CRDs that are converted."""

_FIRST = "net0"
_DUMMY = {"name": _FIRST, "bridge": "vmbr0", "model": "virtio", "defaultIPv4": True, "defaultIPv6": True}
_ONLY_NEW_NIC = ("defaultIPv4", "defaultIPv6", "queues")


class ConversionError(ValueError):
    """An object that can not be converted; the message says why."""


def convert(body: Body, wanted: str) -> Body:
    """Give an object in another apiVersion of its group; it is not changed."""
    kind, version = body.get("kind"), body.get("apiVersion")
    core = kind == references.KIND
    group, older, newer = (references.GROUP, references.OLD, references.NEW) if core else (GROUP, OLD, NEW)
    versions = {f"{group}/{each}" for each in (older, newer)}
    if not (core or kind in KINDS) or version not in versions or wanted not in versions:
        message = f"{version} {kind} can not be converted to {wanted}"
        raise ConversionError(message)
    result = copy.deepcopy(body)
    result["apiVersion"] = wanted
    if version == wanted:
        return result
    upwards = wanted.endswith(newer)
    if core:
        (references.up if upwards else references.down)(result)
    elif upwards:
        _up(result)
    else:
        _down(result, body)
    return result


def _spec(body: Body) -> Body:
    spec: Body = body.setdefault("spec", {})
    if body["kind"].endswith("Template"):
        spec = spec.setdefault("template", {}).setdefault("spec", {})
    return spec


def _up(body: Body) -> None:
    parked = json.loads(body["metadata"].get("annotations", {}).pop(PARKED, "{}"))
    spec, before = _spec(body), parked.get("spec", {})
    if body["kind"].startswith("ProxmoxCluster"):
        spec.pop("cloneSpec", None)
        if before.get("zoneConfig"):
            spec["zoneConfig"] = before["zoneConfig"]
        return
    if target := spec.pop("target", None):
        spec["allowedNodes"] = [target]
    spec["network"] = _network_up(spec.get("network"), before.get("network", {}))


def _network_up(network: Body | None, before: Body) -> Body:
    if not network:
        return {"networkDevices": [dict(_DUMMY)]}
    known = {nic["name"]: nic for nic in before.get("networkDevices", ())}
    nics = []
    if "default" in network:
        first = {"name": _FIRST, "defaultIPv4": True, "defaultIPv6": True}
        nics.append(_nic_up({**first, **network["default"]}, known.get(_FIRST, {})))
    others = network.get("additionalDevices", ())
    nics += [_nic_up(dict(nic), known.get(nic.get("name"), {})) for nic in others]
    result: Body = {"networkDevices": nics}
    for key in ("vrfs", "zone"):
        if value := network.get(key, before.get(key)):
            result[key] = value
    return result


def _nic_up(nic: Body, before: Body) -> Body:
    refs = [ref for ref in (nic.pop("ipv4PoolRef", None), nic.pop("ipv6PoolRef", None)) if ref]
    parked = before.get("ipPoolRef", [])
    # The parked list holds only as long as what the older version shows of it is as it was.
    if parked and [ref for ref in _families(parked) if ref] == refs:
        refs = parked
    if refs:
        nic["ipPoolRef"] = refs
    for key in _ONLY_NEW_NIC:
        if key in before:
            nic.setdefault(key, before[key])
    return nic


def _down(body: Body, whole: Body) -> None:
    spec = _spec(body)
    only_new = {key: value for key, value in _spec(copy.deepcopy(whole)).items() if key in ("network", "zoneConfig")}
    if only_new:
        annotations = body["metadata"].setdefault("annotations", {})
        annotations[PARKED] = json.dumps({"spec": only_new}, sort_keys=True)
    if body["kind"].startswith("ProxmoxCluster"):
        spec.pop("zoneConfig", None)
        return
    network = spec.get("network")
    if network is not None:
        spec["network"] = _network_down(network)


def _network_down(network: Body) -> Body:
    result: Body = {}
    others = []
    for nic in network.get("networkDevices", ()):
        older = {key: value for key, value in nic.items() if key not in (*_ONLY_NEW_NIC, "ipPoolRef")}
        first, second = _families(nic.get("ipPoolRef", []))
        if first:
            older["ipv4PoolRef"] = first
        if second:
            older["ipv6PoolRef"] = second
        if nic.get("name", _FIRST) == _FIRST:
            older.pop("name", None)
            result["default"] = older
        else:
            others.append(older)
    if others:
        result["additionalDevices"] = others
    if "vrfs" in network:
        result["vrfs"] = network["vrfs"]
    return result


def _families(refs: list[Body]) -> tuple[Body | None, Body | None]:
    """Give the one reference of each family that the older version shows."""
    six = next((ref for ref in refs if "inet6" in ref["name"]), None)
    four = next((ref for ref in refs if "inet6" not in ref["name"]), None)
    return four, six
