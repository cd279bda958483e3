"""How objects that are in the way are named, and whether an address is in ranges."""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from operations.live import LiveAddress, LiveMachine

SHOWN = 20
"""Objects that one problem names."""


def machine_name(item: LiveMachine) -> str:
    """Name a machine."""
    return f"ProxmoxMachine {item.namespace}/{item.name}"


def address_name(item: LiveAddress) -> str:
    """Name a leased address."""
    return f"IPAddress {item.namespace}/{item.name} ({item.address})"


def named(users: list[str]) -> str:
    """Give a list of at most so many, sorted, and how many more there are."""
    more = len(users) - SHOWN
    return ", ".join(sorted(users)[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def inside(item: LiveAddress, ranges: Iterable[str]) -> bool:
    """Say whether a leased address is in one of the ranges ("first-last"); what can not be read is in none."""
    try:
        value = IPv4Address(item.address)
        return any(
            IPv4Address(first) <= value <= IPv4Address(last or first)
            for first, _, last in (each.partition("-") for each in ranges)
        )
    except ValueError:
        return False
