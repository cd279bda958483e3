"""A live cluster as the lab's environment left it, with what a test puts into it."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from manifests.generations import KINDS
from manifests.policies.parts import BINDING, POLICY
from operations.live import TABLE, Live, LiveAddress, LiveMachine, definition_name
from operations.rendered import guard_objects, of_kind
from tests.manifests.examples import Changes, environment

if TYPE_CHECKING:
    from settings.environment import Generation

OWN = ("ProxmoxNetworkZone", "ProxmoxNetworkTable")


def definitions(generation: Generation = "capi-1.10", **versions: tuple[str, ...]) -> dict[str, Any]:
    """Give the CRDs of a generation: each serves and stores its version; `versions` (last stored) by kind instead."""
    found: dict[str, Any] = {}
    for name, kind in KINDS.items():
        if name in OWN:
            continue
        served = versions.get(name, (kind.versions[generation],))
        found[definition_name(name)] = {
            "metadata": {"name": definition_name(name)},
            "spec": {
                "group": kind.group,
                "versions": [{"name": each, "served": True, "storage": each == served[-1]} for each in served],
            },
        }
    manifests = guard_objects(environment())
    found |= {name: deepcopy(item.body) for name, item in of_kind(manifests, "CustomResourceDefinition").items()}
    return found


def live(
    *machines: LiveMachine, addresses: tuple[LiveAddress, ...] = (), before: Changes | None = None, **how: Any
) -> Live:
    """Give what is read of a cluster in which the environment (changed by `before`) was made."""
    manifests = guard_objects(environment(before))
    zones = tuple(deepcopy(item.body) for item in of_kind(manifests, "ProxmoxNetworkZone").values())
    bindings = {name: json.loads(json.dumps(item.body)) for name, item in of_kind(manifests, BINDING).items()}
    policies, tables = (
        {name: json.loads(json.dumps(item.body)) for name, item in of_kind(manifests, kind).items()}
        for kind in (POLICY, TABLE)
    )
    objects = {"zones": zones, "bindings": bindings, "policies": policies, "tables": tables}
    for body in (*zones, *bindings.values(), *policies.values(), *tables.values()):
        wrote(body, "pulumi-kubernetes-1a2b3c4d", *body["spec"])
        # What controllers and the API server write themselves
        entry = {"manager": "kube-controller-manager", "operation": "Update", "subresource": "status"}
        body["metadata"]["managedFields"].append({**entry, "fieldsV1": {"f:status": {"f:observedGeneration": {}}}})
    given = {"definitions": definitions(), **objects, **how}
    return Live(machines=machines, addresses=addresses, **given)


def wrote(body: dict[str, Any], manager: str, *fields: str) -> None:
    """Let a field manager have written these fields of an object's spec."""
    entry = {
        "manager": manager,
        "operation": "Apply" if manager.startswith("pulumi") else "Update",
        "fieldsV1": {"f:spec": {f"f:{name}": {} for name in fields}, "f:metadata": {"f:labels": {"f:a": {}}}},
    }
    body["metadata"].setdefault("managedFields", []).append(entry)


def on(vlan: int | None, namespace: str = "tenant-acme", bridge: str = "vmbr1", name: str = "m-1") -> LiveMachine:
    """Give a machine with one NIC."""
    return LiveMachine(namespace, name, (("net0", bridge, vlan),))


def leased(address: str, pool: str = "acme-lab", namespace: str = "tenant-acme") -> LiveAddress:
    """Give a leased address."""
    return LiveAddress(namespace, f"m-{address}", address, pool)
