"""Objects of a tenant in the shape of either generation, and the environment in which they are judged."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.manifests.examples import of_environment, of_tenant, only

if TYPE_CHECKING:
    from manifests.manifest import Manifest
    from settings.environment import Generation

Body = dict[str, Any]
GENERATIONS: tuple[Generation, ...] = ("capi-1.10", "capi-1.12")
IPAM = "ipam.cluster.x-k8s.io"

CHANGES: dict[str, Any] = {
    "management.openBridges": ["vmbr9"],
    "tenants.idle": {"namespace": "tenant-idle", "clusters": ["prod"]},
    "locations.lab.tenants.idle": {"vmIds": "2200-2299", "isoStorage": "iso-idle"},
    "zones.storage": {
        "bridge": "vmbr2",
        "locations": ["lab"],
        "networks": {
            "acme-disks": {
                "tenant": "acme",
                "location": "lab",
                "vlan": 401,
                "cidr": "10.241.0.0/24",
                "gateway": "10.241.0.1",
                "range": ["10.241.0.20-10.241.0.99", "10.241.0.120-10.241.0.199"],
            }
        },
    },
}
"""Beside the lab's: a second zone in which acme has a network of two ranges, an open bridge, a tenant without any."""


def environment_of(generation: Generation) -> dict[str, Manifest]:
    """Give the environment's objects."""
    return of_environment({**CHANGES, "management.generation": generation})


@dataclass(frozen=True)
class Nic:
    """A NIC; the first one is net0. `pool` None is what the generation wants of a first NIC, "" is none."""

    vlan: int | None = 201
    pool: str | None = None
    bridge: str | None = "vmbr1"
    kind: str = "InClusterIPPool"
    more: str | None = None
    family: str = "ipv4"
    """Of which family its pool is, in the generation that tells them apart."""
    name: str | None = None


OWN = {201: "acme-lab", 301: "acme-dc", 401: "acme-disks", 202: "globex-lab"}


