"""TenantCluster: one tenant Kubernetes cluster on the management cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

from manifests.cluster import cluster

if TYPE_CHECKING:
    from components.objects import Objects
    from settings.stack import TenantSettings


class TenantCluster(pulumi.ComponentResource):
    """A tenant cluster's Cluster API objects in its home location.

    Inputs: the tenant's settings and the cluster's name, which is the component's. Outputs: `endpoint`
    (`https://address:6443`). Its pools are components of their own below it.
    """

    TYPE = "hybrid:index:TenantCluster"

    def __init__(
        self,
        name: str,
        settings: TenantSettings,
        objects: Objects,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Register Cluster, control plane and infrastructure cluster."""
        super().__init__(self.TYPE, name, None, opts)
        objects.register_all(cluster(settings, name), self)
        self.endpoint = f"https://{settings.clusters[name].control_plane.address}:6443"
        self.register_outputs({"endpoint": self.endpoint})
