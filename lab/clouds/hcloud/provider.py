"""The hcloud plugin: its types, its functions and its configuration."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from lab.clouds.cloud import Cloud, Function
from lab.clouds.errors import CloudError
from lab.clouds.hcloud.api import HetznerApi, selected
from lab.clouds.hcloud.network import Network, ServerNetwork, Subnet
from lab.clouds.hcloud.server import Server, find_image
from lab.clouds.hcloud.small import Firewall, PlacementGroup, SshKey
from lab.clouds.resource import Resource

_TOKEN_LENGTH = 64
_DEFAULT_ENDPOINTS = {"", "https://api.hetzner.cloud/v1"}
_TYPES: tuple[type[Resource], ...] = (Network, Subnet, Server, ServerNetwork, Firewall, PlacementGroup, SshKey)


class HetznerCloud(Cloud):
    """Hetzner Cloud with all its projects."""

    name: ClassVar[str] = "hcloud"
    package: ClassVar[str] = "pulumi_hcloud"
    untouched: ClassVar[str] = "no real Hetzner Cloud"

    def __init__(self, folder: Path) -> None:
        """Take the state folder."""
        self._folder = folder

    def resources(self) -> dict[str, type[Resource]]:
        """Return the types that the lab has."""
        return {kind.type_name: kind for kind in _TYPES}

    def functions(self) -> dict[str, Function]:
        """Return the functions that the lab has."""
        return {"hcloud:index/getImage:getImage": Function("get_image", get_image)}

    def configure(self, arguments: Mapping[str, Any]) -> HetznerApi:
        """Take the token; one of another length than 64 is refused here, an unknown one at the first call."""
        token = arguments.get("token") or ""
        if len(token) != _TOKEN_LENGTH:
            message = "entered token is invalid (must be exactly 64 characters long)"
            raise CloudError(message)
        endpoint = (arguments.get("endpoint") or "").rstrip("/")
        return HetznerApi(self._folder, token, "" if endpoint in _DEFAULT_ENDPOINTS else endpoint)

    def place(self, arguments: Mapping[str, Any]) -> str:
        """Return the endpoint."""
        return str(arguments.get("endpoint") or "https://api.hetzner.cloud")


def get_image(api: HetznerApi, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Answer `get_image`: by id, by name, or by label selector (the newest of several with `mostRecent`)."""
    with api.call("get_image") as session:
        if "id" in arguments or "name" in arguments:
            image = find_image(session, arguments.get("id") or arguments.get("name"))
        else:
            selector = arguments.get("withSelector") or arguments.get("selector") or ""
            if not selector:
                message = "please specify an id, a name or a selector to lookup the image"
                raise CloudError(message)
            found = [each for each in session.project["images"] if selected(each.get("labels", {}), selector)]
            if not found:
                message = f"no image found for selector {selector!r}"
                raise CloudError(message)
            if len(found) > 1 and not arguments.get("mostRecent"):
                message = f"more than one image found for selector {selector!r}"
                raise CloudError(message)
            image = max(found, key=lambda each: each["id"])
    return {
        **arguments,
        "id": image["id"],
        "name": image.get("name", ""),
        "labels": image.get("labels", {}),
        "architecture": image.get("architecture", "x86"),
        "type": "system" if image.get("name") else "snapshot",
        "description": image.get("description", ""),
        "created": "2026-01-01T00:00:00Z",
        "deprecated": "",
        "isDeprecated": False,
        "deprecationAnnounced": "",
        "unavailableAfter": "",
        "osFlavor": image.get("os_flavor", "unknown"),
        "osVersion": image.get("os_version", ""),
        "rapidDeploy": False,
    }
