"""What the example stacks register: a change here moves or replaces things that live (issue an alias instead).

Parent → type → logical names. `<hash8>` and `<hash16>` stand for content hashes.
"""

from __future__ import annotations

Frozen = dict[str, dict[str, tuple[str, ...]]]


ENVIRONMENT: Frozen = {
    "hybrid-lab": {
        "hybrid:index:Isolation": ("isolation",),
        "hybrid:index:Location": (
            "dc",
            "fsn1",
            "lab",
        ),
        "hybrid:index:NetworkZone": ("workers",),
        "hybrid:index:TenantAccess": (
            "acme",
            "globex",
        ),
        "pulumi:providers:kubernetes": ("management",),
    },
    "acme": {
        "kubernetes:core/v1:Secret": (
            "Secret/tenant-acme/hybrid-handover",
            "Secret/tenant-acme/hybrid-token",
            "Secret/tenant-acme/pve-dc",
            "Secret/tenant-acme/pve-lab",
        ),
        "kubernetes:core/v1:ServiceAccount": ("ServiceAccount/tenant-acme/hybrid",),
        "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole": ("ClusterRole/hybrid-lab-acme",),
        "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding": ("ClusterRoleBinding/hybrid-lab-acme",),
        "kubernetes:rbac.authorization.k8s.io/v1:Role": ("Role/tenant-acme/hybrid",),
        "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding": ("RoleBinding/tenant-acme/hybrid",),
    },
    "dc": {
        "proxmoxve:index/acl:Acl": (
            "dc-acme-token-disk-storage-tank",
            "dc-acme-token-iso-storage-iso-acme",
            "dc-acme-token-network-sdn-zones-localnetwork-vmbr1-301",
            "dc-acme-token-node-nodes-dc1",
            "dc-acme-token-template-pool-templates",
            "dc-acme-token-vm-pool-lab-acme",
            "dc-acme-user-disk-storage-tank",
            "dc-acme-user-iso-storage-iso-acme",
            "dc-acme-user-network-sdn-zones-localnetwork-vmbr1-301",
            "dc-acme-user-node-nodes-dc1",
            "dc-acme-user-template-pool-templates",
            "dc-acme-user-vm-pool-lab-acme",
        ),
        "proxmoxve:index/poolLegacy:PoolLegacy": ("dc-acme-pool",),
        "proxmoxve:index/roleLegacy:RoleLegacy": (
            "dc-disk",
            "dc-iso",
            "dc-network",
            "dc-node",
            "dc-template",
            "dc-vm",
        ),
        "proxmoxve:index/userLegacy:UserLegacy": ("dc-acme-user",),
        "proxmoxve:user/token:Token": ("dc-acme-token",),
        "pulumi:providers:proxmoxve": ("proxmox-dc",),
    },
    "fsn1": {
        "hcloud:index/network:Network": ("fsn1-acme-network",),
        "hcloud:index/networkSubnet:NetworkSubnet": ("fsn1-acme-subnet",),
        "pulumi:providers:hcloud": ("hcloud-fsn1-acme",),
    },
    "globex": {
        "kubernetes:core/v1:Secret": (
            "Secret/tenant-globex/hybrid-handover",
            "Secret/tenant-globex/hybrid-token",
            "Secret/tenant-globex/pve-lab",
        ),
        "kubernetes:core/v1:ServiceAccount": ("ServiceAccount/tenant-globex/hybrid",),
        "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole": ("ClusterRole/hybrid-lab-globex",),
        "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding": ("ClusterRoleBinding/hybrid-lab-globex",),
        "kubernetes:rbac.authorization.k8s.io/v1:Role": ("Role/tenant-globex/hybrid",),
        "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding": ("RoleBinding/tenant-globex/hybrid",),
    },
    "isolation": {
        "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy": (
            "ValidatingAdmissionPolicy/hybrid-closed-bridges",
            "ValidatingAdmissionPolicy/hybrid-clusters",
            "ValidatingAdmissionPolicy/hybrid-control-planes",
            "ValidatingAdmissionPolicy/hybrid-machines",
            "ValidatingAdmissionPolicy/hybrid-pool-names",
            "ValidatingAdmissionPolicy/hybrid-pools",
            "ValidatingAdmissionPolicy/hybrid-references",
            "ValidatingAdmissionPolicy/hybrid-tenant-secrets",
            "ValidatingAdmissionPolicy/hybrid-zone-machines",
        ),
        "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicyBinding": (
            "ValidatingAdmissionPolicyBinding/hybrid-closed-bridges",
            "ValidatingAdmissionPolicyBinding/hybrid-clusters",
            "ValidatingAdmissionPolicyBinding/hybrid-control-planes",
            "ValidatingAdmissionPolicyBinding/hybrid-machines",
            "ValidatingAdmissionPolicyBinding/hybrid-pool-names",
            "ValidatingAdmissionPolicyBinding/hybrid-references",
            "ValidatingAdmissionPolicyBinding/hybrid-tenant-secrets",
        ),
        "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition": (
            "CustomResourceDefinition/proxmoxnetworktables.proxmox.cozystack.io",
            "CustomResourceDefinition/proxmoxnetworkzones.proxmox.cozystack.io",
        ),
        "kubernetes:proxmox.cozystack.io/v1alpha1:ProxmoxNetworkTable": ("ProxmoxNetworkTable/all",),
    },
    "lab": {
        "proxmoxve:index/acl:Acl": (
            "lab-acme-token-disk-storage-ceph-vm",
            "lab-acme-token-iso-storage-iso-acme",
            "lab-acme-token-network-sdn-zones-localnetwork-vmbr1-201",
            "lab-acme-token-node-nodes-pve1",
            "lab-acme-token-node-nodes-pve2",
            "lab-acme-token-template-pool-templates",
            "lab-acme-token-vm-pool-lab-acme",
            "lab-acme-user-disk-storage-ceph-vm",
            "lab-acme-user-iso-storage-iso-acme",
            "lab-acme-user-network-sdn-zones-localnetwork-vmbr1-201",
            "lab-acme-user-node-nodes-pve1",
            "lab-acme-user-node-nodes-pve2",
            "lab-acme-user-template-pool-templates",
            "lab-acme-user-vm-pool-lab-acme",
            "lab-globex-token-disk-storage-ceph-vm",
            "lab-globex-token-iso-storage-iso-globex",
            "lab-globex-token-network-sdn-zones-localnetwork-vmbr1-202",
            "lab-globex-token-node-nodes-pve1",
            "lab-globex-token-node-nodes-pve2",
            "lab-globex-token-template-pool-templates",
            "lab-globex-token-vm-pool-lab-globex",
            "lab-globex-user-disk-storage-ceph-vm",
            "lab-globex-user-iso-storage-iso-globex",
            "lab-globex-user-network-sdn-zones-localnetwork-vmbr1-202",
            "lab-globex-user-node-nodes-pve1",
            "lab-globex-user-node-nodes-pve2",
            "lab-globex-user-template-pool-templates",
            "lab-globex-user-vm-pool-lab-globex",
        ),
        "proxmoxve:index/poolLegacy:PoolLegacy": (
            "lab-acme-pool",
            "lab-globex-pool",
        ),
        "proxmoxve:index/roleLegacy:RoleLegacy": (
            "lab-disk",
            "lab-iso",
            "lab-network",
            "lab-node",
            "lab-template",
            "lab-vm",
        ),
        "proxmoxve:index/userLegacy:UserLegacy": (
            "lab-acme-user",
            "lab-globex-user",
        ),
        "proxmoxve:user/token:Token": (
            "lab-acme-token",
            "lab-globex-token",
        ),
        "pulumi:providers:proxmoxve": ("proxmox-lab",),
    },
    "workers": {
        "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicyBinding": (
            "ValidatingAdmissionPolicyBinding/hybrid-pools-workers",
            "ValidatingAdmissionPolicyBinding/hybrid-zone-machines-workers",
        ),
        "kubernetes:ipam.cluster.x-k8s.io/v1alpha2:InClusterIPPool": (
            "InClusterIPPool/tenant-acme/acme-dc",
            "InClusterIPPool/tenant-acme/acme-lab",
            "InClusterIPPool/tenant-globex/globex-lab",
        ),
        "kubernetes:proxmox.cozystack.io/v1alpha1:ProxmoxNetworkZone": ("ProxmoxNetworkZone/workers",),
    },
}

