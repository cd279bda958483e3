"""What a rule is given, and the words in which rules answer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tenant_isolation.reading import ABSENT, UNKNOWN, read
from tenant_isolation.table import listed_rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tenant_isolation.table import OpenBridge, Row, Stack, Table

SHOWN = 48
"""Characters of a value of the program that a message repeats at most."""
ROWS_SHOWN = 8
"""Networks that a message lists at most."""


@dataclass(frozen=True)
class Provider:
    """The provider through which a resource is made; `inputs` as the SDK has them."""

    type: str
    name: str
    inputs: object

    @property
    def is_default(self) -> bool:
        """Tell a provider that the engine made by itself: its credentials come from whoever runs it."""
        return self.name == "default" or self.name.startswith("default_")

    @cached_property
    def props(self) -> dict[str, Any]:
        """Its inputs as plain data."""
        found: dict[str, Any] = read(self.inputs)
        return found


@dataclass(frozen=True)
class Resource:
    """A resource as the program registers it; `inputs` as the SDK has them."""

    type: str
    name: str
    inputs: object
    provider: Provider | None

    @cached_property
    def props(self) -> dict[str, Any]:
        """Its inputs as plain data, read once."""
        found: dict[str, Any] = read(self.inputs)
        return found


@dataclass(frozen=True)
class Case:
    """One resource of one stack, and the table to judge it by."""

    resource: Resource
    stack: Stack
    table: Table


@dataclass(frozen=True)
class Offer:
    """Where a NIC would be, for messages: `name` an endpoint or a namespace, and what the tenant may use there."""

    stack: str
    name: str
    rows: list[Row]
    open_bridges: tuple[OpenBridge, ...] = ()

    def says(self, vlan_field: str) -> str:
        """Say what the tenant has here and what to write instead."""
        if not self.rows and not self.open_bridges:
            return f"Stack {self.stack} has no network on {self.name}: ask the platform for one."
        names = listed_rows(self.rows, ROWS_SHOWN)
        names += "".join(f"{', ' if names else ''}{item}" for item in self.open_bridges)
        text = f"Stack {self.stack} may use on {self.name}: {names}."
        if not self.rows:
            return text
        first = self.rows[0]
        more = " or another of these" if len(self.rows) > 1 else ""
        return f"{text} Write bridge: {first.bridge} and {vlan_field}: {first.vlan}{more}."


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


def listed(names: Iterable[object]) -> str:
    """Join names for a message, in a fixed order; long names are cut."""
    return ", ".join(shown(name) for name in sorted(map(str, names)))


def strange(fields: Iterable[str], known: Iterable[str], where: str) -> list[str]:
    """Say which fields nobody here judges: they are closed, since a provider may read them as something else."""
    others = set(fields) - set(known)
    return [f"{where} that this pack can not judge: {listed(others)}. Leave them out."] if others else []
