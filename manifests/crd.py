"""The CustomResourceDefinitions of the tables of networks as the API server knows them.

ProxmoxNetworkZone is one bridge's table, each binding of a zone's policies reads its own. ProxmoxNetworkTable holds the
rows of all zones, and what else the platform gave each namespace, for the policies that must know everything.
"""

from __future__ import annotations

from typing import Any

from manifests.common import metadata
from manifests.generations import KINDS
from manifests.manifest import Manifest, named
from settings.table import MAX_ALL_NETWORKS, MAX_NETWORKS, MAX_RANGES

_KIND = "ProxmoxNetworkZone"
_TABLE = "ProxmoxNetworkTable"
_OCTET = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_ADDRESS = rf"{_OCTET}(\.{_OCTET}){{3}}"

NAME = f"{KINDS[_KIND].plural}.{KINDS[_KIND].group}"
LOGICAL_NAME = named("CustomResourceDefinition", NAME)
TABLE_NAME = f"{KINDS[_TABLE].plural}.{KINDS[_TABLE].group}"
TABLE_LOGICAL_NAME = named("CustomResourceDefinition", TABLE_NAME)

_NAMESPACE = {"type": "string", "minLength": 1, "maxLength": 63}
_NAME = {"type": "string", "minLength": 1, "maxLength": 253}
_BRIDGE = {"type": "string", "maxLength": 15, "pattern": "^[A-Za-z][A-Za-z0-9_]{0,14}$"}
_VLAN = {"type": "integer", "minimum": 2, "maximum": 4094}
_ADDRESSES: dict[str, Any] = {
    "type": "array",
    "minItems": 1,
    "maxItems": MAX_RANGES,
    "x-kubernetes-list-type": "atomic",
    "items": {"type": "string", "maxLength": 31, "pattern": f"^{_ADDRESS}-{_ADDRESS}$"},
    "description": 'Ranges "first-last", exactly as the pool has them.',
}
_GATEWAY = {"type": "string", "format": "ipv4", "maxLength": 15}
_PREFIX = {"type": "integer", "minimum": 1, "maximum": 30}

# Written so that the API server's estimate of their cost stays within its budget: one split a range, not nested ones.
_PARTS = "self.addresses.all(a, [a.replace('-', '.').split('.').map(o, int(o))].all(r, {}))"
_FIRST, _LAST, _OWN = (
    f"(({at[0]} * 256 + {at[1]}) * 256 + {at[2]}) * 256 + {at[3]}"
    for at in (["r[0]", "r[1]", "r[2]", "r[3]"], ["r[4]", "r[5]", "r[6]", "r[7]"], ["g[0]", "g[1]", "g[2]", "g[3]"])
)
_SIZES = [2 ** (32 - prefix) for prefix in range(1, 31)]

_ROW_RULES = [
    {
        "rule": "!self.pool.endsWith('-icip')",
        "message": "a pool's name does not end in -icip: capmox would take it for its own and overwrite it",
        "fieldPath": ".pool",
    },
    {
        "rule": "[self.gateway.split('.').map(o, int(o))].all(g, "
        f"[{_SIZES}[self.prefix - 1]].all(s, "
        + _PARTS.format(f"({_FIRST}) / s == ({_OWN}) / s && ({_LAST}) / s == ({_OWN}) / s")
        + "))",
        "message": "every range lies in the gateway's network",
        "fieldPath": ".addresses",
    },
    {
        "rule": _PARTS.format(f"{_FIRST} <= {_LAST}"),
        "message": "a range's first address comes first",
        "fieldPath": ".addresses",
    },
    {
        "rule": "[self.gateway.split('.').map(o, int(o))].all(g, "
        + _PARTS.format(f"{_OWN} < {_FIRST} || {_LAST} < {_OWN}")
        + ")",
        "message": "the gateway lies in no range",
        "fieldPath": ".gateway",
    },
]

