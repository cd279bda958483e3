"""The providers of a tenant's stack: one for each location in which it has direct machines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pulumi
import pulumi_hcloud as hcloud
import pulumi_proxmoxve as proxmox

from components.handover import direct_locations
from settings.environment import ProxmoxLocation

if TYPE_CHECKING:
    from components.handover import Handover
    from settings.stack import TenantSettings


@dataclass(frozen=True)
class Providers:
    """Explicit providers by location."""

    proxmox: dict[str, proxmox.Provider] = field(default_factory=dict)
    hcloud: dict[str, hcloud.Provider] = field(default_factory=dict)


def providers(settings: TenantSettings, handover: Handover) -> Providers:
    """Register the providers that the tenant's pools need, with the tokens of its handover."""
    found = Providers()
    for name in direct_locations(settings):
        location = settings.environment.locations[name]
        token = pulumi.Output.secret(handover[f"{name}.token"])
        if isinstance(location, ProxmoxLocation):
            found.proxmox[name] = proxmox.Provider(f"proxmox-{name}", endpoint=location.endpoint, api_token=token)
        else:
            found.hcloud[name] = hcloud.Provider(f"hcloud-{name}", token=token)
    return found
