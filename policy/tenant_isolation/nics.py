"""One network interface against the rows that a tenant may use where the interface would be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tenant_isolation.reading import ABSENT, UNKNOWN, whole_number
from tenant_isolation.verdicts import shown, strange

if TYPE_CHECKING:
    from tenant_isolation.table import OpenBridge, Row
    from tenant_isolation.verdicts import Offer

WHY_KNOWN = "A network must be known when the run is judged: take it from the platform's table, not from an output."


@dataclass(frozen=True)
class Nic:
    """A NIC as the program asks for it; `label` says which one, `value` is its input as plain data."""

    label: str
    value: Any
    vlan_field: str
    known_fields: frozenset[str]

    @property
    def bridge(self) -> Any:
        """The bridge asked for."""
        return self.value.get("bridge", ABSENT)

    @property
    def vlan(self) -> Any:
        """The VLAN asked for."""
        return self.value.get(self.vlan_field, ABSENT)


def network_of(nic: Nic, offer: Offer) -> tuple[Row | OpenBridge | None, list[str]]:
    """Find the tenant's row (or open bridge) that a NIC asks for; else say what is wrong, and what to write instead."""
    found, complaints = _match(nic, offer)
    problems = [f"{nic.label}{complaint} {offer.says(nic.vlan_field)}" for complaint in complaints]
    if isinstance(nic.value, dict):
        problems += strange(nic.value, nic.known_fields, f"{nic.label} has fields")
    return found, problems


def _match(nic: Nic, offer: Offer) -> tuple[Row | OpenBridge | None, list[str]]:
    if nic.value is UNKNOWN:
        return None, [f" is not known yet. {WHY_KNOWN}"]
    if not isinstance(nic.value, dict):
        return None, [" is not a set of fields."]
    unknown = [name for name, asked in (("bridge", nic.bridge), ("VLAN", nic.vlan)) if asked is UNKNOWN]
    if unknown:
        return None, [f": the {name} is not known yet. {WHY_KNOWN}" for name in unknown]
    vlan = whole_number(nic.vlan)
    if nic.vlan is ABSENT or vlan == 0:
        return None, [" has no VLAN, so it would see every VLAN of its bridge."]
    found = _found(nic.bridge, vlan, offer)
    hint = " (a VLAN is a whole number)" if vlan is None else ""
    asked = f" asks for VLAN {shown(nic.vlan)} on bridge {shown(nic.bridge)}{hint}."
    return found, [] if found else [asked]


def _found(bridge: Any, vlan: int | None, offer: Offer) -> Row | OpenBridge | None:
    if vlan is None:
        return None
    rows = (row for row in offer.rows if (row.bridge, row.vlan) == (bridge, vlan))
    opened = (item for item in offer.open_bridges if item.bridge == bridge and item.has(vlan))
    return next(rows, None) or next(opened, None)
