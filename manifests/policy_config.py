"""The configuration of the policy pack: the table of networks and which stack is whose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from settings.environment import ProxmoxLocation
from settings.load import load
from settings.stack import EnvironmentSettings

if TYPE_CHECKING:
    from pathlib import Path

PACK = "tenant-isolation"


def policy_config(stacks: Path, environment: str) -> dict[str, Any]:
    """Read an environment's file in `stacks` and give the pack's configuration.

    Every tenant of the environment has its stack in it, also one without a file: what is not in it is refused by the
    pack. Raises SettingsError for a file that is refused, ValueError for a stack that is no environment.
    """
    settings = load(environment, stacks)
    if not isinstance(settings, EnvironmentSettings):
        message = f"{environment} is a tenant's stack; name its environment instead"
        raise ValueError(message)  # noqa: TRY004 - the argument's value is wrong, not its type
    chosen = settings.environment
    names: dict[str, dict[str, str]] = {environment: {"kind": "environment"}}
    for name, tenant in sorted(chosen.tenants.items()):
        names[f"{environment}-{name}"] = {"kind": "tenant", "tenant": name, "namespace": tenant.namespace}
    locations: dict[str, dict[str, str]] = {}
    for name, location in sorted(chosen.locations.items()):
        locations[name] = {"type": location.type}
        if isinstance(location, ProxmoxLocation):
            locations[name]["endpoint"] = location.endpoint
    networks = [
        {
            "name": row.name,
            "zone": row.zone,
            "bridge": row.bridge,
            "vlan": row.vlan,
            "tenant": row.tenant,
            "namespace": row.namespace,
            "location": row.location,
        }
        for row in settings.rows.values()
    ]
    rule = {"enforcementLevel": "mandatory", "stacks": names, "locations": locations, "networks": networks}
    return {"all": "mandatory", PACK: rule}