ACME: Frozen = {
    "hybrid-lab-acme": {
        "hybrid:index:TenantCluster": ("prod",),
        "pulumi:providers:hcloud": ("hcloud-fsn1",),
        "pulumi:providers:kubernetes": ("management",),
        "pulumi:providers:proxmoxve": ("proxmox-dc",),
    },
    "prod": {
        "hybrid:index:WorkerPool": (
            "prod-cloud",
            "prod-dc",
            "prod-lab",
        ),
        "kubernetes:cluster.x-k8s.io/v1beta1:Cluster": ("Cluster/tenant-acme/prod",),
        "kubernetes:controlplane.cluster.x-k8s.io/v1alpha1:KamajiControlPlane": (
            "KamajiControlPlane/tenant-acme/prod",
        ),
        "kubernetes:infrastructure.cluster.x-k8s.io/v1alpha1:ProxmoxCluster": ("ProxmoxCluster/tenant-acme/prod",),
    },
    "prod-cloud": {
        "hcloud:index/firewall:Firewall": ("prod-cloud-firewall",),
        "hcloud:index/placementGroup:PlacementGroup": ("prod-cloud-group-0",),
        "hcloud:index/server:Server": (
            "prod-cloud-0",
            "prod-cloud-1",
        ),
    },
    "prod-dc": {
        "proxmoxve:index/fileLegacy:FileLegacy": (
            "prod-dc-0-<hash16>",
            "prod-dc-1-<hash16>",
            "prod-dc-2-<hash16>",
        ),
        "proxmoxve:index/vmLegacy:VmLegacy": (
            "prod-dc-0",
            "prod-dc-1",
            "prod-dc-2",
        ),
    },
    "prod-lab": {
        "kubernetes:bootstrap.cluster.x-k8s.io/v1alpha3:TalosConfigTemplate": (
            "TalosConfigTemplate/tenant-acme/prod-lab-<hash8>",
        ),
        "kubernetes:cluster.x-k8s.io/v1beta1:MachineDeployment": ("MachineDeployment/tenant-acme/prod-lab",),
        "kubernetes:cluster.x-k8s.io/v1beta1:MachineHealthCheck": ("MachineHealthCheck/tenant-acme/prod-lab",),
        "kubernetes:infrastructure.cluster.x-k8s.io/v1alpha1:ProxmoxMachineTemplate": (
            "ProxmoxMachineTemplate/tenant-acme/prod-lab-<hash8>",
        ),
    },
}

GLOBEX: Frozen = {
    "hybrid-lab-globex": {
        "hybrid:index:TenantCluster": ("prod",),
        "pulumi:providers:kubernetes": ("management",),
        "pulumi:providers:proxmoxve": ("proxmox-lab",),
    },
    "prod": {
        "hybrid:index:WorkerPool": ("prod-small",),
        "kubernetes:cluster.x-k8s.io/v1beta1:Cluster": ("Cluster/tenant-globex/prod",),
        "kubernetes:controlplane.cluster.x-k8s.io/v1alpha1:KamajiControlPlane": (
            "KamajiControlPlane/tenant-globex/prod",
        ),
        "kubernetes:infrastructure.cluster.x-k8s.io/v1alpha1:ProxmoxCluster": ("ProxmoxCluster/tenant-globex/prod",),
    },
    "prod-small": {
        "proxmoxve:index/fileLegacy:FileLegacy": (
            "prod-small-0-<hash16>",
            "prod-small-1-<hash16>",
        ),
        "proxmoxve:index/vmLegacy:VmLegacy": (
            "prod-small-0",
            "prod-small-1",
        ),
    },
}
