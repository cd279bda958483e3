"""What is asked of a Proxmox VE, with one token: its version, the token's permissions, the machines that it sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from operations.https import UnansweredError

if TYPE_CHECKING:
    from operations.https import Server

Permissions = dict[str, dict[str, int]]
"""Path → privilege → 1 where it spreads to what lies below the path, else 0."""


class Proxmox:
    """One endpoint, as one token (`user@realm!id=uuid`) sees it. Each call raises UnansweredError where it fails."""

    def __init__(self, server: Server, token: str) -> None:
        """Take the server and the token."""
        self._server = server
        self._headers = {"Accept": "application/json", "Authorization": f"PVEAPIToken={token}"}

    def version(self) -> int:
        """Give the major version."""
        text = str(self._get("/version", dict).get("version", ""))
        major = text.partition(".")[0]
        if not major.isdecimal():
            message = "it says no version"
            raise UnansweredError(message)
        return int(major)

    def permissions(self, path: str | None = None) -> Permissions:
        """Give what the token may do: on every path that an entry or a pool names, or on the one that is asked for."""
        found = self._get("/access/permissions", dict, {"path": path} if path else None)
        return {str(where): dict(there) for where, there in found.items() if there}

    def machines(self) -> list[dict[str, Any]]:
        """Give the machines and containers that the token sees: `{vmid, node, type: "qemu" or "lxc", …}`."""
        found: list[dict[str, Any]] = self._get("/cluster/resources", list, {"type": "vm"})
        return found

    def storages(self, node: str) -> dict[str, set[str]]:
        """Give the storages of a node that the token sees, each with its content types."""
        found = self._get(f"/nodes/{node}/storage", list)
        return {str(item["storage"]): set(str(item.get("content", "")).split(",")) - {""} for item in found}

    def config(self, node: str, vm_id: int) -> dict[str, Any]:
        """Give a machine's configuration, with the API's own keys (`net0`, `scsi0`)."""
        found: dict[str, Any] = self._get(f"/nodes/{node}/qemu/{vm_id}/config", dict)
        return found

    def _get(self, path: str, kind: type, query: dict[str, str] | None = None) -> Any:
        answer = self._server.get(f"/api2/json{path}", self._headers, query)
        data = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(data, kind):
            message = f"{path} answers something else than Proxmox VE does"
            raise UnansweredError(message)
        return data
