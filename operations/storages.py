"""Whether a tenant's two storages hold what they must and nothing else, asked with the tenant's token.

Space on a storage is also the right to read every ISO on it, and the right to delete is a right to everything there:
so the disk storage holds `images` alone, and the tenant's own ISO storage `iso` alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from operations.https import UnansweredError

if TYPE_CHECKING:
    from operations.proxmox import Proxmox
    from settings.environment import ProxmoxLocation


def storages(
    name: str, location: ProxmoxLocation, tenant: str, api: Proxmox
) -> tuple[str, Literal["ok", "WRONG", "not checked"], str]:
    """Compare the content types of both, as any node of the location has them."""
    row = f"{name}/{tenant}: its storages hold what they must alone"
    found: dict[str, set[str]] = {}
    away = []
    for node in sorted(location.nodes):
        try:
            for storage, content in api.storages(node).items():
                found.setdefault(storage, set()).update(content)
        except UnansweredError as error:
            away.append(f"{node}: {error}")
    said = []
    for storage, wanted in ((location.storage.name, "images"), (location.tenants[tenant].iso_storage, "iso")):
        there = found.get(storage)
        if there is None and not away:
            said.append(f"{storage} is on no node of the location")
        elif there is not None and there != {wanted}:
            said.append(f"{storage} holds {', '.join(sorted(there))}: set its content to {wanted}")
    if said:
        return row, "WRONG", "; ".join(said)
    if away:
        return row, "not checked", "; ".join(away)
    return row, "ok", ""
