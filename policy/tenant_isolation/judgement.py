"""One verdict on one resource: for a tenant's stack a list of what is allowed, for an environment's what is not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tenant_isolation import kubernetes, proxmox
from tenant_isolation.reading import ABSENT, read
from tenant_isolation.verdicts import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from tenant_isolation.verdicts import Case

COMPONENTS = "hybrid:index:"
HCLOUD_PROVIDER = "pulumi:providers:hcloud"
HCLOUD_TYPES = (
    "hcloud:index/server:Server",
    "hcloud:index/placementGroup:PlacementGroup",
    "hcloud:index/firewall:Firewall",
)
STACK = "pulumi:pulumi:Stack"
STACK_REFERENCE = "pulumi:pulumi:StackReference"
REFERENCE_PROVIDER = "pulumi:providers:pulumi"
"""The engine makes it by itself for a StackReference."""

_GUEST = re.compile(r"proxmoxve:[^:]*:(vm|virtualmachine|container|lxc)|hcloud:[^:]*:server$", re.IGNORECASE)
"""Type tokens of guests, over all versions of the SDKs: VmLegacy, Vm, Vm2Legacy, VirtualMachine, ContainerLegacy."""


def problems(case: Case) -> list[str]:
    """Say everything that is wrong with a resource; nothing if it may be made."""
    return _tenant_problems(case) if case.stack.is_tenant else _environment_problems(case)


def _tenant_problems(case: Case) -> list[str]:
    token = case.resource.type
    rule = _RULES.get(token)
    if rule is not None:
        return rule(case)
    if token.startswith(COMPONENTS):
        return _component_problems(case)
    if token.startswith(kubernetes.PREFIX):
        return kubernetes.object_problems(case)
    return [f"A tenant's stack makes no {token}. It may make VmLegacy clones, Hetzner servers and Cluster API objects."]


def _environment_problems(case: Case) -> list[str]:
    token = case.resource.type
    kind = kubernetes.kind_of(token) if token.startswith(kubernetes.PREFIX) else None
    if _GUEST.match(token) or (kind is not None and "Machine" in kind.name):
        return [f"An environment makes no machines, and {token} is one. Machines belong in a tenant's stack."]
    return []


def _nothing_to_judge(_: Case) -> list[str]:
    return []


def _component_problems(case: Case) -> list[str]:
    if case.resource.provider is None:
        return []
    return [f"{case.resource.type} comes from a provider; the project's components are part of the program."]


def _hcloud_problems(case: Case) -> list[str]:
    provider = case.resource.provider
    if provider is None or provider.type != HCLOUD_PROVIDER or provider.is_default:
        return ["It has no explicit Hetzner Cloud provider, so whose project it is in is not known. Give it one."]
    return _token_problems(provider.props)


def _hcloud_provider_problems(case: Case) -> list[str]:
    return _token_problems(case.resource.props)


def _token_problems(props: object) -> list[str]:
    if read(props, "token") is not ABSENT:
        return []
    return ["Its Hetzner Cloud provider has no token, so it would use that of whoever runs it. Give it the tenant's."]


def _reference_problems(case: Case) -> list[str]:
    name = read(case.resource.props, "name")
    own = case.stack.name
    if isinstance(name, str) and name.rpartition("/")[2] == own:
        return []
    return [f"It reads stack {shown(name)}; {own} reads its own outputs alone, and the rest from its handover."]


_RULES: dict[str, Callable[[Case], list[str]]] = {
    STACK: _nothing_to_judge,
    REFERENCE_PROVIDER: _nothing_to_judge,
    STACK_REFERENCE: _reference_problems,
    kubernetes.PROVIDER: _nothing_to_judge,
    HCLOUD_PROVIDER: _hcloud_provider_problems,
    proxmox.PROVIDER: proxmox.provider_problems,
    proxmox.VM: proxmox.vm_problems,
    proxmox.FILE: proxmox.file_problems,
    **dict.fromkeys(HCLOUD_TYPES, _hcloud_problems),
}
"""What a tenant's stack may make, by type, and how each is judged."""
