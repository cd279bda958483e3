"""What a rule is given, and the words in which rules answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tenant_isolation.reading import ABSENT, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tenant_isolation.table import Row, Stack, Table

SHOWN = 48
"""Characters of a value of the program that a message repeats at most."""
ROWS_SHOWN = 8
"""Networks that a message lists at most."""


@dataclass(frozen=True)
class Provider:
    """The provider through which a resource is made; `props` are its inputs, to be read by `read` alone."""

    type: str
    name: str
    props: object

    @property
    def is_default(self) -> bool:
        """Tell a provider that the engine made by itself: its credentials come from whoever runs it."""
        return self.name == "default" or self.name.startswith("default_")


@dataclass(frozen=True)
class Resource:
    """A resource as the program registers it; `props` are its inputs, to be read by `read` alone."""

    type: str
    name: str
    props: object
    provider: Provider | None


@dataclass(frozen=True)
class Case:
    """One resource of one stack, and the table to judge it by."""

    resource: Resource
    stack: Stack
    table: Table


@dataclass(frozen=True)
class Place:
    """Where a NIC would be, for messages: `name` an endpoint or a namespace, and the tenant's rows there."""

    stack: str
    name: str
    rows: list[Row]

    def offer(self, vlan_field: str) -> str:
        """Say what the tenant has here and what to write instead."""
        if not self.rows:
            return f"Stack {self.stack} has no network on {self.name}: ask the platform for one."
        names = ", ".join(str(row) for row in self.rows[:ROWS_SHOWN])
        names += f" and {len(self.rows) - ROWS_SHOWN} more" if len(self.rows) > ROWS_SHOWN else ""
        first = self.rows[0]
        write = f"bridge: {first.bridge} and {vlan_field}: {first.vlan}"
        more = " or another of these" if len(self.rows) > 1 else ""
        return f"Stack {self.stack} may use on {self.name}: {names}. Write {write}{more}."


def shown(value: Any) -> str:
    """Give a judged value for a message: short, on one line, and saying so where there is none."""
    if value is ABSENT:
        return "none"
    if value is UNKNOWN:
        return "one that is not known yet"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, (dict, list)):
        return "something that is no plain value"
    text = str(value) if isinstance(value, (int, float)) else repr(value)[1:-1] if isinstance(value, str) else "?"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def words(text: str) -> frozenset[str]:
    """Give the words of a text: how longer sets of field names are written here."""
    return frozenset(text.split())


def listed(names: Iterable[str]) -> str:
    """Join names for a message, in a fixed order; long names are cut."""
    return ", ".join(shown(name) for name in sorted(names))
