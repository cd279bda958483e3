"""The CustomResourceDefinition of ProxmoxNetworkZone: the table of networks as the API server knows it."""

from __future__ import annotations

from typing import Any

from manifests.common import metadata
from manifests.generations import KINDS
from manifests.manifest import Manifest, named

_KIND = "ProxmoxNetworkZone"
_ADDRESS = r"[0-9]{1,3}(\.[0-9]{1,3}){3}"

NAME = f"{KINDS[_KIND].plural}.{KINDS[_KIND].group}"
LOGICAL_NAME = named("CustomResourceDefinition", NAME)

MAX_NETWORKS = 512
"""Rows of a zone; the policies search them within the API server's cost limits."""

_NETWORK: dict[str, Any] = {
    "type": "object",
    "required": ["name", "namespace", "vlan", "pool", "addresses", "gateway", "prefix"],
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 63, "description": "The network's name."},
        "namespace": {
            "type": "string",
            "minLength": 1,
            "maxLength": 63,
            "description": "The one namespace whose machines may stand on this VLAN.",
        },
        "vlan": {"type": "integer", "minimum": 2, "maximum": 4094, "description": "Unique in the zone."},
        "pool": {
            "type": "string",
            "minLength": 1,
            "maxLength": 253,
            "description": "The InClusterIPPool of that namespace from which machines on this VLAN get addresses.",
        },
        "addresses": {
            "type": "array",
            "minItems": 1,
            "maxItems": 64,
            "x-kubernetes-list-type": "atomic",
            "items": {"type": "string", "maxLength": 31, "pattern": f"^{_ADDRESS}-{_ADDRESS}$"},
            "description": 'Ranges "first-last", exactly as the pool has them.',
        },
        "gateway": {"type": "string", "format": "ipv4", "maxLength": 15},
        "prefix": {"type": "integer", "minimum": 1, "maximum": 30},
    },
}

_SPEC: dict[str, Any] = {
    "type": "object",
    "required": ["bridge", "networks"],
    "properties": {
        "bridge": {
            "type": "string",
            "maxLength": 15,
            "pattern": "^[A-Za-z][A-Za-z0-9_]{0,14}$",
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


def crd() -> Manifest:
    """Give the definition: cluster-scoped, no status, no controller; keyed by VLAN, so a VLAN has one owner."""
    kind = KINDS[_KIND]
    names = {"kind": _KIND, "listKind": f"{_KIND}List", "plural": kind.plural, "singular": _KIND.lower()}
    schema = {
        "type": "object",
        "description": "A bridge of Proxmox VE and which namespace has which VLAN on it.",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": _SPEC,
        },
    }
    columns = [
        {"name": "Bridge", "type": "string", "jsonPath": ".spec.bridge"},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ]
    body = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata(NAME),
        "spec": {
            "group": kind.group,
            "scope": "Cluster",
            "names": names,
            "versions": [
                {
                    "name": "v1alpha1",
                    "served": True,
                    "storage": True,
                    "additionalPrinterColumns": columns,
                    "schema": {"openAPIV3Schema": schema},
                }
            ],
        },
    }
    return Manifest(body, "isolation")
