"""Backend `hcloud-server`: Hetzner Cloud servers made by the program itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pulumi
import pulumi_hcloud as hcloud

from manifests.talos import machine_config
from settings.environment import HcloudLocation
from settings.machines import machines
from settings.tenant import HcloudServerPool

if TYPE_CHECKING:
    from components.tenant_run import TenantRun

SPREAD = 10
"""Servers that a spread placement group holds at most."""


def hcloud_servers(
    run: TenantRun, cluster: str, pool: str, parent: pulumi.Resource
) -> list[pulumi.Output[dict[str, Any]]]:
    """Register a pool's firewall, placement groups and servers; give what each machine is, once it is there.

    The public address is for outgoing traffic: the firewall lets nothing in. Servers stand in the tenant's own subnet,
    ten to a spread placement group.
    """
    settings = run.settings
    spec = settings.clusters[cluster].pools[pool]
    location = settings.environment.locations[spec.location] if isinstance(spec, HcloudServerPool) else None
    if not isinstance(spec, HcloudServerPool) or not isinstance(location, HcloudLocation):
        message = f"{cluster}-{pool} is not a pool of Hetzner Cloud servers"
        raise TypeError(message)
    provider = run.providers.hcloud[spec.location]
    opts = pulumi.ResourceOptions(parent=parent, provider=provider)
    name = f"{cluster}-{pool}"
    labels = {"environment": settings.environment_name, "tenant": settings.tenant, "cluster": cluster, "pool": pool}
    planned = machines(settings, cluster, pool)
    firewall = hcloud.Firewall(f"{name}-firewall", name=name, labels=labels, opts=opts)
    groups = [
        hcloud.PlacementGroup(f"{name}-group-{i}", name=f"{name}-{i}", type="spread", labels=labels, opts=opts)
        for i in range((len(planned) + SPREAD - 1) // SPREAD)
    ]
    image = hcloud.get_image_output(
        with_selector=location.image.selector, most_recent=True, opts=pulumi.InvokeOptions(provider=provider)
    )
    found = []
    for machine in planned:
        server = hcloud.Server(
            machine.name,
            name=machine.name,
            server_type=spec.server_type,
            location=location.region,
            image=image.id.apply(lambda number: str(int(number))),
            user_data=pulumi.Output.secret(machine_config(settings, cluster, pool, machine)),
            labels=labels,
            firewall_ids=[firewall.id.apply(int)],
            placement_group_id=groups[machine.index // SPREAD].id.apply(int),
            public_nets=[hcloud.ServerPublicNetArgs(ipv4_enabled=True, ipv6_enabled=False)],
            networks=[hcloud.ServerNetworkArgs(subnet_id=run.handover[f"{spec.location}.subnet"], alias_ips=[])],
            # Both are for a server's first boot. A change of either would replace every server of the pool at once,
            # delete first (docs/adr/002).
            opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(ignore_changes=["image", "userData"])),
        )
        found.append(server.networks.apply(_described(machine.name, machine.location)))
    return found


def _described(name: str, location: str) -> Any:
    def described(networks: Any) -> dict[str, Any]:
        address = networks[0].ip if networks else None
        return {"name": name, "location": location, "address": address}

    return described
