"""Stand-ins for the CRDs of generation `capi-1.10`: the same kinds, versions, scopes and subresources, any content.

They let the lab run without the upstream files. They check nothing and default nothing; that a rendered object is
valid is only shown with the upstream CRDs. `tests/lab/test_crds.py` compares this table with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class _Kind:
    group: str
    version: str
    kind: str
    plural: str
    short: tuple[str, ...] = ()
    scope: str = "Namespaced"
    status: bool = True
    scale: bool = False


_CORE = "cluster.x-k8s.io"
_INFRASTRUCTURE = f"infrastructure.{_CORE}"
_IPAM = f"ipam.{_CORE}"

# Sources: the CRDs of cluster-api v1.10.1, cluster-api-provider-proxmox v0.7.7, ipam-provider-in-cluster v1.0.3,
# bootstrap-provider-talos v0.6.12, control-plane-provider-kamaji v0.19.0, cluster-api-provider-hetzner v1.1.8.
_KINDS = (
    _Kind(_CORE, "v1beta1", "Cluster", "clusters", ("cl",)),
    _Kind(_CORE, "v1beta1", "Machine", "machines", ("ma",)),
    _Kind(_CORE, "v1beta1", "MachineSet", "machinesets", ("ms",), scale=True),
    _Kind(_CORE, "v1beta1", "MachineDeployment", "machinedeployments", ("md",), scale=True),
    _Kind(_CORE, "v1beta1", "MachineHealthCheck", "machinehealthchecks", ("mhc", "mhcs")),
    _Kind(_INFRASTRUCTURE, "v1alpha1", "ProxmoxCluster", "proxmoxclusters"),
    _Kind(_INFRASTRUCTURE, "v1alpha1", "ProxmoxClusterTemplate", "proxmoxclustertemplates", ("pct",)),
    _Kind(_INFRASTRUCTURE, "v1alpha1", "ProxmoxMachine", "proxmoxmachines", ("moxm",)),
    _Kind(_INFRASTRUCTURE, "v1alpha1", "ProxmoxMachineTemplate", "proxmoxmachinetemplates", ("pmt",), status=False),
    _Kind(_IPAM, "v1alpha2", "InClusterIPPool", "inclusterippools"),
    _Kind(_IPAM, "v1alpha2", "GlobalInClusterIPPool", "globalinclusterippools", scope="Cluster"),
    _Kind(_IPAM, "v1beta1", "IPAddress", "ipaddresses", status=False),
    _Kind(_IPAM, "v1beta1", "IPAddressClaim", "ipaddressclaims"),
    _Kind(f"controlplane.{_CORE}", "v1alpha1", "KamajiControlPlane", "kamajicontrolplanes", ("ktcp",), scale=True),
    _Kind(f"bootstrap.{_CORE}", "v1alpha3", "TalosConfig", "talosconfigs"),
    _Kind(f"bootstrap.{_CORE}", "v1alpha3", "TalosConfigTemplate", "talosconfigtemplates"),
    _Kind(_INFRASTRUCTURE, "v1beta1", "HCloudMachine", "hcloudmachines", ("hcma",)),
    _Kind(_INFRASTRUCTURE, "v1beta1", "HCloudMachineTemplate", "hcloudmachinetemplates", ("capihcmt",)),
    _Kind(_INFRASTRUCTURE, "v1beta1", "HetznerCluster", "hetznerclusters", ("hccl",)),
)


def definitions() -> list[dict[str, Any]]:
    """Return the stand-ins as CustomResourceDefinition objects."""
    return [_definition(each) for each in _KINDS]


def _definition(kind: _Kind) -> dict[str, Any]:
    subresources: dict[str, Any] = {}
    if kind.status:
        subresources["status"] = {}
    if kind.scale:
        subresources["scale"] = {
            "specReplicasPath": ".spec.replicas",
            "statusReplicasPath": ".status.replicas",
            "labelSelectorPath": ".status.selector",
        }
    names = {"kind": kind.kind, "listKind": f"{kind.kind}List", "plural": kind.plural, "singular": kind.kind.lower()}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.plural}.{kind.group}"},
        "spec": {
            "group": kind.group,
            "names": names | ({"shortNames": list(kind.short)} if kind.short else {}),
            "scope": kind.scope,
            "versions": [
                {
                    "name": kind.version,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
                    "subresources": subresources,
                }
            ],
        },
    }