_NETWORK: dict[str, Any] = {
    "type": "object",
    "required": ["name", "namespace", "vlan", "pool", "addresses", "gateway", "prefix"],
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 63, "description": "The network's name."},
        "namespace": {**_NAMESPACE, "description": "The one namespace whose machines may stand on this VLAN."},
        "vlan": {**_VLAN, "description": "Unique in the zone."},
        "pool": {
            **_NAME,
            "description": "The InClusterIPPool of that namespace from which machines on this VLAN get addresses.",
        },
        "addresses": _ADDRESSES,
        "gateway": _GATEWAY,
        "prefix": _PREFIX,
    },
    "x-kubernetes-validations": _ROW_RULES,
}

_SPEC: dict[str, Any] = {
    "type": "object",
    "required": ["bridge", "networks"],
    "properties": {
        "bridge": {
            **_BRIDGE,
            "description": "The bridge's name on every Proxmox VE node of the zone; one zone per name.",
        },
        "networks": {
            "type": "array",
            "maxItems": MAX_NETWORKS,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["vlan"],
            "items": _NETWORK,
        },
    },
}


_ROW = {
    "name": {"type": "string", "minLength": 1, "maxLength": 63, "description": "Unique over all zones."},
    "namespace": _NAMESPACE,
    "bridge": _BRIDGE,
    "vlan": _VLAN,
    "addresses": _ADDRESSES,
    "gateway": _GATEWAY,
    "prefix": _PREFIX,
}

_PLACE = {
    "namespace": _NAMESPACE,
    "location": {"type": "string", "minLength": 1, "maxLength": 63},
    "pool": {**_NAME, "description": "The Proxmox VE resource pool of the namespace's machines."},
    "storage": {**_NAME, "description": "Where their disks go."},
    "tags": {
        "type": "array",
        "minItems": 1,
        "maxItems": 32,
        "x-kubernetes-list-type": "set",
        "items": {"type": "string", "maxLength": 63},
        "description": "All tags of the template of which they are made.",
    },
    "templateId": {"type": "integer", "minimum": 100, "maximum": 999_999_999},
    "templateNode": {"type": "string", "minLength": 1, "maxLength": 63},
}


def _list(properties: dict[str, Any]) -> dict[str, Any]:
    """Give a list of objects; atomic, since the API server's notes on each entry would make a large one too large."""
    return {
        "type": "array",
        "maxItems": MAX_ALL_NETWORKS,
        "x-kubernetes-list-type": "atomic",
        "items": {"type": "object", "required": list(properties), "properties": properties},
    }


def crd() -> Manifest:
    """Give the zones' definition: keyed by VLAN, so a VLAN has one owner."""
    column = {"name": "Bridge", "type": "string", "jsonPath": ".spec.bridge"}
    return _definition(_KIND, _SPEC, "A bridge of Proxmox VE and which namespace has which VLAN on it.", [column])


def table_crd() -> Manifest:
    """Give the definition of the table of all rows, of which there is one object."""
    spec = {
        "type": "object",
        "required": ["networks", "places"],
        "properties": {
            "networks": {**_list(_ROW), "description": "Every network of every zone."},
            "places": {
                **_list(_PLACE),
                "description": "What a namespace's machines are made of, for each location that it has.",
            },
        },
    }
    return _definition(_TABLE, spec, "The networks of all zones, and what else the platform gave each namespace.", [])


def _definition(name: str, spec: dict[str, Any], description: str, columns: list[dict[str, str]]) -> Manifest:
    """Give a definition: cluster-scoped, no status, no controller."""
    kind = KINDS[name]
    names = {"kind": name, "listKind": f"{name}List", "plural": kind.plural, "singular": name.lower()}
    schema = {
        "type": "object",
        "description": description,
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": spec,
        },
    }
    age = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
    body = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata(f"{kind.plural}.{kind.group}"),
        "spec": {
            "group": kind.group,
            "scope": "Cluster",
            "names": names,
            "versions": [
                {
                    "name": "v1alpha1",
                    "served": True,
                    "storage": True,
                    "additionalPrinterColumns": [*columns, age],
                    "schema": {"openAPIV3Schema": schema},
                }
            ],
        },
    }
    return Manifest(body, "isolation")
