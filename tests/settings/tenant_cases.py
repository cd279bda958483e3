"""Every rule of a tenant's stack as a pair: the file that it refuses, and the twin beside it."""

from __future__ import annotations

from typing import Any

from tests.settings.cases import NEW_DC, SECOND_ZONE, Case, row
from tests.settings.files import GONE

PROD = "clusters.prod"
LAB = f"{PROD}.pools.lab"
DC = f"{PROD}.pools.dc"
CLOUD = f"{PROD}.pools.cloud"
SECOND_CLUSTER: dict[str, Any] = {
    "home": "lab",
    "kubernetes": "v1.35.6",
    "talos": "v1.13.6",
    "controlPlane": {"type": "kamaji", "address": "203.0.113.11"},
    "connectivity": "routed",
    "pools": {},
}
SIZE = {"cpu": 2, "memory": "4Gi", "disk": "20Gi"}


def acme(says: str, code: str, path: str, bad: dict[Any, Any], good: dict[Any, Any], **more: Any) -> Case:
    """Make a case of stack `lab-acme`."""
    return Case(says, code, path, bad, good, stack="lab-acme", **more)


def capi(**other: Any) -> dict[str, Any]:
    """Give a legal second `capi-proxmox` pool of acme, changed as wanted."""
    return {
        "backend": "capi-proxmox",
        "network": "acme-lab",
        "vmIds": "2020-2039",
        "size": SIZE,
        "replicas": 3,
        **other,
    }


def direct(**other: Any) -> dict[str, Any]:
    """Give a legal second `proxmox-vm` pool of acme, changed as wanted."""
    return {
        "backend": "proxmox-vm",
        "network": "acme-dc",
        "vmIds": "3010-3019",
        "size": SIZE,
        "replicas": 3,
        **other,
    }


SECOND_ROW = {
    "lab:zones.workers.networks.acme-two": row(
        tenant="acme",
        location="lab",
        vlan=210,
        cidr="10.210.0.0/24",
        gateway="10.210.0.1",
        range="10.210.0.20-10.210.0.29",
    )
}

IDENTITY = [
    acme(
        "another environment than the stack's name says is refused",
        "ENVIRONMENT_MISMATCH",
        "environment",
        {"environment": "live"},
        {"environment": "lab"},
        fix="lab",
    ),
    acme(
        "a missing environment is refused",
        "MISSING_KEY",
        "environment",
        {"environment": GONE},
        {"environment": "lab"},
    ),
    acme(
        "a cluster that the environment does not allow is refused",
        "CLUSTER_NOT_ALLOWED",
        "clusters.tests",
        {"clusters.tests": SECOND_CLUSTER},
        {"clusters.test": SECOND_CLUSTER},
        always={"lab:tenants.acme.clusters": ["prod", "test"]},
        fix="did you mean test?",
    ),
    acme(
        "a tenant that the environment does not know is refused, and nothing else of its stack",
        "UNKNOWN_TENANT",
        "stack",
        {
            "lab:tenants.acme": GONE,
            "lab:locations.lab.tenants.acme": GONE,
            "lab:locations.dc.tenants.acme": GONE,
            "lab:locations.fsn1.tenants.acme": GONE,
            "lab:zones.workers.networks.acme-lab": GONE,
            "lab:zones.workers.networks.acme-dc": GONE,
        },
        {"lab:tenants.acme.namespace": "acme"},
    ),
    acme(
        "a stack of a faulty environment is refused without saying what is wrong there",
        "ENVIRONMENT_REFUSED",
        "environment",
        {"lab:zones.workers.networks.globex-lab.vlan": 201},
        {"lab:zones.workers.networks.globex-lab.vlan": 203},
        fix="make check STACK=lab",
    ),
]

