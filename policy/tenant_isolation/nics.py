"""One network interface against the rows that a tenant may use where the interface would be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tenant_isolation.reading import ABSENT, UNKNOWN
from tenant_isolation.table import whole_number
from tenant_isolation.verdicts import listed, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tenant_isolation.table import Row
    from tenant_isolation.verdicts import Place

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


def row_for(nic: Nic, place: Place) -> tuple[Row | None, list[str]]:
    """Find the tenant's row that a NIC asks for; else say what is wrong with it, and what to write instead."""
    row, complaints = _match(nic, place.rows)
    problems = [f"{nic.label}{complaint} {place.offer(nic.vlan_field)}" for complaint in complaints]
    strange = [key for key in nic.value if key not in nic.known_fields] if isinstance(nic.value, dict) else []
    if strange:
        problems.append(f"{nic.label} has fields that this pack can not judge: {listed(strange)}. Leave them out.")
    return row, problems


def _match(nic: Nic, rows: Iterable[Row]) -> tuple[Row | None, list[str]]:
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
    for row in rows:
        if row.bridge == nic.bridge and row.vlan == vlan:
            return row, []
    hint = " (a VLAN is a whole number)" if vlan is None else ""
    return None, [f" asks for VLAN {shown(nic.vlan)} on bridge {shown(nic.bridge)}{hint}."]
