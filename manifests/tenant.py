"""Every Kubernetes object of a tenant's stack, in the order in which they are made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from manifests.cluster import cluster
from manifests.order import ordered
from manifests.pool import pool
from settings.tenant import CapiProxmoxPool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from manifests.manifest import Manifest
    from settings.stack import TenantSettings


def tenant(settings: TenantSettings) -> list[Manifest]:
    """Give the tenant's objects: each cluster, then those of its pools that Cluster API makes."""
    return ordered(_all(settings))


def _all(settings: TenantSettings) -> Iterator[Manifest]:
    for cluster_name, chosen in sorted(settings.clusters.items()):
        yield from cluster(settings, cluster_name)
        for pool_name, wanted in sorted(chosen.pools.items()):
            if isinstance(wanted, CapiProxmoxPool):
                yield from pool(settings, cluster_name, pool_name).all