CLUSTERS = [
    acme(
        "an unknown home is refused",
        "UNKNOWN_LOCATION",
        f"{PROD}.home",
        {f"{PROD}.home": "labb"},
        {f"{PROD}.home": "lab"},
        fix="did you mean lab?",
    ),
    acme(
        "a home in the cloud is refused as not built yet",
        "NOT_AVAILABLE",
        f"{PROD}.home",
        {f"{PROD}.home": "fsn1"},
        {f"{PROD}.home": "lab"},
        fix="dc, lab",
    ),
    acme(
        "a home without a network of the tenant is refused",
        "NO_HOME_NETWORK",
        f"{PROD}.home",
        {f"{PROD}.home": "third"},
        {f"{PROD}.home": "dc"},
        always={"lab:locations.third": NEW_DC, LAB: GONE},
    ),
    acme(
        "no network where the tenant has several at home is refused",
        "NETWORK_NEEDED",
        f"{PROD}.network",
        {},
        {f"{PROD}.network": "acme-two"},
        always=SECOND_ROW,
        fix="acme-lab, acme-two",
    ),
    acme(
        "a network away from home is refused",
        "NETWORK_NOT_AT_HOME",
        f"{PROD}.network",
        {f"{PROD}.network": "acme-dc"},
        {f"{PROD}.network": "acme-lab"},
        fix="acme-lab",
    ),
    acme(
        "another tenant's network for a cluster is refused",
        "NOT_YOURS",
        f"{PROD}.network",
        {f"{PROD}.network": "globex-lab"},
        {f"{PROD}.network": "acme-lab"},
        fix="acme-lab",
    ),
    acme(
        "one address for two control planes is refused",
        "ADDRESS_TAKEN",
        "clusters.test.controlPlane.address",
        {"clusters.test.controlPlane.address": "203.0.113.10"},
        {"clusters.test.controlPlane.address": "203.0.113.11"},
        always={"lab:tenants.acme.clusters": ["prod", "test"], "clusters.test": SECOND_CLUSTER},
    ),
    *(
        acme(
            f"a control plane's address {address} is refused",
            "ADDRESS_TAKEN",
            f"{PROD}.controlPlane.address",
            {f"{PROD}.controlPlane.address": address},
            {f"{PROD}.controlPlane.address": good},
        )
        for address, good in (
            ("10.243.0.9", "10.244.0.9"),
            ("10.95.0.10", "10.96.0.10"),
            ("10.201.0.1", "10.200.0.1"),
            ("10.201.0.2", "10.200.0.2"),
            ("10.201.0.20", "10.200.0.20"),
            ("10.202.0.20", "10.200.0.20"),
            ("10.202.0.255", "10.203.0.0"),
            ("10.231.0.200", "10.232.0.200"),
            ("10.100.200.1", "10.101.0.1"),
        )
    ),
    *(
        acme(
            f"a control plane's address {address} is refused as no machine's",
            "ADDRESS_UNUSABLE",
            f"{PROD}.controlPlane.address",
            {f"{PROD}.controlPlane.address": address},
            {f"{PROD}.controlPlane.address": good},
        )
        for address, good in (
            ("0.0.0.0", "1.0.0.1"),  # noqa: S104 - nothing listens here
            ("0.1.2.3", "1.1.2.3"),
            ("127.0.0.1", "128.0.0.1"),
            ("224.0.0.1", "223.0.0.1"),
            ("239.255.255.255", "223.255.255.1"),
            ("169.254.1.1", "169.253.1.1"),
            ("240.0.0.1", "192.168.0.1"),
            ("255.255.255.255", "172.16.0.1"),
        )
    ),
    acme(
        "a version without v is refused",
        "BAD_VERSION",
        f"{PROD}.kubernetes",
        {f"{PROD}.kubernetes": "1.35.6"},
        {f"{PROD}.kubernetes": "v1.35.6"},
        fix="v1.35.6",
    ),
    acme(
        "a version of two numbers is refused",
        "BAD_VERSION",
        f"{PROD}.talos",
        {f"{PROD}.talos": "v1.13"},
        {f"{PROD}.talos": "v1.13.0"},
    ),
    acme(
        "a version with a leading zero is refused",
        "BAD_VERSION",
        f"{PROD}.kubernetes",
        {f"{PROD}.kubernetes": "v1.035.6"},
        {f"{PROD}.kubernetes": "v1.35.0"},
    ),
    acme(
        "a version that YAML reads as a number is refused",
        "NOT_TEXT",
        f"{PROD}.kubernetes",
        {f"{PROD}.kubernetes": 1.1},
        {f"{PROD}.kubernetes": "v1.31.0"},
        fix="quotes",
    ),
    *(
        acme(
            f"Kubernetes {bad} with Talos 1.13 is refused",
            "KUBERNETES_UNSUPPORTED",
            f"{PROD}.kubernetes",
            {f"{PROD}.kubernetes": bad},
            {f"{PROD}.kubernetes": good},
            fix=good.rpartition(".")[0],
        )
        for bad, good in (("v1.30.9", "v1.31.0"), ("v1.37.0", "v1.36.9"))
    ),
    *(
        acme(
            f"a control plane of type {kind} is refused as not built yet",
            "NOT_AVAILABLE",
            f"{PROD}.controlPlane.type",
            {f"{PROD}.controlPlane": {"type": kind, "host": "x"}},
            {f"{PROD}.controlPlane": {"type": "kamaji", "address": "203.0.113.10"}},
            fix="kamaji",
        )
        for kind in ("existing", "external")
    ),
    acme(
        "an unknown type of control plane is refused",
        "NOT_ONE_OF",
        f"{PROD}.controlPlane.type",
        {f"{PROD}.controlPlane.type": "kubeadm"},
        {f"{PROD}.controlPlane.type": "kamaji"},
        fix="kamaji",
    ),
    acme(
        "an unknown connectivity is refused",
        "NOT_ONE_OF",
        f"{PROD}.connectivity",
        {f"{PROD}.connectivity": "wireguard"},
        {f"{PROD}.connectivity": "cilium-wireguard"},
        fix="cilium-wireguard",
    ),
    acme(
        "an address that is none is refused",
        "BAD_ADDRESS",
        f"{PROD}.controlPlane.address",
        {f"{PROD}.controlPlane.address": "203.0.113.256"},
        {f"{PROD}.controlPlane.address": "203.0.113.255"},
    ),
]

