"""Rules of an environment's zones."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from settings.places import choose
from settings.rules.views import problem, warning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from settings.problems import Problem
    from settings.rules.views import EnvironmentView

_WORD = re.compile(r"[a-z][a-z0-9]*")


def bridges_are_one_zones(view: EnvironmentView) -> Iterator[Problem]:
    """Require that a bridge name belongs to one zone."""
    owners: dict[str, str] = {}
    for name, zone in sorted(view.environment.zones.items()):
        place = ("zones", name, "bridge")
        if not view.examined.sound(*place):
            continue
        if zone.bridge in owners:
            other = owners[zone.bridge]
            why = (
                f"zone {other} has this bridge name. The objects that the guard judges name a bridge and a VLAN but no"
                " location, so one name is one table, also when the bridges are in different places"
            )
            fix = f"put the networks into zone {other}, or give the bridge there another name to use a VLAN twice"
            yield problem("BRIDGE_TAKEN", place, zone.bridge, why, fix)
        owners.setdefault(zone.bridge, name)


def locations_are_known(view: EnvironmentView) -> Iterator[Problem]:
    """Require that a zone spans Proxmox locations of the environment, each named once."""
    known = view.examined.names("locations")
    typed = {name for name in known if view.examined.raw("locations", name, "type") != "hcloud"}
    possible = {name for name in typed if _WORD.fullmatch(name)}
    for name, zone in sorted(view.environment.zones.items()):
        if not view.examined.sound("zones", name, "locations"):
            continue
        for index, location in enumerate(zone.locations):
            place = ("zones", name, "locations", index)
            if location not in known:
                why = "the environment has no location of this name"
                yield problem("UNKNOWN_LOCATION", place, location, why, choose(location, possible))
            elif location not in typed:
                why = "Hetzner Cloud has no bridges or VLANs; a tenant's network there stands in the location itself"
                yield problem("WRONG_LOCATION_TYPE", place, location, why, choose(None, possible))
            elif location in zone.locations[:index]:
                why = "the location stands in the list twice"
                yield problem("DUPLICATE_NAME", place, location, why, "keep one of them")


def reserved_is_for_a_location(view: EnvironmentView) -> Iterator[Problem]:
    """Require that reserved VLANs are those of one of the zone's locations."""
    for name, zone in sorted(view.environment.zones.items()):
        if not view.examined.sound("zones", name, "locations"):
            continue
        for location in sorted(set(zone.reserved) - set(zone.locations)):
            why = f"zone {name} does not span a location of this name, so nothing would be reserved"
            place = ("zones", name, "reserved", location)
            yield problem("LOCATION_NOT_IN_ZONE", place, location, why, choose(location, zone.locations))


def zones_are_used(view: EnvironmentView) -> Iterator[Problem]:
    """Warn of a zone without networks, which lets nobody onto its bridge."""
    for name, zone in sorted(view.environment.zones.items()):
        if not view.examined.names("zones", name, "networks"):
            why = "the zone has no networks: nobody gets onto its bridge"
            yield warning("UNUSED", ("zones", name), zone.bridge, why, "give it a network, or leave it out")
