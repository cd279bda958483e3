"""Networks, their subnets, and the attachment of servers to them."""

import ipaddress
import secrets
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from lab.clouds.errors import CloudError
from lab.clouds.hcloud.api import Session
from lab.clouds.hcloud.base import HetznerResource
from lab.clouds.resource import Live, Properties
from lab.clouds.schema import Failure

_PRIVATE = [ipaddress.IPv4Network(each) for each in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")]
_TYPES = {"cloud", "server", "vswitch"}


class Network(HetznerResource):
    """A private network; it has no addresses to give before it has a subnet."""

    type_name: ClassVar[str] = "hcloud:index/network:Network"
    sdk_args: ClassVar[str] = "NetworkArgs"
    kind: ClassVar[str] = "networks"
    what: ClassVar[str] = "network"
    replace_on: ClassVar[frozenset[str]] = frozenset({"ipRange"})
    delete_first: ClassVar[bool] = True

    def create(self, inputs: Properties) -> tuple[str, dict[str, Any]]:
        """Make the network."""
        wanted = self.wanted(inputs)
        with self.api.call("create_network") as session:
            session.free_name("networks", wanted["name"], "network")
            block = _block(wanted["ipRange"])
            if not any(block.subnet_of(private) for private in _PRIVATE):
                message = "invalid input in field 'ip_range' (invalid_input): [ip_range => [must be a private range]]"
                raise CloudError(message)
            identity = session.new_id()
            session.project["networks"][identity] = {**wanted, "subnets": {}}
        return identity, wanted

    def outputs(self, session: Session, identity: str, entry: dict[str, Any]) -> dict[str, Any]:
        """Report the network without its subnets, which are resources of their own."""
        del session, identity
        return {key: value for key, value in entry.items() if key != "subnets"}

    def update(
        self, identity: str, state: Properties, inputs: Properties, old_inputs: Properties, ignored: Iterable[str]
    ) -> dict[str, Any]:
        """Rename, relabel, protect."""
        del old_inputs, ignored
        wanted = self.wanted(inputs)
        with self.api.call("update_network") as session:
            session.free_name("networks", wanted["name"], "network", besides=identity)
            session.get("networks", identity, "network").update(wanted)
        return {**state, **wanted}

    def before_delete(self, session: Session, identity: str) -> None:
        """Servers are detached, as the API does."""
        for server in session.project["servers"].values():
            server["attached"].pop(identity, None)


class Subnet(HetznerResource):
    """A subnet; its id is `<network>-<cidr>`."""

    type_name: ClassVar[str] = "hcloud:index/networkSubnet:NetworkSubnet"
    sdk_args: ClassVar[str] = "NetworkSubnetArgs"
    kind: ClassVar[str] = "networks"
    what: ClassVar[str] = "subnet"
    computed: ClassVar[tuple[str, ...]] = ("gateway",)
    replace_on: ClassVar[frozenset[str]] = frozenset({"ipRange", "networkId", "networkZone", "type", "vswitchId"})
    delete_first: ClassVar[bool] = True

    def check(self, inputs: Properties) -> Iterator[Failure]:
        """Refuse unknown types, at preview already."""
        kind = inputs["type"]
        if isinstance(kind, str) and kind not in _TYPES:
            yield Failure("type", f'expected type to be one of ["cloud" "server" "vswitch"], got {kind}')

    def create(self, inputs: Properties) -> tuple[str, dict[str, Any]]:
        """Add the subnet to its network."""
        with self.api.call("create_subnet") as session:
            network = session.get("networks", inputs["networkId"], "network")
            block = _block(inputs["ipRange"])
            if not block.subnet_of(_block(network["ipRange"])):
                message = f"ip range {block} is not within the network's {network['ipRange']} (invalid_input)"
                raise CloudError(message)
            if any(block.overlaps(_block(other)) for other in network["subnets"]):
                message = f"ip range {block} overlaps with an existing subnet (invalid_input)"
                raise CloudError(message)
            gateway = str(_block(network["ipRange"])[1])
            network["subnets"][str(block)] = {**inputs, "gateway": gateway}
        return f"{inputs['networkId']}-{block}", {**inputs, "gateway": gateway}

    def read(self, identity: str, state: Properties, inputs: Properties) -> Live | None:
        """Report the subnet."""
        network, _, cidr = identity.partition("-")
        with self.api.call("get_networks") as session:
            entry = session.project["networks"].get(network, {}).get("subnets", {}).get(cidr)
        return self.found(identity, {**state, **entry}, inputs) if entry else None

    def delete(self, identity: str, state: Properties) -> None:
        """Remove the subnet, in which no server may be."""
        del state
        network, _, cidr = identity.partition("-")
        with self.api.call("delete_subnet") as session:
            subnets = session.project["networks"].get(network, {}).get("subnets", {})
            if cidr not in subnets:
                return
            if any(address in _block(cidr) for address in _used(session, network)):
                message = "cannot remove subnet because servers are attached to it (resource_in_use)"
                raise CloudError(message)
            del subnets[cidr]


class ServerNetwork(HetznerResource):
    """A server's place in a network; its id is `<server>-<network>`."""

    type_name: ClassVar[str] = "hcloud:index/serverNetwork:ServerNetwork"
    # `ServerNetworkArgs` is the class of `Server.networks`.
    sdk_args: ClassVar[str] = "ServerNetworkInitArgs"
    kind: ClassVar[str] = "servers"
    what: ClassVar[str] = "server network"
    computed: ClassVar[tuple[str, ...]] = ("ip", "macAddress")
    replace_on: ClassVar[frozenset[str]] = frozenset({"serverId", "networkId", "subnetId", "ip"})
    delete_first: ClassVar[bool] = True

    def check(self, inputs: Properties) -> Iterator[Failure]:
        """Refuse what names not exactly one of network and subnet."""
        if ("networkId" in inputs) == ("subnetId" in inputs):
            reason = "Exactly one of these attributes must be configured: [network_id,subnet_id]"
            yield Failure("networkId", reason)

    def create(self, inputs: Properties) -> tuple[str, dict[str, Any]]:
        """Attach the server."""
        with self.api.call("attach_to_network") as session:
            network = attach(session, str(inputs["serverId"]), inputs)
        identity = f"{inputs['serverId']}-{network}"
        return identity, {**inputs, **self._live(identity)}

    def _live(self, identity: str) -> dict[str, Any]:
        server, _, network = identity.partition("-")
        with self.api.call("get_servers") as session:
            found: dict[str, Any] = session.project["servers"].get(server, {}).get("attached", {}).get(network, {})
        return dict(found)

    def read(self, identity: str, state: Properties, inputs: Properties) -> Live | None:
        """Report the attachment."""
        live = self._live(identity)
        return self.found(identity, {**state, **live}, inputs) if live else None

    def update(
        self, identity: str, state: Properties, inputs: Properties, old_inputs: Properties, ignored: Iterable[str]
    ) -> dict[str, Any]:
        """Change the alias addresses."""
        del old_inputs, ignored
        server, _, network = identity.partition("-")
        with self.api.call("change_alias_ips") as session:
            place = session.get("servers", server, "server")["attached"][network]
            place["aliasIps"] = list(inputs.get("aliasIps") or [])
        return {**state, **inputs, **self._live(identity)}

    def delete(self, identity: str, state: Properties) -> None:
        """Detach the server."""
        del state
        server, _, network = identity.partition("-")
        with self.api.call("detach_from_network") as session:
            session.project["servers"].get(server, {}).get("attached", {}).pop(network, None)


def attach(session: Session, server: str, wanted: Properties) -> str:
    """Attach a server to a network and return the network's id.

    `wanted` names `subnetId` or `networkId`, and `ip` and `aliasIps` where they are not the cloud's to choose.
    """
    entry = session.get("servers", server, "server")
    network, cidrs = place(session, wanted)
    if network in entry["attached"]:
        message = "server is already attached to this network (server_already_attached)"
        raise CloudError(message)
    blocks = [_block(cidr) for cidr in cidrs]
    used = _used(session, network)
    address = _asked(wanted["ip"], blocks, used) if wanted.get("ip") else _free(blocks, used)
    aliases = list(wanted.get("aliasIps") or [])
    for alias in aliases:
        _asked(alias, blocks, used | {address})
    mac = "86:00:00:" + ":".join(f"{byte:02x}" for byte in secrets.token_bytes(3))
    entry["attached"][network] = {"ip": str(address), "aliasIps": aliases, "macAddress": mac}
    return network


def place(session: Session, wanted: Properties) -> tuple[str, list[str]]:
    """Return the network and the subnets in which an attachment may be.

    Raises:
        CloudError: the network or the subnet is not there, or the network has none.
    """
    if wanted.get("subnetId"):
        network, _, cidr = wanted["subnetId"].partition("-")
        subnets = session.get("networks", network, "network")["subnets"]
        if cidr not in subnets:
            message = f"subnet with ID '{wanted['subnetId']}' not found (not_found)"
            raise CloudError(message)
        return network, [cidr]
    network = str(wanted["networkId"])
    subnets = session.get("networks", network, "network")["subnets"]
    if not subnets:
        message = f"network {network} has no subnet (no_subnet_available)"
        raise CloudError(message)
    return network, list(subnets)


def _used(session: Session, network: str) -> set[ipaddress.IPv4Address]:
    used = set()
    for server in session.project["servers"].values():
        there = server["attached"].get(network)
        if there:
            used |= {ipaddress.IPv4Address(each) for each in [there["ip"], *there["aliasIps"]]}
    return used


def _asked(
    address: str, blocks: list[ipaddress.IPv4Network], used: set[ipaddress.IPv4Address]
) -> ipaddress.IPv4Address:
    try:
        wanted = ipaddress.IPv4Address(address)
    except ValueError as error:
        message = f"{address} is not an IPv4 address (invalid_input)"
        raise CloudError(message) from error
    if not any(wanted in block and wanted not in _kept(block) for block in blocks):
        message = f"IP {address} is not in a subnet of the network, or kept by it (ip_not_available)"
        raise CloudError(message)
    if wanted in used:
        message = f"IP {address} is already in use (ip_not_available)"
        raise CloudError(message)
    return wanted


def _free(blocks: list[ipaddress.IPv4Network], used: set[ipaddress.IPv4Address]) -> ipaddress.IPv4Address:
    for block in blocks:
        kept = _kept(block)
        for address in block:
            if address not in used and address not in kept:
                return address
    message = "no free IP in the network's subnets (no_ip_available)"
    raise CloudError(message)


def _kept(block: ipaddress.IPv4Network) -> set[ipaddress.IPv4Address]:
    """Return the network's own, the gateway's and the broadcast address."""
    return {block[0], block[1], block[-1]}


def _block(cidr: str) -> ipaddress.IPv4Network:
    try:
        return ipaddress.IPv4Network(cidr)
    except ValueError as error:
        message = f"invalid input in field 'ip_range' (invalid_input): {error}"
        raise CloudError(message) from error