BACKENDS = [
    *(
        acme(
            f"the backend {backend} is refused as not built yet",
            "NOT_AVAILABLE",
            f"{PROD}.pools.burst.backend",
            {f"{PROD}.pools.burst": {"backend": backend, "location": "fsn1", "scale": {"min": 0, "max": 10}}},
            {
                f"{PROD}.pools.burst": {
                    "backend": "hcloud-server",
                    "location": "fsn1",
                    "serverType": "cpx32",
                    "replicas": 1,
                }
            },
            fix="hcloud-server",
        )
        for backend in ("hetzner-autoscaler", "capi-hetzner")
    ),
    acme(
        "an unknown backend is refused",
        "NOT_ONE_OF",
        f"{LAB}.backend",
        {f"{LAB}.backend": "capi-proxmx"},
        {f"{LAB}.backend": "capi-proxmox"},
        fix="did you mean capi-proxmox?",
    ),
    acme(
        "a pool without a backend is refused",
        "MISSING_KEY",
        f"{LAB}.backend",
        {f"{LAB}.backend": GONE},
        {f"{LAB}.backend": "capi-proxmox"},
        fix="capi-proxmox, hcloud-server, proxmox-vm",
    ),
    acme(
        "a capi-proxmox pool in the newer generation is refused as not built yet",
        "NOT_AVAILABLE",
        f"{LAB}.backend",
        {"lab:management.generation": "capi-1.12"},
        {"lab:management.generation": "capi-1.10"},
        fix="proxmox-vm",
    ),
    acme(
        "a capi-proxmox pool outside the home location is refused as not built yet",
        "NOT_AVAILABLE",
        f"{PROD}.pools.two.network",
        {f"{PROD}.pools.two": capi(network="acme-dc", vmIds="3010-3019")},
        {f"{PROD}.pools.two": direct()},
        fix="proxmox-vm",
        always={DC: GONE},
    ),
    acme(
        "a pool of the program on a network of controllers' pools is refused",
        "MIXED_NETWORK",
        f"{PROD}.pools.two.network",
        {f"{PROD}.pools.two": direct(network="acme-lab", vmIds="2020-2029", nodes=["pve1"])},
        {f"{PROD}.pools.two": capi()},
    ),
    acme(
        "storage that is not shared among several nodes is refused for capi-proxmox",
        "STORAGE_NOT_SHARED",
        f"{LAB}.backend",
        {"lab:locations.lab.storage.shared": False},
        {"lab:locations.lab.storage.shared": False, "lab:locations.lab.nodes.pve2": GONE},
    ),
    acme(
        "a server pool in a Proxmox location is refused",
        "WRONG_LOCATION_TYPE",
        f"{CLOUD}.location",
        {f"{CLOUD}.location": "dc"},
        {f"{CLOUD}.location": "fsn1"},
        fix="fsn1",
    ),
    acme(
        "a server pool in an unknown location is refused",
        "UNKNOWN_LOCATION",
        f"{CLOUD}.location",
        {f"{CLOUD}.location": "fsn"},
        {f"{CLOUD}.location": "fsn1"},
        fix="did you mean fsn1?",
    ),
    acme(
        "a server type in capitals is refused",
        "BAD_NAME",
        f"{CLOUD}.serverType",
        {f"{CLOUD}.serverType": "CPX32"},
        {f"{CLOUD}.serverType": "cpx32"},
    ),
    acme(
        "a server type of 31 letters is refused",
        "NAME_TOO_LONG",
        f"{CLOUD}.serverType",
        {f"{CLOUD}.serverType": "c" * 31},
        {f"{CLOUD}.serverType": "c" * 30},
    ),
    acme(
        "a server type with another processor than the images are for is refused",
        "NOT_AVAILABLE",
        f"{CLOUD}.serverType",
        {f"{CLOUD}.serverType": "cax21"},
        {f"{CLOUD}.serverType": "cx21"},
        fix="cpx32",
    ),
    *(
        acme(
            f"a raw {key} in a pool is refused as the platform's",
            "PLATFORM_OWNS",
            f"{LAB}.{key}",
            {f"{LAB}.{key}": value},
            {},
            fix="acme-lab",
        )
        for key, value in (
            ("bridge", "vmbr1"),
            ("vlan", 202),
            ("gateway", "10.201.0.1"),
            ("range", "10.201.0.20-10.201.0.30"),
        )
    ),
    acme(
        "a raw VLAN in place of a network is one problem",
        "PLATFORM_OWNS",
        f"{LAB}.vlan",
        {f"{LAB}.vlan": 201, f"{LAB}.network": GONE},
        {f"{LAB}.network": "acme-lab"},
        fix="acme-dc, acme-lab",
    ),
]

