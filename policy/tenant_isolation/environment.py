"""What an environment's stack may make, and what it may not: machines, and whatever no rule here judges."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tenant_isolation.kinds import PREFIX, kind_of
from tenant_isolation.networks import NETWORKS
from tenant_isolation.platform_objects import object_problems
from tenant_isolation.rights import RIGHTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tenant_isolation.verdicts import Case

JUDGES: Mapping[str, Callable[[Case], list[str]]] = {**RIGHTS, **NETWORKS}

_GUEST = re.compile(r"proxmoxve:[^:]*:(vm|virtualmachine|container|lxc)|hcloud:[^:]*:server$", re.IGNORECASE)
"""Type tokens of guests, over all versions of the SDKs: VmLegacy, Vm, Vm2Legacy, VirtualMachine, ContainerLegacy."""


def other_problems(case: Case) -> list[str]:
    """Judge a Kubernetes object of the platform; refuse everything else."""
    token = case.resource.type
    kind = kind_of(token) if token.startswith(PREFIX) else None
    if _GUEST.match(token) or (kind is not None and "Machine" in kind.name):
        return [f"An environment makes no machines, and {token} is one. Machines belong in a tenant's stack."]
    if token.startswith(PREFIX):
        return object_problems(case, kind)
    return [f"An environment's stack makes no {token}: it is no network or right that this pack can judge."]
