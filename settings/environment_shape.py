"""The environment's map: its shape, and what stands in for its faulty parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from settings.environment import Environment
from settings.places import ENVIRONMENT_KEY
from settings.shape import CUT, Examined, Examiner

if TYPE_CHECKING:
    from collections.abc import Mapping

_STAND_INS: dict[tuple[str | int, ...], Any] = {
    ("management",): {"context": "broken", "generation": "capi-1.10"},
    ("management", "context"): "broken",
    ("management", "generation"): "capi-1.10",
    **{
        ("management", key): CUT
        for key in (
            "protect",
            "guard",
            "openBridges",
            "openVlans",
            "controllers",
            "kamajiServicePorts",
            "podCidr",
            "serviceCidr",
        )
    },
    ("tenants",): CUT,
    ("tenants", "*"): CUT,
    ("tenants", "*", "rotation"): CUT,
    ("locations",): CUT,
    ("locations", "*"): CUT,
    **{
        ("locations", "*", key): CUT
        for key in ("ca", "formerTemplates", "pve", "region", "dnsServers", "uplink", "tenants")
    },
    ("locations", "*", "tenants", "*"): CUT,
    **{("locations", "*", "template", key): CUT for key in ("disk", "pool")},
    ("locations", "*", "tenants", "*", "rotation"): CUT,
    ("zones",): CUT,
    ("zones", "*"): CUT,
    ("zones", "*", "bridge"): lambda number: f"broken{number}",
    ("zones", "*", "locations"): ["broken"],
    **{("zones", "*", key): CUT for key in ("mode", "nativeVlan", "reserved", "retired", "networks")},
    ("zones", "*", "networks", "*"): CUT,
    # No other row has these, and what a rule says of them is not told.
    ("zones", "*", "networks", "*", "vlan"): lambda number: 100_000 + number,
    ("zones", "*", "networks", "*", "gateway"): "0.0.0.0",  # noqa: S104 - nothing listens here
    ("zones", "*", "networks", "*", "range"): "0.0.0.1-0.255.255.254",
}


def examine_environment(raw: Mapping[str, Any]) -> Examined[Environment]:
    """Check the shape of `hybrid:environment`."""
    return Examiner(Environment, ENVIRONMENT_KEY, _STAND_INS).examine(raw)
