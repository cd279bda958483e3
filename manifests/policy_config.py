"""The configuration of the policy pack: the table of networks and which stack is whose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from settings.access import resource_pool
from settings.environment import HcloudLocation
from settings.load import load
from settings.stack import EnvironmentSettings

if TYPE_CHECKING:
    from pathlib import Path

    from settings.environment import Location, Template

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
    return environment_config(settings)


def environment_config(settings: EnvironmentSettings) -> dict[str, Any]:
    """Give the pack's configuration for checked settings."""
    environment, chosen = settings.stack, settings.environment
    context = chosen.management.context
    names: dict[str, dict[str, str]] = {environment: {"kind": "environment", "context": context}}
    for name, tenant in sorted(chosen.tenants.items()):
        names[f"{environment}-{name}"] = {"kind": "tenant", "tenant": name, "namespace": tenant.namespace}
    networks = [
        {
            "name": row.name,
            "zone": row.zone,
            "bridge": row.bridge,
            "vlan": row.vlan,
            "tenant": row.tenant,
            "namespace": row.namespace,
            "location": row.location,
            "addresses": row.addresses,
            "gateway": str(row.gateway),
            "prefix": row.cidr.prefixlen,
        }
        for row in settings.rows.values()
    ]
    rule = {
        "enforcementLevel": "mandatory",
        "stacks": names,
        "locations": {name: _location(environment, item) for name, item in sorted(chosen.locations.items())},
        "networks": networks,
        "openBridges": [{"bridge": bridge} for bridge in chosen.management.open_bridges],
    }
    return {"all": "mandatory", PACK: rule}


def _location(environment: str, location: Location) -> dict[str, Any]:
    """Give what a tenant may use there, and who is a tenant of it."""
    if isinstance(location, HcloudLocation):
        tenants = {
            name: {"cidr": str(item.cidr), "subnet": str(item.subnet)} for name, item in location.tenants.items()
        }
        return {"type": location.type, "region": location.region, "tenants": tenants}
    return {
        "type": location.type,
        "endpoint": location.endpoint,
        "nodes": sorted(location.nodes),
        "storage": location.storage.name,
        "templates": [_template(item) for item in (location.template, *location.former_templates)],
        "templatePool": location.template.pool,
        "tenants": {
            name: {
                "pool": resource_pool(environment, name),
                "vmIds": [item.vm_ids.first, item.vm_ids.last],
                "isoStorage": item.iso_storage,
            }
            for name, item in location.tenants.items()
        },
    }


def _template(template: Template) -> dict[str, Any]:
    return {"id": template.id, "node": template.node, "tags": sorted(template.tags)}
