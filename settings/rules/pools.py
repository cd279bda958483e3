"""Rules of one pool by itself: how many machines, and how they are replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from settings.rules.views import pool_place, problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from settings.problems import Problem
    from settings.rules.views import TenantView


def replicas_or_scale(view: TenantView) -> Iterator[Problem]:
    """Require that a Cluster API pool has a fixed size or bounds for an autoscaler."""
    for cluster, name, pool in view.pools:
        if pool.backend != "capi-proxmox":
            continue
        place = pool_place(cluster, name)
        if not (view.examined.sound(*place, "scale") and view.examined.sound(*place, "replicas")):
            continue
        if (pool.replicas is None) == (pool.scale is None):
            both = pool.scale is not None
            why = "an autoscaler and a fixed number would undo each other" if both else "nothing says how many machines"
            fix = "write replicas: 3, or scale: {min: 1, max: 5}" + (", not both" if both else "")
            yield problem("REPLICAS_OR_SCALE", place, None, why, fix)
        elif pool.scale and pool.scale.min > pool.scale.max:
            why = f"it is above the max of {pool.scale.max}"
            yield problem(
                "MIN_ABOVE_MAX", (*place, "scale", "min"), pool.scale.min, why, f"write {pool.scale.max} or less"
            )


def rollouts_move(view: TenantView) -> Iterator[Problem]:
    """Require that a rolling update adds or takes away at least one machine at a time."""
    for cluster, name, pool in view.pools:
        if pool.backend == "capi-proxmox" and pool.rollout.surge == pool.rollout.unavailable == 0:
            why = "with surge and unavailable both 0 an update can replace nothing"
            place = pool_place(cluster, name, "rollout")
            yield problem("ROLLOUT_STUCK", place, None, why, "write {surge: 1, unavailable: 0}")


def server_types_run_the_images(view: TenantView) -> Iterator[Problem]:
    """Refuse Hetzner Cloud's Arm types: the images are looked up for x86."""
    for cluster, name, pool in view.pools:
        if pool.backend == "hcloud-server" and pool.server_type.startswith("cax"):
            why = "servers of this type have Arm processors, which are not built yet: the images are x86's"
            place = pool_place(cluster, name, "serverType")
            yield problem("NOT_AVAILABLE", place, pool.server_type, why, "use a type with an x86 processor, like cpx32")
