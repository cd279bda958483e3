"""`hybrid-closed-bridges`: machines of tenants stand on no bridge but those of zones and those declared open.

For every namespace it also refuses bridge and device names that are more than a name: capmox joins them into the
configuration that it sends to Proxmox VE, so "vmbr1,tag=205" would be a NIC on VLAN 205 (seen with capmox 0.7).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manifests.common import tenant_namespaces
from manifests.policies.parts import MACHINES, NICS, Variables, listed, policy, texts, validation

if TYPE_CHECKING:
    from manifests.manifest import Manifest
    from settings.environment import Environment

NAME = "hybrid-closed-bridges"

_NAMES = ".map(i, i.name + ' (\"' + i.nic.?bridge.orValue('') + '\")').join(', ')"


def bridges_of(environment: Environment) -> list[str]:
    """Name the bridges on which a tenant's NICs may be, sorted."""
    return sorted({zone.bridge for zone in environment.zones.values()} | set(environment.management.open_bridges))


def variables(environment: Environment) -> Variables:
    """Give the policy's variables: the tenants' namespaces and the bridges are written into it."""
    return {
        **NICS,
        "tenant": f"request.namespace in {texts(tenant_namespaces(environment))}",
        "bridges": texts(bridges_of(environment)),
        "malformed": (
            "variables.nics.filter(i, !i.nic.?bridge.orValue('').matches('^[A-Za-z0-9][A-Za-z0-9_.-]{0,14}$'))"
        ),
        "devices": "variables.nics.filter(i, !i.name.matches('^net([0-9]|[12][0-9]|3[01])$'))",
        "closed": "variables.nics.filter(i, !(i.nic.?bridge.orValue('') in variables.bridges))",
    }


VALIDATIONS = [
    validation(
        "!variables.changed || size(variables.malformed) == 0",
        "A NIC's bridge is not a bridge's name.",
        "'Not the name of a bridge: NIC ' + variables.malformed" + _NAMES,
    ),
    validation(
        "!variables.changed || size(variables.devices) == 0",
        "An additional NIC is not named net1 to net31.",
    ),
    validation(
        "!variables.changed || !variables.tenant || size(variables.nics) > 0",
        "spec.network.default must be set: without it a machine keeps the NICs of its template.",
    ),
    validation(
        "!variables.changed || !variables.tenant || size(variables.closed) == 0",
        "A NIC is on a bridge that is not open to tenants.",
        "'Namespace ' + request.namespace + ': NIC ' + variables.closed"
        + _NAMES
        + " + ' is on a bridge that is not open to tenants; allowed: ' + "
        + listed("variables.bridges"),
    ),
]


def bridges(environment: Environment, after: tuple[str, ...]) -> Manifest:
    """Give the policy for an environment."""
    return policy(
        NAME,
        environment.management.generation,
        kinds=MACHINES,
        variables=variables(environment),
        validations=VALIDATIONS,
        after=after,
    )
