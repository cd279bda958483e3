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
_CHARTS = "kubernetes-"
"""What the platform's charts put before the name of a cluster."""


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


def open_vlans_are_of_open_bridges(view: EnvironmentView) -> Iterator[Problem]:
    """Require that only what is open is limited."""
    management = view.environment.management
    for bridge in sorted(management.open_vlans):
        if bridge not in management.open_bridges and view.examined.sound("management", "openBridges"):
            why = "the bridge is not in openBridges, so nothing of it is open"
            place = ("management", "openVlans", bridge)
            fix = f"leave it out, or one of {names(management.open_bridges) or 'none'}"
            yield problem("UNKNOWN_BRIDGE", place, bridge, why, fix)


def bridges_are_no_vlans_of_zones(view: EnvironmentView) -> Iterator[Problem]:
    """Require that no bridge is another one's VLAN: Proxmox VE calls VLAN 205 of vmbr1 `vmbr1v205`."""
    zones = view.environment.zones
    named: list[tuple[tuple[str | int, ...], str]] = [
        *((("zones", name, "bridge"), zone.bridge) for name, zone in sorted(zones.items())),
        *(
            (("management", "openBridges", at), each)
            for at, each in enumerate(view.environment.management.open_bridges)
        ),
    ]
    for place, bridge in named:
        for name, zone in sorted(zones.items()):
            vlan = bridge.removeprefix(f"{zone.bridge}v")
            if vlan != bridge and vlan.isdigit() and view.examined.sound("zones", name, "bridge"):
                why = f"Proxmox VE calls VLAN {vlan} of {zone.bridge} so, and {zone.bridge} is zone {name}'s"
                yield problem("BRIDGE_TAKEN", place, bridge, why, "another name")


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


def control_planes_have_schemas_of_their_own(view: EnvironmentView) -> Iterator[Problem]:
    """Require that no two tenants' control planes are one in Kamaji's data store.

    Kamaji (before 26.7.4) names what a control plane has there after namespace and name joined, with `_` for `-`. The
    platform's own charts name a cluster `kubernetes-<name>` in the same namespaces.
    """
    owners: dict[str, tuple[str, str]] = {}
    tenants = sorted(view.environment.tenants.items())
    clusters = sorted({cluster for _, tenant in tenants for cluster in tenant.clusters})
    for name, tenant in tenants:
        for cluster in clusters:
            owners.setdefault(_schema(tenant.namespace, f"{_CHARTS}{cluster}"), (name, f"{_CHARTS}{cluster}"))
    for name, tenant in tenants:
        for index, cluster in enumerate(tenant.clusters):
            other, named = owners.setdefault(_schema(tenant.namespace, cluster), (name, cluster))
            theirs = view.environment.tenants[other].namespace
            if theirs != tenant.namespace:
                why = (
                    f"Kamaji would keep {tenant.namespace}/{cluster} and {theirs}/{named} of tenant {other} in one"
                    f" schema of its data store, {_schema(tenant.namespace, cluster)}"
                )
                fix = f"another name for the cluster, or a namespace that does not begin with {theirs}-"
                yield problem("SCHEMA_CLASH", ("tenants", name, "clusters", index), cluster, why, fix)


def _schema(namespace: str, name: str) -> str:
    return f"{namespace}_{name}".replace("-", "_")


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
