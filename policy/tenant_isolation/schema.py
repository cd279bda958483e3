"""The shape of the pack's config, as JSON Schema: the engine checks it before it runs anything."""

from __future__ import annotations

from typing import Any

KINDS = ("environment", "tenant")
LOCATION_TYPES = ("proxmox", "hcloud")
MAX_VLAN = 4094

_TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
_TEXTS: dict[str, Any] = {"type": "array", "items": _TEXT}
_VLAN: dict[str, Any] = {"type": "integer", "minimum": 1, "maximum": MAX_VLAN}
_ID: dict[str, Any] = {"type": "integer", "minimum": 1}


def _pair(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item, "minItems": 2, "maxItems": 2}


_TEMPLATE = {
    "type": "object",
    "required": ["id", "node", "tags"],
    "properties": {"id": _ID, "node": _TEXT, "tags": _TEXTS},
}
_TENANT_THERE = {
    "type": "object",
    "properties": {
        "pool": _TEXT,
        "vmIds": _pair(_ID),
        "isoStorage": _TEXT,
        "cidr": _TEXT,
        "subnet": _TEXT,
    },
}

SCHEMA: dict[str, dict[str, Any]] = {
    "stacks": {
        "type": "object",
        "minProperties": 1,
        "additionalProperties": {
            "type": "object",
            "required": ["kind"],
            "properties": {"kind": {"enum": list(KINDS)}, "tenant": _TEXT, "namespace": _TEXT, "context": _TEXT},
        },
    },
    "locations": {
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "required": ["type", "tenants"],
            "properties": {
                "type": {"enum": list(LOCATION_TYPES)},
                "endpoint": _TEXT,
                "nodes": _TEXTS,
                "storage": _TEXT,
                "templates": {"type": "array", "items": _TEMPLATE},
                "templatePool": _TEXT,
                "region": _TEXT,
                "tenants": {"type": "object", "additionalProperties": _TENANT_THERE},
            },
        },
    },
    "networks": {
        "type": "array",
        "items": {
            "type": "object",
            "required": [
                "name",
                "bridge",
                "vlan",
                "tenant",
                "namespace",
                "location",
                "addresses",
                "gateway",
                "prefix",
            ],
            "properties": {
                **dict.fromkeys(("name", "zone", "bridge", "tenant", "namespace", "location", "gateway"), _TEXT),
                "vlan": _VLAN,
                "addresses": _TEXTS,
                "prefix": {"type": "integer", "minimum": 1, "maximum": 32},
            },
        },
    },
    "openBridges": {
        "type": "array",
        "items": {
            "type": "object",
            "required": ["bridge"],
            "properties": {"bridge": _TEXT, "vlans": {"type": "array", "items": _pair(_VLAN)}},
        },
    },
}
"""JSON Schema of each part of the config."""

REQUIRED = ("stacks", "locations", "networks")
"""Parts that must be there; without `openBridges` none is open."""
