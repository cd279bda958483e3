"""One verdict on one resource: for every stack a list of what it may make, and how each of it is judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tenant_isolation import environment, guests, objects, providers, servers
from tenant_isolation.kinds import PREFIX
from tenant_isolation.reading import read
from tenant_isolation.verdicts import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tenant_isolation.verdicts import Case

COMPONENTS = "hybrid:index:"
STACK = "pulumi:pulumi:Stack"
STACK_REFERENCE = "pulumi:pulumi:StackReference"
REFERENCE_PROVIDER = "pulumi:providers:pulumi"
"""The engine makes it by itself for a StackReference."""


def problems(case: Case) -> list[str]:
    """Say everything that is wrong with a resource; nothing if it may be made."""
    token = case.resource.type
    rule = (TENANT if case.stack.is_tenant else ENVIRONMENT).get(token)
    if rule is not None:
        return rule(case)
    if token.startswith(COMPONENTS):
        return _component_problems(case)
    if case.stack.is_tenant:
        if token.startswith(PREFIX):
            return objects.object_problems(case)
        return [
            f"A tenant's stack makes no {token}. It may make VmLegacy clones, Hetzner servers and Cluster API objects."
        ]
    return environment.other_problems(case)


def _nothing_to_judge(_: Case) -> list[str]:
    return []


def _component_problems(case: Case) -> list[str]:
    if case.resource.provider is None:
        return []
    return [f"{case.resource.type} comes from a provider; the project's components are part of the program."]


def _reference_problems(case: Case) -> list[str]:
    name = read(case.resource.props, "name")
    own = case.stack.name
    if isinstance(name, str) and name.rpartition("/")[2] == own:
        return []
    return [f"It reads stack {shown(name)}; {own} reads its own outputs alone, and the rest from its handover."]


_EVERY_STACK: Mapping[str, Callable[[Case], list[str]]] = {
    STACK: _nothing_to_judge,
    REFERENCE_PROVIDER: _nothing_to_judge,
    STACK_REFERENCE: _reference_problems,
    providers.KUBERNETES: providers.provider_problems,
    providers.HCLOUD: providers.provider_problems,
    providers.PROXMOX: providers.provider_problems,
}

TENANT: Mapping[str, Callable[[Case], list[str]]] = {
    **_EVERY_STACK,
    guests.VM: guests.vm_problems,
    guests.FILE: guests.file_problems,
    **dict.fromkeys(servers.FIELDS, servers.server_problems),
}
"""What a tenant's stack may make, by type, beside the project's components and Kubernetes objects."""

ENVIRONMENT: Mapping[str, Callable[[Case], list[str]]] = {**_EVERY_STACK, **environment.JUDGES}
"""What an environment's stack may make, likewise."""
