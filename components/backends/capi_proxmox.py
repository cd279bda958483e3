"""Backend `capi-proxmox`: a MachineDeployment whose machines Cluster API makes on Proxmox VE."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from manifests.manifest import Manifest
from manifests.pool import MACHINE_TEMPLATE
from manifests.pool import pool as render
from settings.access import resource_pool
from settings.environment import ProxmoxLocation

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pulumi

    from components.tenant_run import TenantRun
    from settings.stack import TenantSettings


@dataclass(frozen=True)
class Templates:
    """What the `templates` output says of one pool: the templates in use, and those in use before them.

    Each is kind → the object as JSON text (text, since numbers in outputs come back as floats).
    """

    current: pulumi.Output[dict[str, str]]
    previous: dict[str, str]


def capi_proxmox(run: TenantRun, cluster: str, pool: str, parent: pulumi.Resource) -> Templates:
    """Register a pool's templates, MachineDeployment and health check.

    A template that a rolling update replaces stays until the pool's next change of templates, since MachineSets clone
    from it meanwhile. Which one that was is known only once the MachineDeployment has really changed, so `current`
    hangs on it, and is read back from the stack's own last outputs.
    """
    rendered = render(run.settings, cluster, pool)
    current = {kind: manifest.body for kind, manifest in rendered.templates.items()}
    kept_before = kept(current, run.last_templates.get(f"{cluster}-{pool}", {}))
    previous = {kind: text for kind, text in kept_before.items() if is_allowed(json.loads(text), run.settings)}
    run.objects.register_all(rendered.templates.values(), parent)
    after = next(iter(rendered.templates.values())).after
    old = [Manifest(json.loads(text), rendered.deployment.part, after) for text in previous.values()]
    run.objects.register_all(old, parent)
    # It comes after the kept templates too, so that it is gone before they are.
    deployment = run.objects.register(rendered.deployment.with_after(item.name for item in old), parent)
    run.objects.register(rendered.health_check, parent)
    texts = {kind: json.dumps(body, sort_keys=True) for kind, body in current.items()}
    return Templates(deployment.id.apply(lambda _: texts), previous)


def is_allowed(body: Mapping[str, Any], settings: TenantSettings) -> bool:
    """Say whether a kept template is still all the tenant's own: network, ids, pool, storage, VM template.

    Nothing may be cloned from it if not, and the policy pack would refuse it.
    """
    if body["kind"] != MACHINE_TEMPLATE:
        return True
    spec = body["spec"]["template"]["spec"]
    nic = spec["network"]["default"]
    row = settings.rows.get(nic["ipv4PoolRef"]["name"])
    location = settings.environment.locations.get(row.location) if row is not None else None
    if row is None or not isinstance(location, ProxmoxLocation) or settings.tenant not in location.tenants:
        return False
    ids, own = spec["vmIDRange"], location.tenants[settings.tenant].vm_ids
    templates = [sorted(item.tags) for item in (location.template, *location.former_templates)]
    return (
        (row.bridge, row.vlan) == (nic["bridge"], nic["vlan"])
        and own.first <= ids["start"] <= ids["end"] <= own.last
        and spec["pool"] == resource_pool(settings.environment_name, settings.tenant)
        and spec["storage"] == location.storage.name
        and sorted(spec["templateSelector"]["matchTags"]) in templates
    )


def kept(current: Mapping[str, Any], last: Mapping[str, Any]) -> dict[str, str]:
    """Choose, kind by kind, the template to keep beside the current one.

    Same current template as last time: whatever was kept then. A new one: the one that was current.
    """
    chosen: dict[str, str] = {}
    for kind, body in current.items():
        was: str | None = (last.get("current") or {}).get(kind)
        before: str | None = (last.get("previous") or {}).get(kind)
        same = was is not None and _name(was) == body["metadata"]["name"]
        keep = before if same else was
        if keep is not None and _name(keep) != body["metadata"]["name"]:
            chosen[kind] = keep
    return chosen


def _name(text: str) -> str:
    name: str = json.loads(text)["metadata"]["name"]
    return name
