"""A tenant's map: its shape, and what stands in for its faulty parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from settings.places import TENANT_KEY
from settings.shape import CUT, Examined, Examiner
from settings.tenant import TenantStack

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_SIZE = {"cpu": 1, "memory": "1Gi", "disk": "5Gi"}
"""The smallest there is; what a rule says of it is not told."""

_STAND_INS: dict[tuple[str | int, ...], Any] = {
    ("environment",): "broken",
    ("clusters",): CUT,
    ("clusters", "*"): CUT,
    ("clusters", "*", "home"): "broken",
    ("clusters", "*", "network"): CUT,
    ("clusters", "*", "kubernetes"): "v0.0.0",
    ("clusters", "*", "talos"): "v0.0.0",
    ("clusters", "*", "controlPlane"): {"type": "kamaji", "address": "0.0.0.0"},  # noqa: S104 - nothing listens here
    ("clusters", "*", "connectivity"): "routed",
    ("clusters", "*", "pools"): CUT,
    ("clusters", "*", "pools", "*"): CUT,
    **{("clusters", "*", "pools", "*", key): CUT for key in ("labels", "taints", "nodes", "rollout")},
    ("clusters", "*", "pools", "*", "labels", "*"): CUT,
    ("clusters", "*", "pools", "*", "taints", "*"): lambda number: f"broken{number}:NoSchedule",
    ("clusters", "*", "pools", "*", "nodes", "*"): lambda number: f"broken{number}",
    ("clusters", "*", "pools", "*", "replicas"): 0,
    ("clusters", "*", "pools", "*", "scale"): {"min": 0, "max": 0},
    ("clusters", "*", "pools", "*", "serverType"): "broken",
    ("clusters", "*", "pools", "*", "size"): _SIZE,
    **{("clusters", "*", "pools", "*", "size", key): value for key, value in _SIZE.items()},
}


def examine_tenant(
    raw: Mapping[str, Any], own_networks: Callable[[Mapping[str, Any]], Sequence[str]]
) -> Examined[TenantStack]:
    """Check the shape of `hybrid:tenant`; `own_networks` gives the networks that a pool (its raw map) could name."""
    return Examiner(TenantStack, TENANT_KEY, _STAND_INS, own_networks).examine(raw)