SIZES = [
    acme(
        "both replicas and scale are refused",
        "REPLICAS_OR_SCALE",
        LAB,
        {f"{LAB}.replicas": 3},
        {f"{LAB}.replicas": 3, f"{LAB}.scale": GONE},
    ),
    acme(
        "neither replicas nor scale is refused",
        "REPLICAS_OR_SCALE",
        LAB,
        {f"{LAB}.scale": GONE},
        {f"{LAB}.scale": {"min": 0, "max": 1}},
    ),
    acme(
        "a min above the max is refused",
        "MIN_ABOVE_MAX",
        f"{LAB}.scale.min",
        {f"{LAB}.scale": {"min": 6, "max": 5}},
        {f"{LAB}.scale": {"min": 5, "max": 5}},
        fix="5",
    ),
    acme(
        "a negative number of machines is refused",
        "OUT_OF_BOUNDS",
        f"{DC}.replicas",
        {f"{DC}.replicas": -1},
        {f"{DC}.replicas": 0},
        fix="0",
    ),
    acme(
        "a number of machines in quotes is refused",
        "NOT_A_NUMBER",
        f"{DC}.replicas",
        {f"{DC}.replicas": "3"},
        {f"{DC}.replicas": 3},
    ),
    acme(
        "a truth value as a number is refused",
        "NOT_A_NUMBER",
        f"{DC}.replicas",
        {f"{DC}.replicas": True},
        {f"{DC}.replicas": 1},
    ),
    acme(
        "a rollout that can replace nothing is refused",
        "ROLLOUT_STUCK",
        f"{LAB}.rollout",
        {f"{LAB}.rollout": {"surge": 0, "unavailable": 0}},
        {f"{LAB}.rollout": {"surge": 0, "unavailable": 1}},
    ),
    acme(
        "memory that is no multiple of 8 MiB is refused",
        "BAD_MEMORY",
        f"{LAB}.size.memory",
        {f"{LAB}.size.memory": "8195Mi"},
        {f"{LAB}.size.memory": "8200Mi"},
        fix="8192Mi",
    ),
    acme(
        "memory in GB is refused",
        "BAD_MEMORY",
        f"{LAB}.size.memory",
        {f"{LAB}.size.memory": "8GB"},
        {f"{LAB}.size.memory": "8Gi"},
        fix="8Gi",
    ),
    acme(
        "memory as a number is refused",
        "BAD_MEMORY",
        f"{LAB}.size.memory",
        {f"{LAB}.size.memory": 8192},
        {f"{LAB}.size.memory": "8192Mi"},
    ),
    *(
        acme(
            f"memory of {bad}, on which Talos does not start, is refused",
            "BAD_MEMORY",
            f"{LAB}.size.memory",
            {f"{LAB}.size.memory": bad},
            {f"{LAB}.size.memory": good},
            fix="write 1",
        )
        for bad, good in (("1016Mi", "1024Mi"), ("512MB", "1Gi"), ("8Mi", "1032Mi"))
    ),
    acme(
        "no machines for now are accepted, and a negative number is not",
        "OUT_OF_BOUNDS",
        f"{LAB}.scale.min",
        {f"{LAB}.scale": {"min": -1, "max": 0}},
        {f"{LAB}.scale": {"min": 0, "max": 0}},
    ),
    acme(
        "a disk smaller than the template's is refused",
        "DISK_TOO_SMALL",
        f"{LAB}.size.disk",
        {f"{LAB}.size.disk": "39Gi"},
        {f"{LAB}.size.disk": "40Gi"},
        always={"lab:locations.lab.template.disk": "40Gi"},
        fix="40Gi",
    ),
    acme(
        "a machine of the program with a disk smaller than the template's is refused",
        "DISK_TOO_SMALL",
        f"{DC}.size.disk",
        {f"{DC}.size.disk": "9Gi"},
        {f"{DC}.size.disk": "10Gi"},
        always={"lab:locations.dc.template.disk": "10Gi"},
    ),
    acme(
        "memory above the largest node's is refused",
        "MEMORY_TOO_LARGE",
        f"{DC}.size.memory",
        {f"{DC}.size.memory": "513Gi"},
        {f"{DC}.size.memory": "512Gi"},
        fix="524288Mi",
    ),
    acme(
        "a disk below 5 GiB is refused",
        "BAD_DISK",
        f"{LAB}.size.disk",
        {f"{LAB}.size.disk": "4Gi"},
        {f"{LAB}.size.disk": "5Gi"},
        fix="5Gi",
    ),
    acme(
        "no cores are refused",
        "OUT_OF_BOUNDS",
        f"{LAB}.size.cpu",
        {f"{LAB}.size.cpu": 0},
        {f"{LAB}.size.cpu": 1},
    ),
]

