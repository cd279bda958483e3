"""A pool's labels and taints, in the forms that Talos, Cluster API and the autoscaler want."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from manifests.common import LOCATION, POOL, REGION

if TYPE_CHECKING:
    from settings.stack import TenantSettings


@dataclass(frozen=True)
class Taint:
    """A node's taint; `value` may be empty."""

    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        """Write it as the stack file does."""
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


def taint(text: str) -> Taint:
    """Read "key=value:Effect" or "key:Effect"."""
    head, _, effect = text.rpartition(":")
    key, _, value = head.partition("=")
    return Taint(key, value, effect)


def taints(settings: TenantSettings, cluster: str, pool: str) -> list[Taint]:
    """Give a pool's taints, sorted."""
    return [taint(text) for text in sorted(settings.clusters[cluster].pools[pool].taints)]


def labels(settings: TenantSettings, cluster: str, pool: str) -> dict[str, str]:
    """Give every label that the pool's nodes have: its own and the three of every worker, sorted."""
    location = settings.location_of(cluster, pool)
    region = settings.environment.locations[location].region or location
    own = {LOCATION: location, POOL: pool, REGION: region}
    return dict(sorted({**settings.clusters[cluster].pools[pool].labels, **own}.items()))


def synced(key: str) -> bool:
    """Say whether Cluster API 1.10 copies a label of this key from a Machine to its Node."""
    domain, slash, _ = key.partition("/")
    if not slash:
        return False
    return domain == "node-role.kubernetes.io" or any(
        domain == known or domain.endswith(f".{known}")
        for known in ("node-restriction.kubernetes.io", "node.cluster.x-k8s.io")
    )


def refused_to_kubelets(key: str) -> bool:
    """Say whether the API server refuses a label of this key from a node, so that only Cluster API can set it."""
    domain = key.partition("/")[0]
    return synced(key) and not (domain == "node.cluster.x-k8s.io" or domain.endswith(".node.cluster.x-k8s.io"))
