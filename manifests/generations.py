"""What differs between the Cluster API generations of a management cluster: which version serves which kind.

The versions are those of the upstream CRDs of each generation (Cluster API 1.10 and 1.12, capmox 0.7 and 0.9,
in-cluster IPAM 1.0 and 1.1, CABPT 0.6, Kamaji's provider 0.19 and 0.20). Every object is registered under the types of
both, so that a later change of generation updates objects instead of deleting them. What guards a management cluster is
written for both; worker pools by Cluster API only for `capi-1.10` so far.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from settings.environment import Generation

CAPI_1_10: Generation = "capi-1.10"
CAPI_1_12: Generation = "capi-1.12"
GENERATIONS: tuple[Generation, ...] = (CAPI_1_10, CAPI_1_12)
RENDERED: tuple[Generation, ...] = (CAPI_1_10,)
"""Generations whose worker pools these modules know how to write."""


@dataclass(frozen=True)
class CustomKind:
    """A custom kind: its API group, the plural in its addresses, and the version to write in each generation."""

    group: str
    plural: str
    versions: Mapping[Generation, str]


def _both(version: str) -> dict[Generation, str]:
    return {CAPI_1_10: version, CAPI_1_12: version}


_CORE: dict[Generation, str] = {CAPI_1_10: "v1beta1", CAPI_1_12: "v1beta2"}
_CAPMOX: dict[Generation, str] = {CAPI_1_10: "v1alpha1", CAPI_1_12: "v1alpha2"}

KINDS: dict[str, CustomKind] = {
    "Cluster": CustomKind("cluster.x-k8s.io", "clusters", _CORE),
    "InClusterIPPool": CustomKind("ipam.cluster.x-k8s.io", "inclusterippools", _both("v1alpha2")),
    "KamajiControlPlane": CustomKind(
        "controlplane.cluster.x-k8s.io", "kamajicontrolplanes", {CAPI_1_10: "v1alpha1", CAPI_1_12: "v1alpha2"}
    ),
    "Machine": CustomKind("cluster.x-k8s.io", "machines", _CORE),
    "MachineDeployment": CustomKind("cluster.x-k8s.io", "machinedeployments", _CORE),
    "MachineHealthCheck": CustomKind("cluster.x-k8s.io", "machinehealthchecks", _CORE),
    "MachineSet": CustomKind("cluster.x-k8s.io", "machinesets", _CORE),
    "ProxmoxCluster": CustomKind("infrastructure.cluster.x-k8s.io", "proxmoxclusters", _CAPMOX),
    "ProxmoxClusterTemplate": CustomKind("infrastructure.cluster.x-k8s.io", "proxmoxclustertemplates", _CAPMOX),
    "ProxmoxMachine": CustomKind("infrastructure.cluster.x-k8s.io", "proxmoxmachines", _CAPMOX),
    "ProxmoxMachineTemplate": CustomKind("infrastructure.cluster.x-k8s.io", "proxmoxmachinetemplates", _CAPMOX),
    "ProxmoxNetworkTable": CustomKind("proxmox.cozystack.io", "proxmoxnetworktables", _both("v1alpha1")),
    "ProxmoxNetworkZone": CustomKind("proxmox.cozystack.io", "proxmoxnetworkzones", _both("v1alpha1")),
    "TalosConfigTemplate": CustomKind("bootstrap.cluster.x-k8s.io", "talosconfigtemplates", _both("v1alpha3")),
}
"""Every custom kind that the program writes or judges."""

API_VERSIONS: dict[str, tuple[str, ...]] = {
    name: tuple(sorted({f"{kind.group}/{version}" for version in kind.versions.values()}))
    for name, kind in KINDS.items()
}
"""Every apiVersion that a kind has in any generation, sorted: the type aliases of its objects."""

TENANT_KINDS = (
    "Cluster",
    "KamajiControlPlane",
    "MachineDeployment",
    "MachineHealthCheck",
    "ProxmoxCluster",
    "ProxmoxMachineTemplate",
    "TalosConfigTemplate",
)
"""The kinds that a tenant's stack makes in its namespace."""


def version(kind: str, generation: Generation) -> str:
    """Give the version of a kind in a generation, for example "v1beta1"."""
    return KINDS[kind].versions[generation]


def api_version(kind: str, generation: Generation) -> str:
    """Give the apiVersion of a kind in a generation, for example "cluster.x-k8s.io/v1beta1"."""
    return f"{KINDS[kind].group}/{version(kind, generation)}"


def require_rendered(generation: Generation) -> None:
    """Raise ValueError for a generation whose pools can not be written yet (the settings refuse it before)."""
    if generation not in RENDERED:
        message = f"objects of generation {generation} are not rendered yet, only those of {', '.join(RENDERED)}"
        raise ValueError(message)