CAPACITY = [
    acme(
        "ids outside the tenant's are refused",
        "IDS_OUTSIDE",
        f"{DC}.vmIds",
        {f"{DC}.vmIds": "3095-3104"},
        {f"{DC}.vmIds": "3090-3099"},
        fix="3000-3009",
    ),
    acme(
        "ids that two pools share are refused",
        "IDS_OVERLAP",
        f"{PROD}.pools.two.vmIds",
        {f"{PROD}.pools.two": capi(vmIds="2019-2029")},
        {f"{PROD}.pools.two": capi(vmIds="2020-2029")},
        fix="2030-2040",
    ),
    acme(
        "ids that pools of two clusters share are refused",
        "IDS_OVERLAP",
        "clusters.test.pools.two.vmIds",
        {"clusters.test.pools.two": capi(vmIds="2019-2029")},
        {"clusters.test.pools.two": capi(vmIds="2020-2029")},
        always={"lab:tenants.acme.clusters": ["prod", "test"], "clusters.test": SECOND_CLUSTER},
    ),
    acme(
        "the same ids in two locations are accepted, and in one refused",
        "IDS_OVERLAP",
        f"{PROD}.pools.two.vmIds",
        {f"{PROD}.pools.two": direct(vmIds="3009-3019")},
        {DC + ".vmIds": "2000-2009", "lab:locations.dc.tenants.acme.vmIds": "2000-2099"},
    ),
    acme(
        "fewer ids than max and surge are refused",
        "IDS_TOO_FEW",
        f"{LAB}.vmIds",
        {f"{LAB}.vmIds": "2000-2004"},
        {f"{LAB}.vmIds": "2000-2005"},
        fix="2000-2005",
    ),
    acme(
        "fewer ids than replicas and surge are refused",
        "IDS_TOO_FEW",
        f"{PROD}.pools.two.vmIds",
        {f"{PROD}.pools.two": capi(vmIds="2020-2023", rollout={"surge": 2, "unavailable": 0})},
        {f"{PROD}.pools.two": capi(vmIds="2020-2024", rollout={"surge": 2, "unavailable": 0})},
    ),
    acme(
        "fewer ids than machines of the program are refused, and no surge is asked of them",
        "IDS_TOO_FEW",
        f"{DC}.vmIds",
        {f"{DC}.vmIds": "3000-3001"},
        {f"{DC}.vmIds": "3000-3002"},
    ),
    acme(
        "a network with fewer addresses than its pools can have machines is refused",
        "ADDRESSES_TOO_FEW",
        f"{PROD}.pools.two.network",
        {"lab:zones.workers.networks.acme-lab.range": "10.201.0.20-10.201.0.28"},
        {"lab:zones.workers.networks.acme-lab.range": "10.201.0.20-10.201.0.29"},
        always={f"{PROD}.pools.two": capi()},
        fix="at most 3",
    ),
    acme(
        "a network of 10 addresses for 10 machines and one of surge is refused",
        "ADDRESSES_TOO_FEW",
        f"{LAB}.network",
        {f"{LAB}.scale.max": 10},
        {f"{LAB}.scale.max": 9},
        always={"lab:zones.workers.networks.acme-lab.range": ["10.201.0.20-10.201.0.24", "10.201.0.40-10.201.0.44"]},
    ),
    acme(
        "a machine of the program whose id has no address is refused",
        "ADDRESS_MISSING",
        f"{DC}.vmIds",
        {"lab:zones.workers.networks.acme-dc.range": "10.231.0.20-10.231.0.21"},
        {"lab:zones.workers.networks.acme-dc.range": "10.231.0.20-10.231.0.22"},
        fix="3000-3001",
    ),
    acme(
        "more servers than the subnet has addresses are refused",
        "ADDRESSES_TOO_FEW",
        f"{CLOUD}.replicas",
        {f"{CLOUD}.replicas": 14},
        {f"{CLOUD}.replicas": 13},
        always={"lab:locations.fsn1.tenants.acme.subnet": "10.100.1.0/28"},
        fix="at most 13",
    ),
    acme(
        "servers of two pools in a subnet that has addresses for one are refused",
        "ADDRESSES_TOO_FEW",
        f"{PROD}.pools.two.replicas",
        {f"{PROD}.pools.two": {"backend": "hcloud-server", "location": "fsn1", "serverType": "cpx32", "replicas": 4}},
        {f"{PROD}.pools.two": {"backend": "hcloud-server", "location": "fsn1", "serverType": "cpx32", "replicas": 3}},
        always={"lab:locations.fsn1.tenants.acme.subnet": "10.100.1.0/29"},
        fix="at most 3",
    ),
    acme(
        "ids in other scripts' digits are refused",
        "BAD_VM_IDS",
        f"{DC}.vmIds",
        {f"{DC}.vmIds": "\u0663\u0660\u0660\u0660-3009"},
        {f"{DC}.vmIds": "3000-3009"},
    ),
    acme(
        "ids that begin below 100 are refused",
        "BAD_VM_IDS",
        f"{DC}.vmIds",
        {f"{DC}.vmIds": "0-9"},
        {f"{DC}.vmIds": "3000-3009"},
    ),
]

