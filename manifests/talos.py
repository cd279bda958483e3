"""The Talos machine configuration of a worker, as far as it holds no secret.

What lets a machine join (the machine token, both certificate authorities, the cluster's id and secret, the bootstrap
token) is not here: a machine with this configuration boots, has its address and waits. Talos 1.13, version v1alpha1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manifests import scheduling
from manifests.capacity import kubelet_config
from manifests.text import yaml_text
from settings.environment import HcloudLocation
from settings.tenant import HcloudServerPool

if TYPE_CHECKING:
    from settings.machines import Machine
    from settings.stack import TenantSettings
    from settings.tenant import AnyPool

API_PORT = 6443
KUBELET_IMAGE = "ghcr.io/siderolabs/kubelet"
"""Talos' own build of the kubelet; without it a node runs the newest Kubernetes that its Talos knows."""

INSTALL_DISK = "/dev/sda"
"""What scsi0 of a Proxmox VE machine and the disk of a Hetzner Cloud server are called."""


def machine_config(settings: TenantSettings, cluster: str, pool: str, machine: Machine | None) -> str:
    """Give the configuration of one direct machine, or with None that of every machine of a Cluster API pool.

    A direct `proxmox-vm` machine gets hostname and address here; a Cluster API machine gets them from capmox, a
    Hetzner Cloud server from its own metadata and DHCP (and the hostname here).
    """
    chosen = settings.clusters[cluster]
    management = settings.environment.management
    config = {
        "version": "v1alpha1",
        "machine": _machine(settings, cluster, pool, machine),
        "cluster": {
            "controlPlane": {"endpoint": f"https://{chosen.control_plane.address}:{API_PORT}"},
            "network": {
                "dnsDomain": "cluster.local",
                "podSubnets": [str(management.pod_cidr)],
                "serviceSubnets": [str(management.service_cidr)],
            },
        },
    }
    return yaml_text(config)


def _machine(settings: TenantSettings, cluster: str, pool: str, machine: Machine | None) -> dict[str, Any]:
    chosen = settings.clusters[cluster].pools[pool]
    by_cluster_api = chosen.backend == "capi-proxmox"
    result: dict[str, Any] = {"type": "worker"}
    network = _network(settings, chosen, machine)
    if network:
        result["network"] = network
    result["install"] = {"disk": INSTALL_DISK, "wipe": False}
    result["kubelet"] = _kubelet(settings, cluster, pool)
    result["nodeLabels"] = {
        key: value
        for key, value in scheduling.labels(settings, cluster, pool).items()
        if not (by_cluster_api and scheduling.refused_to_kubelets(key))
    }
    return result


def _network(settings: TenantSettings, pool: AnyPool, machine: Machine | None) -> dict[str, Any]:
    if machine is None:
        return {}
    result: dict[str, Any] = {"hostname": machine.name}
    if pool.backend == "proxmox-vm":
        row = settings.rows[pool.network]
        interface: dict[str, Any] = {
            "deviceSelector": {"physical": True},
            "dhcp": False,
            "addresses": [f"{machine.address}/{row.cidr.prefixlen}"],
            "routes": [{"network": "0.0.0.0/0", "gateway": str(row.gateway)}],
        }
        if row.mtu is not None:
            interface["mtu"] = row.mtu
        result["interfaces"] = [interface]
        result["nameservers"] = [str(server) for server in row.dns_servers]
    return result


def _kubelet(settings: TenantSettings, cluster: str, pool: str) -> dict[str, Any]:
    chosen = settings.clusters[cluster].pools[pool]
    result: dict[str, Any] = {
        "image": f"{KUBELET_IMAGE}:{settings.clusters[cluster].kubernetes}",
        "nodeIP": {"validSubnets": [_subnet(settings, chosen)]},
    }
    extra: dict[str, Any] = {}
    if isinstance(chosen, HcloudServerPool):
        # Hetzner's controller sets providerID and addresses of its servers. capmox brings a providerID itself, and
        # direct Proxmox VE machines need none, so those nodes do not wait for a cloud controller.
        result["extraArgs"] = {"cloud-provider": "external"}
    else:
        extra = kubelet_config(chosen.size)
    taints = scheduling.taints(settings, cluster, pool)
    if taints:
        # Not machine.nodeTaints: Talos sets those later, which NodeRestriction refuses to a worker, and that map holds
        # one effect for each key.
        extra["registerWithTaints"] = [
            {"key": item.key, **({"value": item.value} if item.value else {}), "effect": item.effect} for item in taints
        ]
    if extra:
        result["extraConfig"] = extra
    return result


def _subnet(settings: TenantSettings, pool: AnyPool) -> str:
    if isinstance(pool, HcloudServerPool):
        location = settings.environment.locations[pool.location]
        if not isinstance(location, HcloudLocation):
            message = f"{pool.location} is no Hetzner Cloud location"
            raise TypeError(message)
        return str(location.tenants[settings.tenant].subnet)
    return str(settings.rows[pool.network].cidr)
