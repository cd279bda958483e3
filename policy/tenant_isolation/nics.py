"""One network interface against the rows that a tenant may use where the interface would be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tenant_isolation.reading import ABSENT, UNKNOWN
from tenant_isolation.table import whole_number
from tenant_isolation.verdicts import listed, shown

if TYPE_CHECKING:
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
    """Find the tenant's row that a NIC asks for; else say what is wrong with it."""
    offer = place.offer(nic.vlan_field)
    if nic.value is UNKNOWN:
        return None, [f"{nic.label} is not known yet. {WHY_KNOWN} {offer}"]
    if not isinstance(nic.value, dict):
        return None, [f"{nic.label} is not a set of fields. {offer}"]
    strange = listed(key for key in nic.value if key not in nic.known_fields)
    problems = [f"{nic.label} has fields that this pack can not judge: {strange}. Leave them out."] if strange else []
    for name, asked in (("bridge", nic.bridge), ("VLAN", nic.vlan)):
        if asked is UNKNOWN:
            problems.append(f"{nic.label}: the {name} is not known yet. {WHY_KNOWN} {offer}")
    if nic.bridge is UNKNOWN or nic.vlan is UNKNOWN:
        return None, problems
    if nic.vlan is ABSENT or whole_number(nic.vlan) == 0:
        problems.append(f"{nic.label} has no VLAN, so it would see every VLAN of its bridge. {offer}")
        return None, problems
    vlan = whole_number(nic.vlan)
    for row in place.rows:
        if isinstance(nic.bridge, str) and row.bridge == nic.bridge and row.vlan == vlan:
            return row, problems
    what = f"VLAN {shown(nic.vlan)} on bridge {shown(nic.bridge)}"
    if vlan is None:
        what += " (a VLAN is a whole number)"
    problems.append(f"{nic.label} asks for {what}. {offer}")
    return None, problems
