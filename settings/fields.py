"""Annotated types of the stack files: what one value may look like, and what it means once read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainSerializer, StringConstraints, WithJsonSchema


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        message = f"{what} is written as text; put quotes around it"
        raise ValueError(message)  # noqa: TRY004 - pydantic collects ValueError, a TypeError would end the run
    return value


LEAST_MEMORY = 1024
"""MiB; https://docs.siderolabs.com/talos/v1.13/getting-started/system-requirements: the least that a worker needs."""


@dataclass(frozen=True, order=True)
class IdRange:
    """VM ids `first` to `last`, both included."""

    first: int
    last: int

    def __len__(self) -> int:
        """Count the ids."""
        return self.last - self.first + 1

    def __str__(self) -> str:
        """Write it as the stack file does."""
        return f"{self.first}-{self.last}"

    def contains(self, other: IdRange) -> bool:
        """Say whether every id of `other` is one of these."""
        return self.first <= other.first and other.last <= self.last

    def overlaps(self, other: IdRange) -> bool:
        """Say whether an id is in both."""
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True, order=True)
class AddressRange:
    """IPv4 addresses `first` to `last`, both included."""

    first: IPv4Address
    last: IPv4Address

    def __len__(self) -> int:
        """Count the addresses."""
        return int(self.last) - int(self.first) + 1

    def __str__(self) -> str:
        """Write it as the stack file and Cluster API's pools do."""
        return f"{self.first}-{self.last}"

    def __contains__(self, address: IPv4Address) -> bool:
        """Say whether an address lies in the range."""
        return self.first <= address <= self.last

    def overlaps(self, other: AddressRange) -> bool:
        """Say whether an address is in both."""
        return self.first <= other.last and other.first <= self.last


def _id_range(value: Any) -> IdRange:
    if isinstance(value, IdRange):
        return value
    match = re.fullmatch(r"([0-9]{1,9})-([0-9]{1,9})", _text(value, "a range of VM ids"))
    if not match:
        message = 'write "first-last", for example "2000-2099"'
        raise ValueError(message)
    first, last = int(match[1]), int(match[2])
    if first < 100:  # noqa: PLR2004 - Proxmox VE keeps ids below 100 to itself
        message = "Proxmox VE's ids begin at 100"
        raise ValueError(message)
    if last < first:
        message = "the last id is below the first"
        raise ValueError(message)
    return IdRange(first, last)


def _vlan_range(value: Any) -> IdRange:
    if isinstance(value, IdRange):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        value = f"{value}-{value}"
    match = re.fullmatch(r"([0-9]{1,4})(?:-([0-9]{1,4}))?", _text(value, "a range of VLANs"))
    if not match:
        message = 'write one VLAN or "first-last", for example "10-99"'
        raise ValueError(message)
    first, last = int(match[1]), int(match[2] or match[1])
    if not 1 <= first <= last <= 4094:  # noqa: PLR2004 - IEEE 802.1Q's ids
        message = "VLANs are 1 to 4094, the lower one first"
        raise ValueError(message)
    return IdRange(first, last)


def _address_range(value: Any) -> AddressRange:
    if isinstance(value, AddressRange):
        return value
    first, dash, last = _text(value, "a range of addresses").partition("-")
    if not dash:
        message = 'write "first-last", for example "10.201.0.20-10.201.0.199"'
        raise ValueError(message)
    result = AddressRange(IPv4Address(first.strip()), IPv4Address(last.strip()))
    if result.last < result.first:
        message = "the last address is below the first"
        raise ValueError(message)
    return result


def _ranges(value: Any) -> tuple[AddressRange, ...]:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, (list, tuple)) or not value:
        message = "write one range or a list of them"
        raise ValueError(message)
    return tuple(_address_range(item) for item in value)


def _address(value: Any) -> IPv4Address:
    return value if isinstance(value, IPv4Address) else IPv4Address(_text(value, "an address"))


def _network(value: Any) -> IPv4Network:
    if isinstance(value, IPv4Network):
        return value
    if not re.fullmatch(r"[0-9.]+/[0-9]{1,2}", _text(value, "a cidr")):
        message = "write address/length, for example 10.201.0.0/24"
        raise ValueError(message)
    return IPv4Network(value)


def _mebibytes(value: Any) -> int:
    match = re.fullmatch(r"([1-9][0-9]{0,7})(Mi|Gi)", value) if isinstance(value, str) else None
    if not match:
        message = "write a whole number with Mi or Gi, for example 8Gi"
        raise ValueError(message)
    return int(match[1]) * (1024 if match[2] == "Gi" else 1)


def _memory(value: Any) -> int:
    size = _mebibytes(value)
    if size < LEAST_MEMORY:
        message = f"a Talos worker needs at least {LEAST_MEMORY // 1024}Gi"
        raise ValueError(message)
    if size % 8:
        message = f"capmox takes memory in steps of 8 MiB; the next lower one is {size // 8 * 8}Mi"
        raise ValueError(message)
    return size


def _gibibytes(value: Any) -> int:
    match = re.fullmatch(r"([1-9][0-9]{0,5})Gi", value) if isinstance(value, str) else None
    if not match:
        message = "write whole GiB, for example 40Gi"
        raise ValueError(message)
    return int(match[1])


def _disk(value: Any) -> int:
    size = _gibibytes(value)
    if size < 5:  # noqa: PLR2004 - capmox's bootVolume.sizeGb
        message = "a boot volume has at least 5Gi"
        raise ValueError(message)
    return size


