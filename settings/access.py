"""What a tenant's Proxmox VE token may do, path by path (`propagate` is off on each).

The set is the least that capmox 0.7 to 0.9 and the proxmoxve provider need; docs/proxmox-permissions.md gives the
reason for each. The VLAN paths are what keeps a token on its own networks whatever asks: never the bridge's own path,
since a NIC without a tag on a VLAN-aware bridge is a trunk of every VLAN.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from settings.environment import ProxmoxLocation

if TYPE_CHECKING:
    from settings.stack import EnvironmentSettings

ROLES: dict[str, tuple[str, ...]] = {
    "vm": (
        "Pool.Audit",
        "VM.Allocate",
        "VM.Audit",
        "VM.Config.CDROM",
        "VM.Config.CPU",
        "VM.Config.Disk",
        "VM.Config.HWType",
        "VM.Config.Memory",
        "VM.Config.Network",
        "VM.Config.Options",
        "VM.PowerMgmt",
    ),
    "template": ("VM.Audit", "VM.Clone"),
    "network": ("SDN.Use",),
    "disk": ("Datastore.AllocateSpace", "Datastore.Audit"),
    "iso": ("Datastore.Allocate", "Datastore.AllocateSpace", "Datastore.AllocateTemplate", "Datastore.Audit"),
    "node": ("Sys.Audit",),
}
"""Role (without its prefix) → privileges.

One text fits PVE 8 and 9. They differ in the guest agent's (`VM.Monitor`; `VM.GuestAgent.*`, `VM.Replicate`), and a
role that names one which its version does not know is refused as a whole. None is needed: nothing here asks the agent.
"""


@dataclass(frozen=True)
class Grant:
    """One role on one ACL path."""

    role: str
    path: str


def resource_pool(environment: str, tenant: str) -> str:
    """Name the Proxmox resource pool that holds a tenant's machines: its stack's name."""
    return f"{environment}-{tenant}"


def token_name(rotation: int) -> str:
    """Name a tenant's token: another rotation is another name, so that old and new can both be there for a while."""
    return "hybrid" if rotation == 1 else f"hybrid-{rotation}"


def grants(settings: EnvironmentSettings, location_name: str, tenant: str) -> list[Grant]:
    """List what a tenant's token gets in one Proxmox location."""
    location = settings.environment.locations[location_name]
    if not isinstance(location, ProxmoxLocation):
        message = f"{location_name} is not a Proxmox location"
        raise TypeError(message)
    own = [row for row in settings.rows.values() if row.tenant == tenant and row.location == location_name]
    return [
        Grant("vm", f"/pool/{resource_pool(settings.stack, tenant)}"),
        Grant("template", f"/pool/{location.template.pool}"),
        Grant("disk", f"/storage/{location.storage.name}"),
        Grant("iso", f"/storage/{location.tenants[tenant].iso_storage}"),
        *(Grant("node", f"/nodes/{node}") for node in sorted(location.nodes)),
        *(Grant("network", f"/sdn/zones/localnetwork/{row.bridge}/{row.vlan}") for row in own),
    ]
