"""A worker pool that Cluster API makes on Proxmox VE: its templates, MachineDeployment and health check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from manifests import capacity, scheduling
from manifests.cluster import home_row
from manifests.common import CLUSTER_NAME, DEPLOYMENT_NAME, content_hash, metadata
from manifests.generations import api_version, require_rendered
from manifests.manifest import Manifest, named
from manifests.talos import machine_config
from settings.access import resource_pool
from settings.environment import ProxmoxLocation
from settings.tenant import CapiProxmoxPool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from settings.stack import TenantSettings

MACHINE_TEMPLATE = "ProxmoxMachineTemplate"
CONFIG_TEMPLATE = "TalosConfigTemplate"

DRAIN_TIMEOUT = "10m"
"""Without one a drain waits without limit for a pod that can't be evicted (seen)."""

_MIN_SIZE = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size"
_MAX_SIZE = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size"
_CAPACITY = "capacity.cluster-autoscaler.kubernetes.io"


@dataclass(frozen=True)
class PoolManifests:
    """The objects of one pool; `templates` by kind."""

    templates: Mapping[str, Manifest]
    deployment: Manifest
    health_check: Manifest

    @property
    def all(self) -> list[Manifest]:
        """Give the objects in their order."""
        return [*self.templates.values(), self.deployment, self.health_check]


def pool(settings: TenantSettings, cluster_name: str, pool_name: str) -> PoolManifests:
    """Give the objects of a `capi-proxmox` pool.

    Templates can't be changed once machines are made from them, so their names follow their content
    (`<cluster>-<pool>-<8 characters>`): another content is another template, and the MachineDeployment rolls over to
    it. Raises TypeError for a pool of another backend, ValueError for one outside the cluster's home location.
    """
    return _Pool(settings, cluster_name, pool_name).manifests()


