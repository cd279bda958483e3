"""Rules of an environment's management cluster and tenants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from settings.places import names
from settings.rules.views import problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from settings.problems import Problem
    from settings.rules.views import EnvironmentView

_RESERVED = ("kube-", "cozy-")
_COLONS = 3


def cluster_ranges_are_disjoint(view: EnvironmentView) -> Iterator[Problem]:
    """Require that tenant clusters' pods and services have ranges of their own."""
    management = view.environment.management
    if not (view.examined.sound("management", "podCidr") and view.examined.sound("management", "serviceCidr")):
        return
    if management.pod_cidr.overlaps(management.service_cidr):
        why = f"it overlaps the pods' range {management.pod_cidr}"
        place = ("management", "serviceCidr")
        yield problem("CIDR_OVERLAP", place, management.service_cidr, why, "choose two ranges that share no address")


def open_bridges_belong_to_no_zone(view: EnvironmentView) -> Iterator[Problem]:
    """Require that a bridge is a zone's, with its table, or open to all; never both."""
    owners = {zone.bridge: name for name, zone in sorted(view.environment.zones.items())}
    for index, bridge in enumerate(view.environment.management.open_bridges):
        if bridge in owners:
            why = f"zone {owners[bridge]} owns the bridge, and its table would mean nothing if the bridge were open"
            place = ("management", "openBridges", index)
            yield problem("BRIDGE_TAKEN", place, bridge, why, "leave it out, or take the bridge from the zone")


def namespaces_are_the_tenants_own(view: EnvironmentView) -> Iterator[Problem]:
    """Require that one namespace is one tenant's, and none is the platform's."""
    owners: dict[str, str] = {}
    controllers = view.environment.management.controllers
    run_in = {user.split(":")[2]: user for user in (controllers.capmox, controllers.capi) if _is_account(user)}
    for name, tenant in sorted(view.environment.tenants.items()):
        place = ("tenants", name, "namespace")
        namespace = tenant.namespace
        if namespace == "default" or namespace.startswith(_RESERVED):
            why = "the namespace belongs to Kubernetes or to the platform"
            yield problem("NAMESPACE_RESERVED", place, namespace, why, f"for example tenant-{name}")
        elif namespace in run_in:
            why = f"{run_in[namespace]} stands in this namespace: whoever has it could speak as that controller"
            yield problem("NAMESPACE_RESERVED", place, namespace, why, f"for example tenant-{name}")
        elif namespace in owners:
            why = f"tenant {owners[namespace]} has this namespace; what stands in one belongs to one tenant"
            yield problem("NAMESPACE_TAKEN", place, namespace, why, f"for example tenant-{name}")
        owners.setdefault(namespace, name)


def _is_account(user: str) -> bool:
    """Say whether a user's name is a ServiceAccount's: `system:serviceaccount:<namespace>:<name>`."""
    return user.startswith("system:serviceaccount:") and user.count(":") == _COLONS


def clusters_are_named_once(view: EnvironmentView) -> Iterator[Problem]:
    """Require that a tenant's list of clusters names each once."""
    for name, tenant in sorted(view.environment.tenants.items()):
        for index, cluster in enumerate(tenant.clusters):
            if cluster in tenant.clusters[:index]:
                why = "the cluster stands in the list twice"
                fix = f"keep one of {names(set(tenant.clusters))} each"
                yield problem("DUPLICATE_NAME", ("tenants", name, "clusters", index), cluster, why, fix)