GLOBEX_POOL = f"{PROD}.pools.small"
NODES = [
    Case(
        "no nodes where the location has several are refused",
        "NODES_NEEDED",
        f"{GLOBEX_POOL}.nodes",
        {f"{GLOBEX_POOL}.nodes": GONE},
        {f"{GLOBEX_POOL}.nodes": ["pve2"]},
        stack="lab-globex",
        fix="pve1, pve2",
    ),
    Case(
        "an unknown node is refused",
        "UNKNOWN_NODE",
        f"{GLOBEX_POOL}.nodes.1",
        {f"{GLOBEX_POOL}.nodes": ["pve1", "pve3"]},
        {f"{GLOBEX_POOL}.nodes": ["pve2", "pve1"]},
        stack="lab-globex",
        fix="pve1, pve2",
    ),
    Case(
        "a node that a pool names twice is refused",
        "DUPLICATE_NAME",
        f"{GLOBEX_POOL}.nodes.1",
        {f"{GLOBEX_POOL}.nodes": ["pve1", "pve1"]},
        {f"{GLOBEX_POOL}.nodes": ["pve1"]},
        stack="lab-globex",
    ),
    Case(
        "a node that the template does not reach is refused",
        "TEMPLATE_NOT_THERE",
        f"{GLOBEX_POOL}.nodes.0",
        {f"{GLOBEX_POOL}.nodes": ["pve2"]},
        {f"{GLOBEX_POOL}.nodes": ["pve1"]},
        stack="lab-globex",
        always={"lab:locations.lab.storage.shared": False},
        fix="pve1",
    ),
    Case(
        "memory above the smallest named node's is refused",
        "MEMORY_TOO_LARGE",
        f"{GLOBEX_POOL}.size.memory",
        {f"{GLOBEX_POOL}.nodes": ["pve1", "pve2"]},
        {f"{GLOBEX_POOL}.nodes": ["pve1"]},
        stack="lab-globex",
        always={"lab:locations.lab.nodes.pve2.memory": "2Gi"},
        fix="2048Mi",
    ),
    Case(
        "another tenant's network is refused",
        "NOT_YOURS",
        f"{GLOBEX_POOL}.network",
        {f"{GLOBEX_POOL}.network": "acme-lab"},
        {f"{GLOBEX_POOL}.network": "globex-lab"},
        stack="lab-globex",
        fix="globex-lab",
    ),
]

