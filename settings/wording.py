"""From what pydantic says to problems that a person can act on."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import TYPE_CHECKING, Any

from settings.fields import LEAST_MEMORY, endpoint
from settings.places import choose, dotted, looks_like_a_key, named_like_a_secret, names, nearest
from settings.problems import Problem
from settings.tenant import NOT_AVAILABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from settings.places import Place

PLATFORM_KEYS = frozenset({"bridge", "vlan", "gateway", "range", "ranges", "prefix", "cidr", "mtu", "trunks", "vlanId"})
"""What a pool never says: the row of the network that it names says it."""

_QUOTE = "put quotes around it, so that YAML reads it as text"
_WORD = "lower-case letters and digits, beginning with a letter, at most 30"

_PATTERNS: dict[str, tuple[str, str, str]] = {
    r"^[a-z][a-z0-9]*$": ("BAD_NAME", f"a name here is {_WORD}; names are joined by `-`, so it has none itself", _WORD),
    r"^[a-z]([a-z0-9-]*[a-z0-9])?$": (
        "BAD_NAME",
        "it becomes the name of a Kubernetes object",
        "lower-case letters, digits and `-`, beginning with a letter, not ending with `-`, at most 63",
    ),
    r"^[A-Za-z][A-Za-z0-9_]{0,14}$": (
        "BAD_BRIDGE",
        "capmox can not read this bridge name back from Proxmox VE and would rewrite the NIC for ever",
        "a letter, then letters, digits and `_`, 15 at most, for example vmbr1",
    ),
    r"^v(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}$": (
        "BAD_VERSION",
        "a version is `v` and three numbers",
        "write it like v1.35.6",
    ),
    r"^[a-z0-9_][a-z0-9_+.-]*$": (
        "BAD_TAG",
        "Proxmox VE keeps tags in lower case, so others never match",
        "lower-case letters, digits and `_ + . -`",
    ),
}
_PATTERNS[r"^[!-~]([ -~]*[!-~])?$"] = (
    "BAD_TEXT",
    "letters outside ASCII, line breaks and blanks at the ends are not seen, and not found on the other side",
    "one line of printable ASCII, with no blanks at its ends",
)
_OTHER_SPELLING = ("BAD_NAME", "the other side would not take this name", "letters, digits and `-`")
_KINDS: dict[str, tuple[str, str, str]] = {
    "string_type": ("NOT_TEXT", "text is wanted here, and YAML does not read this as text", _QUOTE),
    "int_type": ("NOT_A_NUMBER", "a whole number is wanted here", "write decimal digits without quotes"),
    "bool_type": ("NOT_TRUE_OR_FALSE", "only true and false are truth values", "write true or false, without quotes"),
    "model_type": ("NOT_A_MAP", "a map of keys and values is wanted here", "write its keys, or {} for none"),
    "model_attributes_type": ("NOT_A_MAP", "a map of keys and values is wanted here", "write its keys"),
    "dict_type": ("NOT_A_MAP", "a map of names is wanted here", "write its entries, or {} for none"),
    "tuple_type": ("NOT_A_LIST", "a list is wanted here", "write [one, two], or [] for none"),
    "too_short": ("EMPTY", "at least one entry is wanted here", "name one"),
    "string_too_short": ("EMPTY", "an empty text says nothing", "write it"),
}
_FORMS = {
    "vmIds": "BAD_VM_IDS",
    "cidr": "BAD_CIDR",
    "subnet": "BAD_CIDR",
    "podCidr": "BAD_CIDR",
    "serviceCidr": "BAD_CIDR",
    "gateway": "BAD_ADDRESS",
    "address": "BAD_ADDRESS",
    "dnsServers": "BAD_ADDRESS",
    "range": "BAD_RANGE",
    "memory": "BAD_MEMORY",
    "disk": "BAD_DISK",
    "endpoint": "BAD_ENDPOINT",
    "retired": "BAD_VLANS",
    "reserved": "BAD_VLANS",
    "openVlans": "BAD_VLANS",
}
_EXAMPLES = {
    "BAD_VM_IDS": "2000-2099",
    "BAD_CIDR": "10.201.0.0/24",
    "BAD_ADDRESS": "10.201.0.1",
    "BAD_RANGE": "10.201.0.20-10.201.0.199",
    "BAD_MEMORY": "8Gi",
    "BAD_DISK": "40Gi",
    "BAD_ENDPOINT": "https://pve.lab.example:8006",
    "BAD_VLANS": "10-99",
}


@dataclass(frozen=True, eq=False)
class Fault:
    """One thing that pydantic says, with the place as in the file (no union tags) and the keys that may stand there."""

    kind: str
    place: Place
    value: Any
    context: dict[str, Any]
    message: str
    keys: Sequence[str] = ()
    """The legal keys around an unknown one, or what a missing key that decides the rest can say."""
    key: bool = False
    """The name itself is wrong, not what stands under it."""
    own_networks: Sequence[str] = ()
    """What a tenant's pool may name instead of a raw VLAN."""

    @property
    def name(self) -> str:
        """The last key of the place."""
        return str(self.place[-1]) if self.place else ""

    def problem(self) -> Problem:
        """Say it in words."""
        code, why, fix = self._words()
        hidden = self.kind in ("missing", "union_tag_not_found") or named_like_a_secret(self.place)
        value = self.value.get(self.name) if self.kind == "union_tag_invalid" else self.value
        has_user = isinstance(value, str) and "@" in value and ("://" in value or code == "BAD_ENDPOINT")
        value = None if hidden or has_user or isinstance(value, dict) or looks_like_a_key(value) else value
        return Problem(code, dotted(self.place), value, why, fix)

    def _words(self) -> tuple[str, str, str]:
        speak = {
            "missing": self._missing,
            "union_tag_not_found": self._missing,
            "extra_forbidden": self._unknown_key,
            "literal_error": self._choice,
            "union_tag_invalid": self._choice,
            "string_pattern_mismatch": self._spelling,
            "string_too_long": self._length,
            "greater_than_equal": self._bounds,
            "less_than_equal": self._bounds,
            "value_error": self._form,
        }.get(self.kind)
        return speak() if speak else _KINDS.get(self.kind, ("NOT_LEGAL", self.message, "see the README's stack files"))

    def _missing(self) -> tuple[str, str, str]:
        choice = f": one of {names(self.keys)}" if self.kind == "union_tag_not_found" else ""
        return "MISSING_KEY", f"{self.name} is needed here", f"write {self.name}{choice}"

    def _spelling(self) -> tuple[str, str, str]:
        return _PATTERNS.get(self.context["pattern"], _OTHER_SPELLING)

    def _length(self) -> tuple[str, str, str]:
        longest = self.context["max_length"]
        return "NAME_TOO_LONG", f"longer than {longest} characters", f"at most {longest} characters"

    def _bounds(self) -> tuple[str, str, str]:
        bound = self.context.get("ge", self.context.get("le"))
        side = "smallest" if "ge" in self.context else "largest"
        return "OUT_OF_BOUNDS", f"the {side} value here is {bound}", f"write {bound}, or a value within it"

    def _unknown_key(self) -> tuple[str, str, str]:
        if self.place[0] == "clusters" and "pools" in self.place and self.name in PLATFORM_KEYS:
            why = (
                "bridge, VLAN, range and gateway belong to the platform; a pool names a network, and its row says them"
            )
            return (
                "PLATFORM_OWNS",
                why,
                f"leave it out and write network: one of {', '.join(self.own_networks) or 'none'}",
            )
        return "UNKNOWN_KEY", "no such key is read here, so it would have no effect", choose(self.name, self.keys)

    def _choice(self) -> tuple[str, str, str]:
        expected = str(self.context.get("expected") or self.context.get("expected_tags"))
        legal = re.findall(r"'([^']*)'", expected)
        planned = NOT_AVAILABLE.get(self.name) or NOT_AVAILABLE.get(dotted(self.place[-2:-1]), ())
        legal = [name for name in legal if name not in planned]
        value = self.value.get(self.name) if isinstance(self.value, dict) else self.value
        if value in planned:
            why = f"{value} is planned and not built yet"
            return "NOT_AVAILABLE", why, f"use {' or '.join(legal)}"
        return "NOT_ONE_OF", f"{self.name} is one of {', '.join(legal)}", choose(value, legal)

    def _form(self) -> tuple[str, str, str]:
        code = next((_FORMS[step] for step in reversed(self.place) if step in _FORMS), "NOT_LEGAL")
        if not isinstance(self.value, (str, list)) and code not in ("BAD_MEMORY", "BAD_DISK"):
            example = f'put quotes around it, for example "{_EXAMPLES.get(code, "")}"'
            return "NOT_TEXT", self.message.removeprefix("Value error, "), example
        why = self.message.removeprefix("Value error, ")
        return code, why, nearest_legal(code, self.value, self.place) or f"for example {_EXAMPLES.get(code, '')}"

    @property
    def meant(self) -> str | None:
        """The known key that an unknown one was probably meant to be."""
        return nearest(self.name, self.keys) if self.kind == "extra_forbidden" else None


