"""A tenant's servers in Hetzner Cloud."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tenant_isolation.nics import WHY_KNOWN
from tenant_isolation.providers import hcloud_problems
from tenant_isolation.reading import ABSENT, read
from tenant_isolation.verdicts import shown, strange, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tenant_isolation.table import Hcloud
    from tenant_isolation.verdicts import Case

SERVER = "hcloud:index/server:Server"
FIELDS = {
    SERVER: words(
        """allowDeprecatedImages backups deleteProtection firewallIds ignoreRemoteFirewallIds image keepDisk labels
        location name networks placementGroupId publicNets rebuildProtection rescue serverType shutdownBeforeDeletion
        sshKeys userData"""
    ),
    "hcloud:index/placementGroup:PlacementGroup": words("labels name type"),
    "hcloud:index/firewall:Firewall": words("applyTos labels name rules"),
}
"""What a tenant makes in Hetzner Cloud, with the inputs that it may have."""
NETWORK_FIELDS = words("aliasIps ip macAddress subnetId")


def server_problems(case: Case) -> list[str]:
    """Judge a server, placement group or firewall: through a provider of its own, in a region and subnet of its own."""
    props, token = case.resource.props, case.resource.type
    problems = [*hcloud_problems(case), *strange(props, FIELDS[token], "It has inputs")]
    places = case.table.hcloud_of(case.stack)
    return [*problems, *_place_problems(case, props, places)] if places and token == SERVER else problems


def _place_problems(case: Case, props: Mapping[str, Any], places: list[Hcloud]) -> Iterator[str]:
    region = read(props, "location")
    there = [place for place in places if place.region == region]
    if not there:
        regions = ", ".join(sorted(place.region for place in places))
        yield f"Its location is {shown(region)}. Stack {case.stack.name} may use: {regions}."
    subnets = sorted(place.tenants[case.stack.tenant][1] for place in there or places)
    offer = f"Stack {case.stack.name} has subnet {' or '.join(subnets)}: write subnetId: <network>-{subnets[0]}."
    networks = read(props, "networks")
    if networks in (ABSENT, []):
        return  # the public address alone: no network of anybody
    if not isinstance(networks, list):
        yield f"Its networks are {shown(networks)}, not a list. {WHY_KNOWN} {offer}"
        return
    for i, network in enumerate(networks):
        if not isinstance(network, dict):
            yield f"networks[{i}] is {shown(network)}, not a set of fields. {offer}"
            continue
        for problem in strange(network, NETWORK_FIELDS, f"networks[{i}] has fields"):
            yield f"{problem} {offer}"
        subnet = read(network, "subnetId")
        number, _, cidr = subnet.partition("-") if isinstance(subnet, str) else ("", "", "")
        if not (number.isascii() and number.isdigit()) or cidr not in subnets:
            yield f"networks[{i}].subnetId is {shown(subnet)}. {offer}"
