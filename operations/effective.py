"""A Proxmox VE token's effective permissions against the list of what it should have."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from settings.access import ROLES, grants
from settings.environment import ProxmoxLocation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from operations.proxmox import Permissions
    from settings.stack import EnvironmentSettings

_MACHINE = re.compile(r"/vms/([0-9]+)")
NOBODYS_ID = 999_999_998
"""A machine that no tenant has: ids end at 999,999,999."""


def differences(settings: EnvironmentSettings, location: str, tenant: str, found: Permissions) -> list[str]:
    """Say what a tenant's token may do beyond the list, and what of it is missing; nothing where both are equal.

    A machine in the tenant's own pool has that pool's privileges on its own path, and must have one of the tenant's
    ids; so has one in the pool of templates, which `templates` judges.
    """
    expected = _expected(settings, location, tenant)
    said = list(_beyond(settings, location, tenant, found))
    for path, wanted in expected.items():
        lacking = sorted(wanted - found.get(path, {}).keys())
        if lacking:
            said.append(f"{path} lacks {', '.join(lacking)}")
    return said


def _expected(settings: EnvironmentSettings, location: str, tenant: str) -> dict[str, set[str]]:
    expected: dict[str, set[str]] = {}
    for grant in grants(settings, location, tenant):
        expected.setdefault(grant.path, set()).update(ROLES[grant.role])
    return expected


def _beyond(settings: EnvironmentSettings, location: str, tenant: str, found: Permissions) -> Iterator[str]:
    expected = _expected(settings, location, tenant)
    for path, there in sorted(found.items()):
        if any(there.values()):
            yield f"{path} spreads to what lies below it"
        machine = _MACHINE.fullmatch(path)
        if path in expected or not machine:
            more = sorted(there.keys() - expected.get(path, set()))
            if more:
                yield f"{path} has {', '.join(more)} beyond the list"
        elif is_template(there):
            continue
        elif there.keys() <= set(ROLES["vm"]):
            if int(machine[1]) not in own_ids(settings, location, tenant):
                yield f"{path} is in the tenant's pool or has an entry for it, and is not one of its ids"
        else:
            yield f"{path} has {', '.join(sorted(there.keys() - set(ROLES['vm'])))} beyond the list"


def is_template(there: dict[str, int]) -> bool:
    """Say whether these are the privileges on a member of the pool of templates."""
    return there.keys() == set(ROLES["template"])


def own_ids(settings: EnvironmentSettings, location: str, tenant: str) -> range:
    """Give a tenant's ids in a location."""
    chosen = settings.environment.locations[location]
    if not isinstance(chosen, ProxmoxLocation):
        message = f"{location} is not a Proxmox location"
        raise TypeError(message)
    ids = chosen.tenants[tenant].vm_ids
    return range(ids.first, ids.last + 1)


def foreign_paths(settings: EnvironmentSettings, location: str, tenant: str) -> list[str]:
    """Name paths on which a tenant has nothing, and which no list names: each has to be asked for.

    Paths with an entry of anybody are in the token's own list where it has a right there. These need not be: what lies
    above, the bridges themselves, and on each bridge a VLAN of somebody else or of nobody.
    """
    found = ["/", "/access", "/nodes", "/pool", "/sdn/zones", "/sdn/zones/localnetwork", "/storage", "/vms"]
    found += [f"/vms/{NOBODYS_ID}", "/storage/local"]
    own = {grant.path for grant in grants(settings, location, tenant)}
    for bridge in sorted({zone.bridge for zone in settings.environment.zones.values() if location in zone.locations}):
        path = f"/sdn/zones/localnetwork/{bridge}"
        others = [f"{path}/{row.vlan}" for row in settings.rows.values() if row.bridge == bridge]
        free = (f"{path}/{vlan}" for vlan in range(2, 4095))
        unowned = next(each for each in free if each not in own and each not in others)
        found += [path, unowned, *(each for each in others if each not in own)][:8]
    return found
