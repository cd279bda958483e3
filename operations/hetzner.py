"""What is asked of Hetzner Cloud, with one project's token: its networks and its servers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from operations.https import UnansweredError

if TYPE_CHECKING:
    from operations.https import Server

ENDPOINT = "https://api.hetzner.cloud"
PAGE = "50"
"""The largest that the API gives."""


class Hetzner:
    """One project. Each call raises UnansweredError where it fails."""

    def __init__(self, server: Server, token: str) -> None:
        """Take the server and the project's token."""
        self._server = server
        self._headers = {"Accept": "application/json", "Authorization": f"Bearer {token}"}

    def networks(self) -> list[dict[str, Any]]:
        """Give all networks: `{id, name, labels, …}`."""
        return self._all("networks")

    def servers(self) -> list[dict[str, Any]]:
        """Give all servers: `{id, name, labels, …}`."""
        return self._all("servers")

    def _all(self, kind: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        page: int | None = 1
        while page is not None:
            answer = self._server.get(f"/v1/{kind}", self._headers, {"page": str(page), "per_page": PAGE})
            try:
                found += answer[kind]
                following = answer["meta"]["pagination"]["next_page"]
            except (KeyError, TypeError):
                message = f"/v1/{kind} answers something else than Hetzner Cloud does"
                raise UnansweredError(message) from None
            page = following if isinstance(following, int) and following > page else None
        return found
