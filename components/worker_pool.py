"""WorkerPool: a named set of equal workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pulumi

from components.backends.capi_proxmox import capi_proxmox
from components.backends.hcloud_server import hcloud_servers
from components.backends.proxmox_vm import proxmox_vms

if TYPE_CHECKING:
    from components.tenant_run import TenantRun


class WorkerPool(pulumi.ComponentResource):
    """The workers of one pool, from whichever backend its stack file names.

    The component's name is `<cluster>-<pool>`. Inputs: the tenant's run, cluster and pool. Outputs: `machines`, what is
    known of each direct machine (`name`, `location`, `vlan`, `address`, …); `templates`, the Cluster API templates in
    use and kept (None for direct machines).
    """

    TYPE = "hybrid:index:WorkerPool"

    def __init__(self, run: TenantRun, cluster: str, pool: str, opts: pulumi.ResourceOptions | None = None) -> None:
        """Register the pool's resources below this component."""
        super().__init__(self.TYPE, f"{cluster}-{pool}", None, opts)
        backend = run.settings.clusters[cluster].pools[pool].backend
        self.machines: list[pulumi.Output[dict[str, Any]]] = []
        self.templates: dict[str, Any] | None = None
        if backend == "capi-proxmox":
            templates = capi_proxmox(run, cluster, pool, self)
            self.templates = {"current": templates.current, "previous": templates.previous}
        elif backend == "proxmox-vm":
            self.machines = proxmox_vms(run, cluster, pool, self)
        else:
            self.machines = hcloud_servers(run, cluster, pool, self)
        self.register_outputs({"machines": self.machines})