NAMES = [
    acme(
        "a MachineDeployment's name above 50 characters is refused",
        "NAME_TOO_LONG",
        f"{PROD}.pools.{'p' * 46}",
        {f"{PROD}.pools.{'p' * 46}": capi()},
        {f"{PROD}.pools.{'p' * 45}": capi()},
        fix="by 1",
    ),
    acme(
        "a machine's name above 63 characters is refused",
        "NAME_TOO_LONG",
        f"{PROD}.pools.{'p' * 56}",
        {f"{PROD}.pools.{'p' * 56}": direct(replicas=11, vmIds="3010-3029")},
        {f"{PROD}.pools.{'p' * 56}": direct(replicas=10)},
        fix="by 1",
    ),
    acme(
        "a pool named like another pool's machine is refused",
        "NAME_CLASH",
        f"{PROD}.pools.dc-1",
        {f"{PROD}.pools.dc-1": direct()},
        {f"{PROD}.pools.dc-a": direct()},
    ),
    acme(
        "a pool's name in capitals is refused",
        "BAD_NAME",
        f"{PROD}.pools.Two",
        {f"{PROD}.pools.Two": direct()},
        {f"{PROD}.pools.two": direct()},
    ),
    acme(
        "a cluster's name with a dash is refused",
        "BAD_NAME",
        "clusters.prod-b",
        {"clusters.prod-b": SECOND_CLUSTER},
        {"clusters.prodb": SECOND_CLUSTER},
        always={"lab:tenants.acme.clusters": ["prod", "prodb"]},
    ),
]