@dataclass(frozen=True)
class Shapes:
    """Writes objects in the shape of a generation; all are whole but for what a test changes."""

    generation: Generation

    @property
    def latest(self) -> bool:
        """Whether it is the newer of the two."""
        return self.generation == "capi-1.12"

    @property
    def api_version(self) -> str:
        """The apiVersion of capmox' kinds."""
        return f"infrastructure.cluster.x-k8s.io/{'v1alpha2' if self.latest else 'v1alpha1'}"

    def network(self, *nics: Nic) -> Body:
        """Give `spec.network`."""
        if self.latest:
            return {"networkDevices": [self._nic(index, nic) for index, nic in enumerate(nics)]}
        first, *others = [self._nic(index, nic) for index, nic in enumerate(nics)]
        del first["name"]
        return {"default": first, **({"additionalDevices": others} if others else {})}

    def _nic(self, index: int, nic: Nic) -> Body:
        pool = nic.pool
        if pool is None:
            # A first NIC of the newer generation has no pool of its own.
            pool = "" if self.latest and index == 0 else OWN.get(nic.vlan or 0, "acme-lab")
        refs = [{"apiGroup": IPAM, "kind": nic.kind, "name": name} for name in (pool, nic.more) if name]
        body: Body = {"name": nic.name or f"net{index}", "bridge": nic.bridge, "vlan": nic.vlan, "model": "virtio"}
        if self.latest:
            body["ipPoolRef"] = refs or None
        else:
            first, second = ("ipv4PoolRef", "ipv6PoolRef") if nic.family == "ipv4" else ("ipv6PoolRef", "ipv4PoolRef")
            body[first], body[second] = ([*refs, None, None])[:2]
        return {key: value for key, value in body.items() if value is not None}

    def template(self, *nics: Nic, namespace: str = "tenant-acme", network: Body | None = None, **spec: Any) -> Body:
        """Give a ProxmoxMachineTemplate."""
        inner = copy.deepcopy(only(of_tenant("acme"), "ProxmoxMachineTemplate")["spec"]["template"]["spec"])
        inner["network"] = self.network(*(nics or (Nic(),))) if network is None else network
        inner.update(spec)
        return {
            "apiVersion": self.api_version,
            "kind": "ProxmoxMachineTemplate",
            "metadata": {"name": "x", "namespace": namespace},
            "spec": {"template": {"spec": {key: value for key, value in inner.items() if value is not None}}},
        }

    def machine(self, *nics: Nic, namespace: str = "tenant-acme", name: str = "x", **spec: Any) -> Body:
        """Give a ProxmoxMachine."""
        cloned = self.template(*nics, namespace=namespace, **spec)
        meta = {"name": name, "namespace": namespace}
        return {**cloned, "kind": "ProxmoxMachine", "metadata": meta, "spec": cloned["spec"]["template"]["spec"]}

    def config(self, *addresses: str, gateway: str = "10.201.0.1", prefix: int = 24) -> Body:
        """Give an ipv4Config: the addresses, else what is right for acme's network in the lab."""
        own = ["10.201.0.20-10.201.0.199"] if self.latest else ["10.201.0.1"]
        return {"addresses": list(addresses) or own, "gateway": gateway, "prefix": prefix, "metric": 100}

    def cluster(self, kind: str = "ProxmoxCluster", namespace: str = "tenant-acme", **spec: Any) -> Body:
        """Give a ProxmoxCluster, or with that kind a ProxmoxClusterTemplate."""
        inner = copy.deepcopy(only(of_tenant("acme"), "ProxmoxCluster")["spec"])
        inner["ipv4Config"] = self.config()
        inner["credentialsRef"] = {"name": "pve-lab", "namespace": namespace}
        inner = {key: value for key, value in {**inner, **spec}.items() if value is not None}
        return {
            "apiVersion": self.api_version,
            "kind": kind,
            "metadata": {"name": "x", "namespace": namespace},
            "spec": {"template": {"spec": inner}} if kind.endswith("Template") else inner,
        }

    def pool(self, name: str, namespace: str = "tenant-acme", **spec: Any) -> Body:
        """Give an InClusterIPPool, else with what is right for acme's network in the lab."""
        own = {"addresses": ["10.201.0.20-10.201.0.199"], "gateway": "10.201.0.1", "prefix": 24}
        return {
            "apiVersion": f"{IPAM}/v1alpha2",
            "kind": "InClusterIPPool",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {**own, **spec},
        }

    def control_plane(self, namespace: str = "tenant-acme", **spec: Any) -> Body:
        """Give a KamajiControlPlane."""
        body = copy.deepcopy(only(of_tenant("acme"), "KamajiControlPlane"))
        body["apiVersion"] = f"controlplane.cluster.x-k8s.io/{'v1alpha2' if self.latest else 'v1alpha1'}"
        body["metadata"] = {"name": "x", "namespace": namespace}
        for place, value in spec.items():
            inner = body["spec"]
            *above, last = place.split("__")
            for key in above:
                inner = inner.setdefault(key, {})
            inner[last] = value
        return body

    def reference(self, kind: str, namespace: str | None = None, name: str = "x") -> Body:
        """Give a reference to an object; only the older generation's can name a namespace."""
        groups = {"KamajiControlPlane": "controlplane", "TalosConfig": "bootstrap", "TalosConfigTemplate": "bootstrap"}
        group = f"{groups.get(kind, 'infrastructure')}.cluster.x-k8s.io"
        if self.latest:
            return {"apiGroup": group, "kind": kind, "name": name}
        version = "v1alpha3" if group.startswith("bootstrap") else "v1alpha1"
        found = {"apiVersion": f"{group}/{version}", "kind": kind, "name": name}
        return found if namespace is None else {**found, "namespace": namespace}

    def core(self, kind: str, spec: Body, namespace: str = "tenant-acme", name: str = "x") -> Body:
        """Give an object of Cluster API's own kinds."""
        return {
            "apiVersion": f"cluster.x-k8s.io/{'v1beta2' if self.latest else 'v1beta1'}",
            "kind": kind,
            "metadata": {"name": name, "namespace": namespace},
            "spec": spec,
        }

    def capi_cluster(self, **changes: Body) -> Body:
        """Give a Cluster as the program writes it."""
        refs = {
            "controlPlaneRef": self.reference("KamajiControlPlane"),
            "infrastructureRef": self.reference("ProxmoxCluster"),
        }
        return self.core("Cluster", {**refs, **changes})

    def workers(self, kind: str = "MachineDeployment", **changes: Any) -> Body:
        """Give a Machine, or what makes such from templates."""
        made = "ProxmoxMachine" if kind == "Machine" else "ProxmoxMachineTemplate"
        machine = {
            "clusterName": "prod",
            "bootstrap": {"configRef": self.reference("TalosConfigTemplate")},
            "infrastructureRef": self.reference(made),
            **changes,
        }
        if kind == "Machine":
            return self.core(kind, machine)
        labels = {"cluster.x-k8s.io/cluster-name": "prod"}
        template = {"metadata": {"labels": labels}, "spec": machine}
        selector = {"matchLabels": labels}
        return self.core(kind, {"clusterName": "prod", "selector": selector, "template": template})

    def health_check(self, template: Body | None = None) -> Body:
        """Give a MachineHealthCheck, with the template of a remediation if there is one."""
        spec: Body = {"clusterName": "prod", "selector": {"matchLabels": {"cluster.x-k8s.io/cluster-name": "prod"}}}
        if not self.latest:
            spec["unhealthyConditions"] = [{"type": "Ready", "status": "Unknown", "timeout": "5m"}]
        if template and self.latest:
            spec["remediation"] = {"templateRef": {"apiVersion": self.api_version, **template}}
            del spec["remediation"]["templateRef"]["apiGroup"]
        elif template:
            spec["remediationTemplate"] = template
        return self.core("MachineHealthCheck", spec)

    def topology(self, namespace: str, remediation: Body | None = None) -> Body:
        """Give a Cluster of a class, with health checks of its workers if there is a template for them."""
        named = {"class": "x", "classNamespace": namespace}
        found: Body = {"version": "v1.35.6", **named}
        if self.latest:
            found = {"version": "v1.35.6", "classRef": {"name": "x", "namespace": namespace}}
        if remediation:
            part = {"class": "a", "name": "a", "machineHealthCheck": {"remediationTemplate": remediation}}
            found["workers"] = {"machineDeployments": [part]}
        return self.core("Cluster", {"topology": found})

    def secret(self, name: str, kind: str = "cluster.x-k8s.io/secret", namespace: str = "tenant-acme") -> Body:
        """Give a Secret."""
        meta: Body = {"name": name, "namespace": namespace}
        if kind == "kubernetes.io/service-account-token":
            meta["annotations"] = {"kubernetes.io/service-account.name": "hybrid"}
        return {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "type": kind}
