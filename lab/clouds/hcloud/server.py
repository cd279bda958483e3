"""`Server`: what replaces one, what a running one refuses, and what the API checks only at `up`."""

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from lab.clouds.changes import Change, without_ignored
from lab.clouds.errors import CloudError
from lab.clouds.hcloud.api import Session
from lab.clouds.hcloud.base import HetznerResource
from lab.clouds.hcloud.network import attach, place
from lab.clouds.resource import Live, Properties, known_where_the_same
from lab.clouds.values import UNKNOWN

_SPREAD_LIMIT = 10
_USER_DATA_BYTES = 32 * 1024
_NAME = re.compile(r"^(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$")
_BOTH_PUBLIC = {"ipv4Enabled": True, "ipv6Enabled": True}


class Server(HetznerResource):
    """A server."""

    type_name: ClassVar[str] = "hcloud:index/server:Server"
    sdk_args: ClassVar[str] = "ServerArgs"
    kind: ClassVar[str] = "servers"
    what: ClassVar[str] = "server"
    computed: ClassVar[tuple[str, ...]] = (
        "backupWindow",
        "datacenter",
        "ipv4Address",
        "ipv6Address",
        "ipv6Network",
        "location",
        "primaryDiskSize",
        "status",
    )
    replace_on: ClassVar[frozenset[str]] = frozenset({"userData", "image", "location", "datacenter", "sshKeys"})
    delete_first: ClassVar[bool] = True

    def wanted(self, inputs: Properties) -> dict[str, Any]:
        """Return the inputs as the state has them; user data as its hash."""
        full = super().wanted(inputs)
        if isinstance(full.get("userData"), str):
            full["userData"] = _hash(full["userData"])
        if isinstance(full.get("publicNets"), list):
            full["publicNets"] = [each if each is UNKNOWN else {**_BOTH_PUBLIC, **each} for each in full["publicNets"]]
        if isinstance(full.get("firewallIds"), list) and UNKNOWN not in full["firewallIds"]:
            full["firewallIds"] = sorted(full["firewallIds"])
        return full

    def planned(self, inputs: Properties, state: Properties | None = None) -> dict[str, Any]:
        """Show addresses that the cloud will choose as unknown, or as they are."""
        plan = super().planned(inputs, state)
        chosen = {"ip": UNKNOWN, "macAddress": UNKNOWN, "aliasIps": []}
        plan["networks"] = known_where_the_same(plan.get("networks"), (state or {}).get("networks"), chosen)
        return plan

    def create(self, inputs: Properties) -> tuple[str, dict[str, Any]]:
        """Make the server, attached to its networks; a private one boots after that."""
        wanted = self.wanted(inputs)
        with self.api.call("create_server") as session:
            image = _verify(session, wanted, inputs.get("userData") or "")
            identity = session.new_id()
            session.project["servers"][identity] = {
                **{key: value for key, value in wanted.items() if key not in {"networks", "image"}},
                "image": wanted["image"],
                "imageId": image["id"],
                "userData": inputs.get("userData"),
                "location": wanted.get("location") or session.state["locations"][0],
                "publicNets": wanted.get("publicNets") or [dict(_BOTH_PUBLIC)],
                "status": "running",
                "starts": 1,
                "attached": {},
            }
            for network in wanted.get("networks") or []:
                attach(session, identity, network)
            outputs = {**wanted, **self._live(session, identity, wanted)}
        return identity, outputs

    def outputs(self, session: Session, identity: str, entry: dict[str, Any]) -> dict[str, Any]:
        """Not used: a server's outputs need the state, see `read`."""
        raise NotImplementedError

    def read(self, identity: str, state: Properties, inputs: Properties) -> Live | None:
        """Report the real server; networks only as far as the program manages them here."""
        with self.api.call("get_servers") as session:
            if identity not in session.project["servers"]:
                return None
            outputs = {**state, **self._live(session, identity, state)}
        live = self.found(identity, outputs, inputs)
        if "userData" in inputs:
            live.inputs["userData"] = inputs["userData"]
        return live

    def _live(self, session: Session, identity: str, state: Properties) -> dict[str, Any]:
        entry = session.project["servers"][identity]
        public = entry["publicNets"][0]
        number = int(identity)
        live = {
            "name": entry["name"],
            "labels": entry.get("labels") or {},
            "serverType": entry["serverType"],
            "location": entry["location"],
            "datacenter": f"{entry['location']}-dc1",
            "status": entry["status"],
            "placementGroupId": entry.get("placementGroupId"),
            "firewallIds": sorted(entry.get("firewallIds") or []),
            "ipv4Address": f"198.51.{number // 250 % 250}.{number % 250 + 1}" if public["ipv4Enabled"] else "",
            "ipv6Address": f"2001:db8:{number:x}::1" if public["ipv6Enabled"] else "",
            "ipv6Network": f"2001:db8:{number:x}::/64" if public["ipv6Enabled"] else "",
            "primaryDiskSize": 80,
            "backupWindow": "",
        }
        if state.get("publicNets"):
            live["publicNets"] = entry["publicNets"]
        if state.get("networks"):
            live["networks"] = _networks(entry["attached"], state["networks"])
        for key in ("deleteProtection", "rebuildProtection"):
            if key in entry:
                live[key] = entry[key]
        return live

    def changes(self, state: Properties, inputs: Properties, old_inputs: Properties) -> list[Change]:
        """Compare; an image, key or network counts by the text that names it, as in the plugin."""
        computed = {"location", "datacenter", "image"}
        return super().changes(state, inputs, {key: value for key, value in old_inputs.items() if key not in computed})

    def update(
        self, identity: str, state: Properties, inputs: Properties, old_inputs: Properties, ignored: Iterable[str]
    ) -> dict[str, Any]:
        """Change in place; one refused step leaves the state as it was."""
        changed = {change.top for change in without_ignored(self.changes(state, inputs, old_inputs), ignored)}
        wanted = self.wanted(inputs)
        with self.api.call("update_server") as session:
            entry = session.get("servers", identity, "server")
            if "placementGroupId" in changed:
                _move_to_group(session, entry, wanted.get("placementGroupId"))
            if "name" in changed:
                session.free_name("servers", wanted["name"], "server", besides=identity)
            if "serverType" in changed:
                _known(session.state["server_types"], wanted["serverType"], "server type")
                entry["status"] = "off"  # the plugin powers it off and never on again
            if "publicNets" in changed:
                entry["publicNets"] = wanted.get("publicNets") or [dict(_BOTH_PUBLIC)]
                entry["starts"] += 1
            if "firewallIds" in changed:
                for firewall in wanted.get("firewallIds") or []:
                    session.get("firewalls", firewall, "firewall")
            if "networks" in changed:
                _reattach(session, identity, wanted.get("networks") or [], state.get("networks") or [])
            for key in ("name", "labels", "serverType", "firewallIds", "deleteProtection", "rebuildProtection"):
                if key in changed:
                    entry[key] = wanted.get(key)
            kept = {key: value for key, value in state.items() if key in wanted or key not in old_inputs}
            outputs = {**kept, **wanted}
            return {**outputs, **self._live(session, identity, outputs)}


