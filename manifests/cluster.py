"""A tenant cluster at its home location: Cluster, hosted control plane, and the Proxmox VE side of its workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manifests.common import metadata, pve_secret
from manifests.generations import CAPI_1_12, api_version
from manifests.manifest import Manifest
from settings.environment import ProxmoxLocation

if TYPE_CHECKING:
    from settings.stack import TenantSettings
    from settings.table import Row

KONNECTIVITY_PORT = 8132
TRUSTD_PORT = 50001
METRIC = 100
"""The route metric that capmox's CRD wants beside a range."""


def home_row(settings: TenantSettings, cluster_name: str) -> Row:
    """Give the network of the cluster's home location: the one it names, or the tenant's only one there.

    Raises ValueError when there is none or no single one (the settings report it before).
    """
    chosen = settings.clusters[cluster_name]
    if chosen.network:
        return settings.rows[chosen.network]
    found = [row for row in settings.rows.values() if row.location == chosen.home]
    if len(found) != 1:
        message = f"cluster {cluster_name} does not say which of {len(found)} networks in {chosen.home} is its own"
        raise ValueError(message)
    return found[0]


def cluster(settings: TenantSettings, cluster_name: str) -> list[Manifest]:
    """Give ProxmoxCluster, KamajiControlPlane and Cluster, all named like the tenant cluster.

    The Cluster comes after the two that it refers to, so that on the way down it goes first: it is what waits for the
    machines.
    """
    part = f"cluster/{cluster_name}"
    infrastructure = Manifest(_proxmox_cluster(settings, cluster_name), part)
    control_plane = Manifest(_control_plane(settings, cluster_name), part)
    body = _object(settings, "Cluster", cluster_name)
    management = settings.environment.management
    body["spec"] = {
        "clusterNetwork": {
            "pods": {"cidrBlocks": [str(management.pod_cidr)]},
            "services": {"cidrBlocks": [str(management.service_cidr)]},
        },
        "controlPlaneRef": _reference(settings, control_plane),
        "infrastructureRef": _reference(settings, infrastructure),
    }
    return [infrastructure, control_plane, Manifest(body, part, (infrastructure.name, control_plane.name))]


def _object(settings: TenantSettings, kind: str, name: str, **meta: dict[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": api_version(kind, settings.environment.management.generation),
        "kind": kind,
        "metadata": metadata(name, settings.namespace, **meta),
    }


def _reference(settings: TenantSettings, manifest: Manifest) -> dict[str, str]:
    body = manifest.body
    if settings.environment.management.generation == CAPI_1_12:
        group = body["apiVersion"].partition("/")[0]
        return {"apiGroup": group, "kind": body["kind"], "name": body["metadata"]["name"]}
    return {"apiVersion": body["apiVersion"], "kind": body["kind"], "name": body["metadata"]["name"]}


def _control_plane(settings: TenantSettings, cluster_name: str) -> dict[str, Any]:
    """Give the KamajiControlPlane.

    `controlPlane.address` is where workers reach it. The Service is a LoadBalancer, so that API, konnectivity and
    trustd share that one address; that the Service gets it is up to the platform's load balancer. The platform also
    decides the data store: no `dataStoreName` means its default one.
    """
    chosen = settings.clusters[cluster_name]
    address = str(chosen.control_plane.address)
    service = f"{cluster_name}.{settings.namespace}.svc"
    network: dict[str, Any] = {
        "serviceType": "LoadBalancer",
        "serviceAddress": address,
        "advertiseAddress": address,
        # Bare hosts and addresses: with a port in it an entry is refused.
        "certSANs": [address, service, f"{service}.cluster.local"],
    }
    if settings.environment.management.kamaji_service_ports:
        network["additionalServicePorts"] = [
            {"name": "talos-trustd", "port": TRUSTD_PORT, "targetPort": TRUSTD_PORT, "protocol": "TCP"}
        ]
    body = _object(
        settings,
        "KamajiControlPlane",
        cluster_name,
        labels={"cluster.x-k8s.io/role": "control-plane"},
        annotations={"kamaji.clastix.io/kubeconfig-secret-key": "super-admin.svc"},
    )
    body["spec"] = {
        "replicas": 2,
        "version": chosen.kubernetes,
        "addons": {"konnectivity": {"server": {"port": KONNECTIVITY_PORT}}},
        "kubelet": {"cgroupfs": "systemd", "preferredAddressTypes": ["InternalIP", "ExternalIP"]},
        "network": network,
    }
    return body


def _proxmox_cluster(settings: TenantSettings, cluster_name: str) -> dict[str, Any]:
    """Give the ProxmoxCluster.

    In `capi-1.10` its range is the sentinel: the gateway alone, from which nothing can be leased. In `capi-1.12`
    capmox always takes a machine's first address from it, so it is the last range of the network: a row gets a new
    range behind those in which addresses are leased already.

    `controlPlaneEndpoint` is never written: Kamaji fills it, and a value that differs from its own is an error there.
    """
    row = home_row(settings, cluster_name)
    location = settings.environment.locations[row.location]
    if not isinstance(location, ProxmoxLocation):
        message = f"{row.location} is no Proxmox VE location"
        raise TypeError(message)
    gateway = str(row.gateway)
    latest = settings.environment.management.generation == CAPI_1_12
    addresses = [row.addresses[-1] if latest else gateway]
    body = _object(settings, "ProxmoxCluster", cluster_name)
    body["spec"] = {
        "externalManagedControlPlane": True,
        "allowedNodes": sorted(location.nodes),
        "dnsServers": [str(server) for server in row.dns_servers],
        "ipv4Config": {"addresses": addresses, "gateway": gateway, "prefix": row.cidr.prefixlen, "metric": METRIC},
        "credentialsRef": {"name": pve_secret(row.location), "namespace": settings.namespace},
    }
    return body
