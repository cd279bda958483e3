"""Rules of a tenant cluster: its home, its control plane's address, its versions."""

from __future__ import annotations

import re
from ipaddress import IPv4Network
from typing import TYPE_CHECKING

from settings.places import choose, names
from settings.rules.views import problem, warning

if TYPE_CHECKING:
    from collections.abc import Iterator
    from ipaddress import IPv4Address

    from settings.problems import Problem
    from settings.rules.views import TenantView

_KUBERNETES_OF_TALOS = {(1, 13): ((1, 31), (1, 36))}
"""Talos minor to the first and last Kubernetes minor; https://docs.siderolabs.com/talos/v1.13/getting-started/support-matrix."""

_UNUSABLE = (
    (IPv4Network("0.0.0.0/8"), "nobody's address (0.0.0.0/8)"),
    (IPv4Network("127.0.0.0/8"), "a loopback address"),
    (IPv4Network("169.254.0.0/16"), "a link-local address"),
    (IPv4Network("224.0.0.0/4"), "a multicast address"),
    (IPv4Network("240.0.0.0/4"), "a reserved or the broadcast address"),
)
"""https://www.iana.org/assignments/iana-ipv4-special-registry: what is no host's, or no other host can reach."""
_VERSION_TAG = re.compile(r"v[0-9]+(\.[0-9]+){2}")


def homes_are_possible(view: TenantView) -> Iterator[Problem]:
    """Require that a cluster's home is a Proxmox location in which the tenant has a place and a network."""
    possible = [name for name in view.places if view.type_of(name) != "hcloud"]
    for name, cluster in view.clusters:
        place = ("clusters", name, "home")
        if not view.examined.sound(*place):
            continue
        if cluster.home not in view.places:
            why = f"tenant {view.tenant} has no place in a location of this name"
            yield problem("UNKNOWN_LOCATION", place, cluster.home, why, choose(cluster.home, possible))
        elif cluster.home not in possible:
            why = "the control plane's own Cluster needs a Proxmox location: one in Hetzner Cloud is not built yet"
            yield problem("NOT_AVAILABLE", place, cluster.home, why, choose(None, possible))
        elif not view.row_names(cluster.home):
            why = f"tenant {view.tenant} has no network in location {cluster.home}"
            fix = f"the environment's owner adds one to a zone; the tenant's networks are: {names(view.row_names())}"
            yield problem("NO_HOME_NETWORK", place, cluster.home, why, fix)


def home_networks_are_clear(view: TenantView) -> Iterator[Problem]:
    """Require that it is clear which of the tenant's networks at home is the cluster's."""
    for name, cluster in view.clusters:
        place = ("clusters", name, "network")
        if not view.examined.sound(*place):
            continue
        at_home = view.row_names(cluster.home)
        if cluster.network is None:
            if len(at_home) > 1 and view.examined.sound("clusters", name, "home"):
                why = f"tenant {view.tenant} has several networks in {cluster.home}, and the Cluster is on one of them"
                yield problem("NETWORK_NEEDED", place, None, why, f"write network: one of {names(at_home)}")
        elif cluster.network not in view.row_names():
            yield not_yours(view, place, cluster.network, at_home or view.row_names())
        elif at_home and cluster.network not in at_home:
            why = f"the network is not in the cluster's home location {cluster.home}"
            yield problem("NETWORK_NOT_AT_HOME", place, cluster.network, why, choose(cluster.network, at_home))


def not_yours(view: TenantView, place: tuple[str | int, ...], name: str, own: frozenset[str]) -> Problem:
    """Refuse a network, in the same words whether it is another tenant's or nobody's."""
    why = f"it is not a network of tenant {view.tenant}"
    return problem("NOT_YOURS", place, name, why, choose(name, own))


