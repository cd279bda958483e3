"""Rules of the names that are made of a cluster's and a pool's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from settings.machines import machine_name
from settings.rules.views import pool_place, problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from settings.problems import Problem
    from settings.rules.views import TenantView

_LONGEST_DEPLOYMENT = 50
"""Cluster API cuts a machine's name before its random part: longer ones would collide."""
_LONGEST_MACHINE = 63


def names_are_short_enough(view: TenantView) -> Iterator[Problem]:
    """Require that what is named after a pool has a legal name with everything that is appended to it."""
    for cluster, name, pool in view.pools:
        if pool.backend == "capi-proxmox":
            joined, longest, what = f"{cluster}-{name}", _LONGEST_DEPLOYMENT, "MachineDeployment"
        else:
            joined, longest, what = machine_name(cluster, name, max(pool.replicas - 1, 0)), _LONGEST_MACHINE, "machine"
        over = len(joined) - longest
        if over > 0:
            why = f"the {what} {joined} has {len(joined)} characters, and {longest} is the most"
            yield problem("NAME_TOO_LONG", pool_place(cluster, name), name, why, f"a name shorter by {over}")


def names_do_not_clash(view: TenantView) -> Iterator[Problem]:
    """Require that no pool is named like a machine of another: `a-1` beside machine 1 of pool `a`."""
    found = {(cluster, name): pool for cluster, name, pool in view.pools}
    for cluster, name in found:
        match = re.fullmatch(r"(.+)-\d+", name)
        other = found.get((cluster, match[1])) if match else None
        if match and other and other.backend != "capi-proxmox":
            why = f"{cluster}-{name} is also the name of a machine of pool {match[1]}"
            fix = "a name that is not another pool's with a number behind it"
            yield problem("NAME_CLASH", pool_place(cluster, name), name, why, fix)