class _Pool:
    def __init__(self, settings: TenantSettings, cluster_name: str, pool_name: str) -> None:
        require_rendered(settings.environment.management.generation)
        chosen = settings.clusters[cluster_name].pools[pool_name]
        if not isinstance(chosen, CapiProxmoxPool):
            message = f"pool {pool_name} is made by {chosen.backend}, not by Cluster API"
            raise TypeError(message)
        self.row = settings.rows[chosen.network]
        location = settings.environment.locations[self.row.location]
        home = settings.clusters[cluster_name].home
        if not isinstance(location, ProxmoxLocation) or self.row.location != home:
            message = f"pool {pool_name} stands in {self.row.location}, but the Cluster of {cluster_name} is in {home}"
            raise ValueError(message)
        self.settings = settings
        self.cluster_name = cluster_name
        self.pool_name = pool_name
        self.name = f"{cluster_name}-{pool_name}"
        self.part = f"pool/{self.name}"
        self.pool = chosen
        self.location = location
        self.cluster = named("Cluster", cluster_name, settings.namespace)

    def manifests(self) -> PoolManifests:
        templates = {
            MACHINE_TEMPLATE: self._template(MACHINE_TEMPLATE, self._machine()),
            CONFIG_TEMPLATE: self._template(CONFIG_TEMPLATE, self._config()),
        }
        deployment = self._deployment(templates)
        return PoolManifests(templates, deployment, self._health_check(deployment))

    def _body(self, kind: str, name: str, annotations: dict[str, str] | None = None) -> dict[str, Any]:
        return {
            "apiVersion": api_version(kind, self.settings.environment.management.generation),
            "kind": kind,
            "metadata": metadata(
                name,
                self.settings.namespace,
                labels={CLUSTER_NAME: self.cluster_name},
                annotations=annotations or {},
            ),
        }

    def _template(self, kind: str, machine: dict[str, Any]) -> Manifest:
        spec = {"template": {"spec": machine}}
        body = self._body(kind, f"{self.name}-{content_hash(spec)}")
        return Manifest({**body, "spec": spec}, self.part, (self.cluster,))

    def _machine(self) -> dict[str, Any]:
        # Nodes and name servers are the ProxmoxCluster's: a new node in the location must not roll every worker.
        row, size = self.row, self.pool.size
        nic: dict[str, Any] = {"bridge": row.bridge, "vlan": row.vlan, "model": "virtio"}
        if row.mtu is not None:
            nic["mtu"] = row.mtu
        if row.dns_servers != home_row(self.settings, self.cluster_name).dns_servers:
            nic["dnsServers"] = [str(server) for server in row.dns_servers]
        nic["ipv4PoolRef"] = {"apiGroup": "ipam.cluster.x-k8s.io", "kind": "InClusterIPPool", "name": row.name}
        owner = resource_pool(self.settings.environment_name, self.settings.tenant)
        return {
            "templateSelector": {"matchTags": sorted(self.location.template.tags)},
            "full": True,
            "storage": self.location.storage.name,
            "pool": owner,
            "vmIDRange": {"start": self.pool.vm_ids.first, "end": self.pool.vm_ids.last},
            "tags": sorted({"hybrid", owner, self.name}),
            "numSockets": 1,
            "numCores": size.cpu,
            "memoryMiB": size.memory,
            "disks": {"bootVolume": {"disk": "scsi0", "sizeGb": size.disk}},
            # Talos has neither cloud-init nor, for certain, the guest agent that capmox would wait for.
            "checks": {"skipCloudInitStatus": True, "skipQemuGuestAgent": True},
            "metadataSettings": {"providerIDInjection": True},
            "network": {"default": nic},
        }

    def _config(self) -> dict[str, Any]:
        talos = self.settings.clusters[self.cluster_name].talos
        return {
            "generateType": "none",
            "talosVersion": talos.rpartition(".")[0],
            "data": machine_config(self.settings, self.cluster_name, self.pool_name, None),
        }

    def _selector(self) -> dict[str, str]:
        return {CLUSTER_NAME: self.cluster_name, DEPLOYMENT_NAME: self.name}

    def _deployment(self, templates: Mapping[str, Manifest]) -> Manifest:
        rollout = self.pool.rollout
        body = self._body("MachineDeployment", self.name, self._annotations())
        labels = scheduling.labels(self.settings, self.cluster_name, self.pool_name)
        synced = {key: value for key, value in labels.items() if scheduling.synced(key)}
        spec: dict[str, Any] = {"clusterName": self.cluster_name}
        if self.pool.scale is None:
            spec["replicas"] = self.pool.replicas
        spec["strategy"] = {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxSurge": rollout.surge, "maxUnavailable": rollout.unavailable},
        }
        spec["selector"] = {"matchLabels": self._selector()}
        spec["template"] = {
            "metadata": {"labels": {**self._selector(), **synced}},
            "spec": {
                "clusterName": self.cluster_name,
                "version": self.settings.clusters[self.cluster_name].kubernetes,
                "nodeDrainTimeout": DRAIN_TIMEOUT,
                "bootstrap": {"configRef": _reference(templates[CONFIG_TEMPLATE])},
                "infrastructureRef": _reference(templates[MACHINE_TEMPLATE]),
            },
        }
        after = (self.cluster, *(template.name for template in templates.values()))
        return Manifest({**body, "spec": spec}, self.part, after)

    def _annotations(self) -> dict[str, str]:
        scale, size = self.pool.scale, self.pool.size
        if scale is None:
            return {}
        labels = scheduling.labels(self.settings, self.cluster_name, self.pool_name)
        taints = scheduling.taints(self.settings, self.cluster_name, self.pool_name)
        result = {
            _MIN_SIZE: str(scale.min),
            _MAX_SIZE: str(scale.max),
            f"{_CAPACITY}/cpu": capacity.cpu_capacity(size.cpu),
            f"{_CAPACITY}/memory": capacity.memory_capacity(size.memory),
            f"{_CAPACITY}/ephemeral-disk": capacity.disk_capacity(size.disk),
            f"{_CAPACITY}/labels": ",".join(f"{key}={value}" for key, value in labels.items()),
        }
        if taints:
            result[f"{_CAPACITY}/taints"] = ",".join(f"{item.key}={item.value}:{item.effect}" for item in taints)
        return result

    def _health_check(self, deployment: Manifest) -> Manifest:
        body = self._body("MachineHealthCheck", self.name)
        body["spec"] = {
            "clusterName": self.cluster_name,
            "selector": {"matchLabels": self._selector()},
            # Rounded down: a pool of one is never remediated.
            "maxUnhealthy": "50%",
            "nodeStartupTimeout": "20m",
            "unhealthyConditions": [
                {"type": "Ready", "status": "Unknown", "timeout": "5m"},
                {"type": "Ready", "status": "False", "timeout": "10m"},
            ],
        }
        return Manifest(body, self.part, (deployment.name,))


def _reference(manifest: Manifest) -> dict[str, str]:
    body = manifest.body
    return {"apiVersion": body["apiVersion"], "kind": body["kind"], "name": body["metadata"]["name"]}
