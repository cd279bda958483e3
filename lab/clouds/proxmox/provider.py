"""The proxmoxve plugin: its types and its configuration."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

from lab.clouds.cloud import Cloud
from lab.clouds.errors import CloudError
from lab.clouds.proxmox import access
from lab.clouds.proxmox.api import ProxmoxApi
from lab.clouds.proxmox.iso import File
from lab.clouds.proxmox.token import parse_token
from lab.clouds.proxmox.vm import Vm
from lab.clouds.resource import Resource

_TYPES: tuple[type[Resource], ...] = (
    Vm,
    File,
    access.Pool,
    access.Membership,
    access.Role,
    access.User,
    access.Token,
    access.TokenLegacy,
    access.Acl,
    access.AclLegacy,
)


class ProxmoxCloud(Cloud):
    """All Proxmox VE endpoints of the lab."""

    name: ClassVar[str] = "proxmoxve"
    package: ClassVar[str] = "pulumi_proxmoxve"
    untouched: ClassVar[str] = "no real Proxmox VE"

    def __init__(self, folder: Path) -> None:
        """Take the state folder."""
        self._folder = folder

    def resources(self) -> dict[str, type[Resource]]:
        """Return the types that the lab has."""
        return {kind.type_name: kind for kind in _TYPES}

    def configure(self, arguments: Mapping[str, Any]) -> ProxmoxApi:
        """Take endpoint and credentials: token before user name and password, as the real plugin does.

        Raises:
            CloudError: no endpoint, an endpoint that is no URL, a malformed token, or no credentials.
        """
        endpoint = arguments.get("endpoint") or ""
        if not endpoint:
            message = "you must specify the virtual environment endpoint"
            raise CloudError(message)
        url = urlsplit(endpoint)
        if url.scheme not in {"https", "http"} or not url.hostname:
            message = f"the endpoint {endpoint!r} is not a valid URL"
            raise CloudError(message)
        if arguments.get("apiToken"):
            return ProxmoxApi(self._folder, endpoint, parse_token(arguments["apiToken"]))
        user, password = arguments.get("username"), arguments.get("password")
        if not user or not password:
            message = "must provide either user credentials, an API token, or a ticket"
            raise CloudError(message)
        return ProxmoxApi(self._folder, endpoint, None, (user, password))

    def place(self, arguments: Mapping[str, Any]) -> str:
        """Return the endpoint."""
        return str(arguments.get("endpoint"))