_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_HOST = re.compile(rf"(?=.{{1,253}}$){_LABEL}(\.{_LABEL})*")
_NUMBER = re.compile(r"(.*\.)?([0-9]+|0x[0-9a-f]*)")
"""A host that ends like a number: every resolver takes it for an IPv4 address, in spellings that differ."""
_LAST_PORT = 65535


def endpoint(value: Any) -> str:
    """Read `https://host` or `https://host:port`, and write it in one spelling. Raises ValueError for anything else."""
    scheme, _, rest = _text(value, "an endpoint").partition("://")
    authority = rest.removesuffix("/")
    if scheme.lower() == "https" and re.search(r"[/?#@]", authority):
        message = "an endpoint has no path (no /api2/json), query or user; the program adds what each client needs"
        raise ValueError(message)
    match = re.fullmatch(r"(\[[^\[\]]*\]|[^\[\]:]+)(?::([0-9]{1,5}))?", authority)
    if scheme.lower() != "https" or not match:
        message = "an endpoint is https://host:port"
        raise ValueError(message)
    port = int(match[2] or 8006)
    if not 1 <= port <= _LAST_PORT:
        message = f"a port is 1 to {_LAST_PORT}"
        raise ValueError(message)
    return f"https://{_host(match[1].lower() if match[1].isascii() else match[1])}:{port}"


def _host(text: str) -> str:
    if text.startswith("["):
        if "%" in text:
            message = "an address with a zone (%) means something on one machine only"
            raise ValueError(message)
        address = IPv6Address(text[1:-1])
        return str(address.ipv4_mapped or f"[{address}]")
    if _NUMBER.fullmatch(text):
        return str(IPv4Address(text))
    if not _HOST.fullmatch(text):
        message = "the host is a DNS name or an address"
        raise ValueError(message)
    return text


def _shown(pattern: str, example: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": pattern, "examples": [example]})


_AsText = PlainSerializer(str, return_type=str)

Word = Annotated[str, StringConstraints(strict=True, pattern=r"^[a-z][a-z0-9]*$", max_length=30)]
"""An environment, tenant, location or cluster: lower-case letters and digits, no `-` (names are joined by it)."""

Label = Annotated[str, StringConstraints(strict=True, pattern=r"^[a-z]([a-z0-9-]*[a-z0-9])?$", max_length=63)]
"""A DNS-1123 label that begins with a letter: namespaces, zones, networks, pools."""

Bridge = Annotated[str, StringConstraints(strict=True, pattern=r"^[A-Za-z][A-Za-z0-9_]{0,14}$")]
"""A Linux bridge's name as capmox can read it back (a `-` or `.` makes it rewrite the NIC for ever)."""

NodeName = Annotated[
    str, StringConstraints(strict=True, pattern=r"^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?$", max_length=63)
]
StorageName = Annotated[
    str, StringConstraints(strict=True, pattern=r"^[A-Za-z][A-Za-z0-9_.-]*[A-Za-z0-9]$", max_length=100)
]
PoolName = Annotated[
    str, StringConstraints(strict=True, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*[A-Za-z0-9]$", max_length=100)
]
"""A Proxmox VE resource pool, not one inside another."""
Tag = Annotated[str, StringConstraints(strict=True, pattern=r"^[a-z0-9_][a-z0-9_+.-]*$")]
ServerType = Annotated[str, StringConstraints(strict=True, pattern=r"^[a-z][a-z0-9]*$", max_length=30)]
PlainText = Annotated[
    str, StringConstraints(strict=True, pattern=r"^[!-~]([ -~]*[!-~])?$", min_length=1, max_length=500)
]
"""One line of ASCII that can be printed, without blanks at its ends."""
Version = Annotated[str, StringConstraints(strict=True, pattern=r"^v(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}$")]
"""`v` + three numbers."""

Vlan = Annotated[int, Field(strict=True)]
VmIds = Annotated[IdRange, BeforeValidator(_id_range), _AsText, _shown(r"^\d+-\d+$", "2000-2099")]
VlanRange = Annotated[IdRange, BeforeValidator(_vlan_range), _AsText, WithJsonSchema({"type": ["integer", "string"]})]
Address = Annotated[IPv4Address, BeforeValidator(_address), _AsText, _shown(r"^[\d.]+$", "10.201.0.1")]
Cidr = Annotated[IPv4Network, BeforeValidator(_network), _AsText, _shown(r"^[\d.]+/\d+$", "10.201.0.0/24")]
Ranges = Annotated[
    tuple[AddressRange, ...],
    BeforeValidator(_ranges),
    PlainSerializer(lambda ranges: [str(item) for item in ranges]),
    WithJsonSchema({"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}),
]
Memory = Annotated[int, BeforeValidator(_memory), _shown(r"^[1-9]\d*(Mi|Gi)$", "8Gi")]
"""MiB."""
NodeMemory = Annotated[int, BeforeValidator(_mebibytes), _shown(r"^[1-9]\d*(Mi|Gi)$", "256Gi")]
"""MiB."""
Disk = Annotated[int, BeforeValidator(_disk), _shown(r"^[1-9]\d*Gi$", "40Gi")]
"""GiB."""
TemplateDisk = Annotated[int, BeforeValidator(_gibibytes), _shown(r"^[1-9]\d*Gi$", "10Gi")]
"""GiB."""
Endpoint = Annotated[str, BeforeValidator(endpoint), _shown("^https://", "https://pve.lab.example:8006")]
"""`https://host:port`, lower case, without path."""
