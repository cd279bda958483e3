"""The program of a tenant stack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pulumi

from components.handover import read_handover
from components.management import management_provider
from components.moved import require_moved
from components.objects import Objects
from components.providers import providers
from components.tenant_cluster import TenantCluster
from components.tenant_run import TenantRun
from components.worker_pool import WorkerPool

if TYPE_CHECKING:
    from settings.stack import TenantSettings


async def tenant(settings: TenantSettings) -> dict[str, Any]:
    """Register a tenant's clusters and pools, with the tenant's own identity and tokens.

    Stops before anything is registered where the handover does not fit the environment file.
    """
    management = management_provider(settings.stack, settings.environment_name)
    handover = await read_handover(settings, management)
    await require_moved(settings)
    run = TenantRun(settings, Objects(management), providers(settings, handover), handover, await _last_templates())
    templates: dict[str, Any] = {}
    machines: dict[str, Any] = {}
    for name, cluster in sorted(settings.clusters.items()):
        component = TenantCluster(name, settings, run.objects)
        for pool in sorted(cluster.pools):
            workers = WorkerPool(run, name, pool, pulumi.ResourceOptions(parent=component))
            machines[f"{name}-{pool}"] = workers.machines
            if workers.templates is not None:
                templates[f"{name}-{pool}"] = workers.templates
    run.objects.close()
    return {"templates": templates, "machines": machines}


async def _last_templates() -> dict[str, Any]:
    """Read the `templates` output of this stack's own last run; nothing on the first."""
    own = f"{pulumi.get_organization()}/{pulumi.get_project()}/{pulumi.get_stack()}"
    found = await pulumi.StackReference(own).get_output_details("templates")
    return found.value or {}
