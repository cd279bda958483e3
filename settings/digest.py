"""A digest of what one tenant uses of its environment, to notice that the environment's `up` is still to come."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from settings.table import rows

if TYPE_CHECKING:
    from settings.environment import Environment


def digest(environment: Environment, tenant: str) -> str:
    """Give the sha256 (hex) of the canonical JSON of everything that `tenant` uses, and of nothing of other tenants."""
    text = json.dumps(_used(environment, tenant), sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _used(environment: Environment, tenant: str) -> dict[str, Any]:
    locations = {
        name: {
            **location.model_dump(mode="json", by_alias=True, exclude={"tenants"}),
            "own": location.tenants[tenant].model_dump(mode="json", by_alias=True),
        }
        for name, location in environment.locations.items()
        if tenant in location.tenants
    }
    for location in locations.values():
        if "template" in location:
            location["template"]["tags"] = sorted(location["template"]["tags"])  # a set to Proxmox VE
    own = environment.tenants[tenant]
    return {
        "generation": environment.management.generation,
        "podCidr": str(environment.management.pod_cidr),
        "serviceCidr": str(environment.management.service_cidr),
        "kamajiServicePorts": environment.management.kamaji_service_ports,
        "namespace": own.namespace,
        "clusters": sorted(own.clusters),
        "locations": locations,
        "rows": {
            name: {
                "zone": row.zone,
                "bridge": row.bridge,
                "location": row.location,
                "vlan": row.vlan,
                "cidr": str(row.cidr),
                "gateway": str(row.gateway),
                "ranges": row.addresses,
                "dnsServers": [str(address) for address in row.dns_servers],
                "mtu": row.mtu,
            }
            for name, row in rows(environment).items()
            if row.tenant == tenant
        },
    }
