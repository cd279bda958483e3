"""Rules of who a tenant's stack is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from settings.places import choose
from settings.rules.views import problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from settings.problems import Problem
    from settings.rules.views import TenantView


def environment_is_the_prefix(view: TenantView) -> Iterator[Problem]:
    """Require that the file names the environment that the stack's name begins with."""
    if view.examined.model is None or not view.examined.sound("environment"):
        return
    written, named = view.examined.model.environment, view.settings.environment_name
    if written != named:
        why = f"the stack's name {view.settings.stack} says {named}, and the name decides"
        yield problem("ENVIRONMENT_MISMATCH", ("environment",), written, why, f"write {named}")


def tenant_is_known(view: TenantView) -> Iterator[Problem]:
    """Require that the environment has the tenant that the stack's name ends with."""
    if view.tenant not in view.around.examined.names("tenants"):
        environment = view.settings.environment_name
        why = f"environment {environment} has no tenant {view.tenant}"
        fix = f"the owner of {environment} adds tenants.{view.tenant}, or name the stack after the tenant that is meant"
        yield problem("UNKNOWN_TENANT", ("stack",), view.settings.stack, why, fix)


def clusters_are_allowed(view: TenantView) -> Iterator[Problem]:
    """Require that a tenant makes the clusters that the environment lets it make."""
    allowed = view.settings.environment.tenants[view.tenant].clusters
    for name, _ in view.clusters:
        if name not in allowed:
            why = f"environment {view.settings.environment_name} does not let tenant {view.tenant} make this cluster"
            yield problem("CLUSTER_NOT_ALLOWED", ("clusters", name), name, why, choose(name, allowed))