def _hash(user_data: str) -> str:
    """Return what the state has in place of the user data."""
    return base64.b64encode(hashlib.sha1(user_data.encode(), usedforsecurity=False).digest()).decode()


def _networks(attached: Mapping[str, Any], order: list[Any]) -> list[dict[str, Any]]:
    """Return the attachments in the order in which the state has them, new ones after."""
    result = []
    left = dict(attached)
    for item in order:
        network = _network_of(item)
        there = left.pop(network, None)
        if there is not None:
            result.append({"networkId": int(network), "subnetId": item.get("subnetId"), **there})
    return result + [{"networkId": int(network), **there} for network, there in left.items()]


def _network_of(item: Mapping[str, Any]) -> str:
    return str(item["subnetId"]).partition("-")[0] if item.get("subnetId") else str(item.get("networkId"))


def _verify(session: Session, wanted: Properties, user_data: str) -> dict[str, Any]:
    """Refuse what the API refuses of a new server; return the image."""
    if not _NAME.match(wanted["name"]):
        message = "invalid input in field 'name' (invalid_input): [name => [must be a valid hostname]]"
        raise CloudError(message)
    _known(session.state["server_types"], wanted["serverType"], "server type")
    image = find_image(session, wanted.get("image"))
    if wanted.get("location"):
        _known(session.state["locations"], wanted["location"], "location")
    for key in wanted.get("sshKeys") or []:
        if key not in session.project["ssh_keys"] and all(
            e["name"] != key for e in session.project["ssh_keys"].values()
        ):
            message = f"SSH key {key} not found"
            raise CloudError(message)
    for firewall in wanted.get("firewallIds") or []:
        session.get("firewalls", firewall, "firewall")
    for network in wanted.get("networks") or []:
        place(session, network)
    if len(user_data.encode()) > _USER_DATA_BYTES:
        message = "invalid input in field 'user_data' (invalid_input): [user_data => [must not be longer than 32KiB]]"
        raise CloudError(message)
    session.free_name("servers", wanted["name"], "server")
    if wanted.get("placementGroupId"):
        _room(session, wanted["placementGroupId"])
    return image


def _room(session: Session, group: int) -> None:
    session.get("placement_groups", group, "placement group")
    inside = sum(each.get("placementGroupId") == group for each in session.project["servers"].values())
    if inside >= _SPREAD_LIMIT:
        message = (
            f"placement group {group} is full: a spread group holds at most {_SPREAD_LIMIT} servers (placement_error)"
        )
        raise CloudError(message)


def _move_to_group(session: Session, entry: dict[str, Any], group: int | None) -> None:
    if entry["status"] == "running" and entry.get("placementGroupId"):
        message = "removing a running server from a placement group is currently not supported"
        raise CloudError(message)
    if entry["status"] == "running":
        message = "adding a running server to a placement group is currently not supported (server_not_stopped)"
        raise CloudError(message)
    if group:
        _room(session, group)
    entry["placementGroupId"] = group


def _reattach(session: Session, identity: str, wanted: list[Any], before: list[Any]) -> None:
    """Detach what is gone or has another address, change aliases, attach what is new."""
    attached = session.project["servers"][identity]["attached"]
    keep = {_network_of(item): item for item in wanted}
    for network in {_network_of(item) for item in before}:
        item = keep.get(network)
        there = attached.get(network)
        if there and (item is None or (item.get("ip") and item["ip"] != there["ip"])):
            del attached[network]
    for network, item in keep.items():
        if network in attached:
            attached[network]["aliasIps"] = list(item.get("aliasIps") or [])
        else:
            attach(session, identity, item)


def _known(known: list[str], name: str, what: str) -> None:
    if name not in known:
        message = f"{what} {name} not found"
        raise CloudError(message)


def find_image(session: Session, name: Any) -> dict[str, Any]:
    """Return an image by id (as text) or name."""
    for image in session.project["images"]:
        if str(image["id"]) == str(name) or (image.get("name") and image["name"] == name):
            found: dict[str, Any] = image
            return found
    message = f"image {name} for architecture x86 not found"
    raise CloudError(message)
