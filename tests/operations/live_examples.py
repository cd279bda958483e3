"""A live cluster as the lab's environment left it, with what a test puts into it."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from manifests.generations import KINDS
from manifests.policies.parts import BINDING
from operations.live import Live, LiveAddress, LiveMachine, definition_name
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
    given = {"definitions": definitions(), "zones": zones, "bindings": bindings, **how}
    return Live(machines=machines, addresses=addresses, **given)


def on(vlan: int | None, namespace: str = "tenant-acme", bridge: str = "vmbr1", name: str = "m-1") -> LiveMachine:
    """Give a machine with one NIC."""
    return LiveMachine(namespace, name, (("net0", bridge, vlan),))


def leased(address: str, pool: str = "acme-lab", namespace: str = "tenant-acme") -> LiveAddress:
    """Give a leased address."""
    return LiveAddress(namespace, f"m-{address}", address, pool)
