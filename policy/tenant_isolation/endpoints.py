"""Comparing Proxmox VE endpoints, which may be written in several ways."""

from __future__ import annotations

import re

_ENDPOINT = re.compile(
    r"(?P<scheme>https?)://(?P<host>[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::(?P<port>[0-9]{1,5}))?(?:/|/api2/json/?)?",
    re.IGNORECASE | re.ASCII,
)
_PORTS = {"https": 443, "http": 80}


def normal(endpoint: object) -> str | None:
    """Give `scheme://host:port` in lower case, or None for anything else.

    The provider takes an endpoint with and without a slash at its end, and with `/api2/json`. Whatever could be read in
    two ways (a user name, a query, another path) is nobody's endpoint.
    """
    if not isinstance(endpoint, str):
        return None
    parts = _ENDPOINT.fullmatch(endpoint.strip())
    if parts is None:
        return None
    scheme = parts["scheme"].lower()
    port = int(parts["port"]) if parts["port"] else _PORTS[scheme]
    return f"{scheme}://{parts['host'].lower().rstrip('.')}:{port}"
