"""Names, labels and small shapes that several kinds of objects share."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from settings.environment import ProxmoxLocation

if TYPE_CHECKING:
    from settings.environment import Environment

LABELS = {"app.kubernetes.io/managed-by": "hybrid"}
"""On every object that the program makes."""

ADMISSION = "admissionregistration.k8s.io/v1"
RBAC = "rbac.authorization.k8s.io/v1"
RBAC_GROUP = "rbac.authorization.k8s.io"

CLUSTER_NAME = "cluster.x-k8s.io/cluster-name"
DEPLOYMENT_NAME = "cluster.x-k8s.io/deployment-name"
LOCATION = "node.cluster.x-k8s.io/location"
POOL = "node.cluster.x-k8s.io/pool"
REGION = "topology.kubernetes.io/region"

SERVICE_ACCOUNT = "hybrid"
"""The tenant's own identity in its namespace; also its Role and RoleBinding."""

HANDOVER = "hybrid-handover"


def metadata(name: str, namespace: str | None = None, **more: dict[str, str]) -> dict[str, Any]:
    """Give an object's metadata; `more` is labels (added to the usual ones) and annotations."""
    result: dict[str, Any] = {"name": name}
    if namespace:
        result["namespace"] = namespace
    result["labels"] = {**LABELS, **more.get("labels", {})}
    if more.get("annotations"):
        result["annotations"] = dict(more["annotations"])
    return result


def content_hash(spec: Any) -> str:
    """Give the 8 characters by which a template's name follows its content."""
    text = json.dumps(spec, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def pve_secret(location: str) -> str:
    """Name the Secret with a tenant's Proxmox VE credentials at a location."""
    return f"pve-{location}"


def home_kubeconfigs(environment: Environment, tenant: str) -> list[str]:
    """Name the kubeconfigs that the hosted control planes of a tenant's clusters have, sorted."""
    return sorted(kubeconfig(name) for name in environment.tenants[tenant].clusters)


def kubeconfig(cluster: str) -> str:
    """Name the Secret in which Cluster API looks for a Cluster's kubeconfig."""
    return f"{cluster}-kubeconfig"


def proxmox_locations(environment: Environment) -> list[str]:
    """Name the Proxmox VE locations, sorted."""
    return sorted(name for name, item in environment.locations.items() if isinstance(item, ProxmoxLocation))


def identities(environment: Environment) -> list[str]:
    """Name the users that the tenants' own identities are, sorted."""
    return sorted(
        f"system:serviceaccount:{namespace}:{SERVICE_ACCOUNT}" for namespace in tenant_namespaces(environment)
    )


def tenant_namespaces(environment: Environment) -> list[str]:
    """Name the tenants' namespaces, sorted."""
    return sorted(tenant.namespace for tenant in environment.tenants.values())
