"""Every rule, in the order in which a file is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from settings.rules import (
    capacity,
    clusters,
    environment,
    identity,
    locations,
    names,
    networks,
    nodes,
    pools,
    rows,
    scheduling,
    zones,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from settings.problems import Problem
    from settings.rules.views import EnvironmentView, TenantView

ENVIRONMENT_RULES: tuple[Callable[[EnvironmentView], Iterator[Problem]], ...] = (
    environment.cluster_ranges_are_disjoint,
    environment.open_bridges_belong_to_no_zone,
    environment.open_vlans_are_of_open_bridges,
    environment.bridges_are_no_vlans_of_zones,
    environment.namespaces_are_the_tenants_own,
    environment.clusters_are_named_once,
    environment.control_planes_have_schemas_of_their_own,
    locations.endpoints_are_one_location_each,
    locations.authorities_are_certificates,
    locations.templates_can_be_found,
    locations.template_pools_are_the_administrators,
    locations.tenants_are_known,
    locations.ids_are_one_tenants,
    locations.iso_storages_are_one_tenants,
    locations.uplinks_are_legal,
    locations.subnets_are_inside,
    locations.clouds_are_private,
    locations.locations_are_used,
    zones.bridges_are_one_zones,
    zones.locations_are_known,
    zones.reserved_is_for_a_location,
    zones.zones_are_used,
    rows.names_are_unique,
    rows.tables_are_small_enough,
    rows.places_are_known,
    rows.vlans_are_free,
    rows.cidrs_are_disjoint,
    rows.gateways_fit,
    rows.ranges_fit,
)

TENANT_RULES: tuple[Callable[[TenantView], Iterator[Problem]], ...] = (
    identity.environment_is_the_prefix,
    identity.tenant_is_known,
    clusters.addresses_are_free,
    clusters.versions_fit,
    pools.replicas_or_scale,
    pools.rollouts_move,
    pools.server_types_run_the_images,
    capacity.ids_suffice,
    names.names_are_short_enough,
    names.names_do_not_clash,
    scheduling.labels_are_legal,
    scheduling.taints_are_legal,
)
"""What holds for a tenant's stack by itself."""

PLACE_RULES: tuple[Callable[[TenantView], Iterator[Problem]], ...] = (
    identity.clusters_are_allowed,
    clusters.homes_are_possible,
    clusters.home_networks_are_clear,
    clusters.templates_hold_the_talos,
    networks.networks_are_the_tenants_own,
    networks.locations_are_the_tenants_own,
    networks.backends_fit_the_generation,
    networks.backends_fit_the_place,
    networks.rows_are_not_mixed,
    nodes.nodes_are_known,
    nodes.templates_reach_the_nodes,
    nodes.disks_reach_the_nodes,
    nodes.memory_fits,
    nodes.disks_hold_the_template,
    capacity.ids_are_the_tenants_own,
    capacity.ids_are_one_pools,
    capacity.addresses_suffice,
    capacity.machines_have_addresses,
    capacity.subnets_suffice,
)
"""What holds between a tenant's stack and its environment; only asked when the environment has the tenant."""