def addresses_are_free(view: TenantView) -> Iterator[Problem]:
    """Require that a control plane's address is nobody else's."""
    owners: dict[IPv4Address, str] = {}
    for name, cluster in view.clusters:
        if not view.examined.sound("clusters", name, "controlPlane"):
            continue
        address = cluster.control_plane.address
        other = owners.get(address)
        owner = f"the control plane of cluster {other} has it" if other else _owner(view, address)
        owners.setdefault(address, name)
        unusable = next((what for cidr, what in _UNUSABLE if address in cidr), None)
        place = ("clusters", name, "controlPlane", "address")
        fix = "name the address at which the platform serves this control plane"
        if unusable:
            why = f"no worker can reach a control plane there: it is {unusable}"
            yield problem("ADDRESS_UNUSABLE", place, address, why, fix)
        elif owner:
            yield problem("ADDRESS_TAKEN", place, address, owner, fix)


def _owner(view: TenantView, address: IPv4Address) -> str | None:
    management = view.settings.environment.management
    for what, key, cidr in (
        ("pods", "podCidr", management.pod_cidr),
        ("services", "serviceCidr", management.service_cidr),
    ):
        if view.around.examined.sound("management", key) and address in cidr:
            return f"it is in the range of tenant clusters' {what}, {cidr}"
    networks = [network.cidr for _, _, network in view.around.networks]
    networks += [own.cidr for location in view.around.hcloud.values() for own in location.tenants.values()]
    if any(address in cidr for cidr in networks):
        return "it is in a network of the platform's table"  # whosever: a tenant learns nothing of others' networks
    return None


def versions_fit(view: TenantView) -> Iterator[Problem]:
    """Require that Talos runs the Kubernetes minors that it supports."""
    for name, cluster in view.clusters:
        if not (view.examined.sound("clusters", name, "talos") and view.examined.sound("clusters", name, "kubernetes")):
            continue
        talos, kubernetes = _minor(cluster.talos), _minor(cluster.kubernetes)
        supported = _KUBERNETES_OF_TALOS.get(talos)
        if supported is None:
            known = ", ".join(f"v{major}.{minor}" for major, minor in sorted(_KUBERNETES_OF_TALOS))
            why = "which Kubernetes versions this Talos supports is not known here, so the pair is not checked"
            yield warning("TALOS_UNKNOWN", ("clusters", name, "talos"), cluster.talos, why, f"checked are: {known}")
        elif not supported[0] <= kubernetes <= supported[1]:
            (low, first), (high, last) = supported
            why = f"Talos {cluster.talos} supports Kubernetes v{low}.{first} to v{high}.{last}"
            near = f"v{high}.{last}" if kubernetes > supported[1] else f"v{low}.{first}"
            place = ("clusters", name, "kubernetes")
            yield problem("KUBERNETES_UNSUPPORTED", place, cluster.kubernetes, why, f"the nearest is a {near} release")


def templates_hold_the_talos(view: TenantView) -> Iterator[Problem]:
    """Warn of a Talos that a template, tagged with a version, does not hold where the cluster's machines stand."""
    for name, cluster in view.clusters:
        if not view.examined.sound("clusters", name, "talos"):
            continue
        places = {row.location for owner, _, _, row, _ in view.proxmox_pools if owner == name} | {cluster.home}
        others = {}
        for place in sorted(places & view.around.proxmox.keys()):
            tags = view.around.proxmox[place].template.tags
            versions = [tag for tag in tags if _VERSION_TAG.fullmatch(tag)]
            if versions and cluster.talos not in versions:
                others[place] = names(versions)
        if others:
            held = "; ".join(f"in {place}: {versions}" for place, versions in others.items())
            why = f"the templates in {', '.join(others)} are tagged with another version ({held})"
            fix = "name the version of the templates, or have templates of this version tagged with it"
            yield warning("TALOS_TEMPLATE", ("clusters", name, "talos"), cluster.talos, why, fix)


def _minor(version: str) -> tuple[int, int]:
    major, minor, _ = version.removeprefix("v").split(".")
    return int(major), int(minor)