def nearest_legal(code: str, value: Any, place: Place = ()) -> str | None:
    """Give the nearest legal spelling of a value, where there is an obvious one."""
    if not isinstance(value, str):
        return None
    with suppress(ValueError):
        if code == "BAD_CIDR":
            return f"write {IPv4Network(value if '/' in value else f'{value}/24', strict=False)}"
    match = re.fullmatch(r"\s*(\d{1,7})\s*(Gi|Mi|G|M|GB|MB|GiB|MiB)?\s*", value)
    if match and code in ("BAD_MEMORY", "BAD_DISK"):
        unit = "Gi" if (match[2] or "Gi").startswith("G") else "Mi"
        least = 5 if code == "BAD_DISK" and "size" in place else 1
        size = max(int(match[1]), least)
        if code == "BAD_DISK":
            return f"write {size if unit == 'Gi' else max(-(-size // 1024), least)}Gi"
        if unit == "Mi":
            size = max(size // 8 * 8, LEAST_MEMORY if "size" in place else 8)
        return f"write {size}{unit}"
    found = _ENDPOINT.fullmatch(value) if code == "BAD_ENDPOINT" else None
    if found:
        with suppress(ValueError):
            return f"write {endpoint(f'https://{found[1]}' + (f':{found[2]}' if found[2] else ''))}"
    return None


_ENDPOINT = re.compile(
    r"\s*(?:[A-Za-z]+://)?(?:[^@/?#\s]*@)?(\[[^\[\]\s]*\]|[^\[\]:/?#@\s]+)(?::([0-9]*))?(?:(?!//)[/?#][^@]*)?\s*"
)
"""Host and port in what was probably meant to be an endpoint."""