def _label(key: str, good_key: str, code: str, values: tuple[str, str] = ("x", "x"), says: str = "") -> Case:
    place = f"{DC}.labels"
    shown = says or f"the label {key}"
    value, good = values
    return acme(f"{shown} is refused", code, f"{place}.{key}", {place: {key: value}}, {place: {good_key: good}})


SCHEDULING = [
    _label("node.cluster.x-k8s.io/location", "example.com/location", "LABEL_RESERVED"),
    _label("node.cluster.x-k8s.io/pool", "node.cluster.x-k8s.io/tier", "LABEL_RESERVED"),
    _label("topology.kubernetes.io/region", "topology.kubernetes.io/zone", "LABEL_RESERVED"),
    _label("kubernetes.io/hostname", "example.com/hostname", "LABEL_RESERVED"),
    _label("kubernetes.io/tier", "node.kubernetes.io/tier", "LABEL_RESERVED"),
    _label("node-role.kubernetes.io/worker", "role.example.com/worker", "LABEL_RESERVED"),
    _label("k8s.io/tier", "x-k8s.io/tier", "LABEL_RESERVED"),
    _label("-tier", "tier", "BAD_KEY"),
    _label("t" * 64, "t" * 63, "BAD_KEY", says="a label's name of 64 characters"),
    _label("Example.com/tier", "example.com/Tier", "BAD_KEY"),
    _label("/tier", "tier", "BAD_KEY"),
    _label("tier", "tier", "BAD_LABEL_VALUE", ("a b", "a.b"), says="a label's value with a space"),
    _label("tier", "tier", "BAD_LABEL_VALUE", ("v" * 64, "v" * 63), says="a label's value of 64 characters"),
    _label("tier", "tier", "BAD_LABEL_VALUE", ("db-", ""), says="a label's value that ends with a dash"),
    acme(
        "a label's value that YAML reads as a truth value is refused",
        "NOT_TEXT",
        f"{DC}.labels.ssd",
        {f"{DC}.labels": {"ssd": True}},
        {f"{DC}.labels": {"ssd": "true"}},
        fix="quotes",
    ),
    *(
        acme(
            f"the taint {bad} is refused",
            code,
            f"{DC}.taints.0",
            {f"{DC}.taints": [bad]},
            {f"{DC}.taints": [good]},
        )
        for bad, good, code in (
            ("tier=db", "tier=db:NoSchedule", "BAD_TAINT"),
            ("tier=db:NoSchedul", "tier=db:PreferNoSchedule", "BAD_TAINT"),
            ("=db:NoExecute", "tier:NoExecute", "BAD_TAINT"),
            ("tier=d b:NoExecute", "tier=d-b:NoExecute", "BAD_TAINT"),
            ("node.kubernetes.io/unreachable:NoExecute", "example.com/unreachable:NoExecute", "TAINT_RESERVED"),
        )
    ),
    acme(
        "two taints of one key and effect are refused",
        "DUPLICATE_NAME",
        f"{DC}.taints.1",
        {f"{DC}.taints": ["tier=db:NoSchedule", "tier=web:NoSchedule"]},
        {f"{DC}.taints": ["tier=db:NoSchedule", "tier=web:NoExecute"]},
    ),
]

OUT_OF_ORDER = [
    acme(
        "a network in another zone of the tenant's is found by its name",
        "NOT_YOURS",
        f"{DC}.network",
        {f"{DC}.network": "acme-other"},
        {f"{DC}.network": "acme-two"},
        always={
            "lab:zones.second": {
                **SECOND_ZONE,
                "networks": {"acme-two": row(tenant="acme")},
            }
        },
    ),
]

TENANT_CASES = [
    *IDENTITY,
    *CLUSTERS,
    *BACKENDS,
    *SIZES,
    *CAPACITY,
    *NODES,
    *NAMES,
    *SCHEDULING,
    *OUT_OF_ORDER,
]
