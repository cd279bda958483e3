"""What an environment's stack may make, case by case; see `cases.py`."""

from __future__ import annotations

from typing import Any

from tenant_isolation import networks, rights

from tests.policy.analyzer import UNKNOWN
from tests.policy.cases import GONE, TENANT, Body, Case, Example, anything, of, passes, put, refused
from tests.policy.examples import DC, HCLOUD, LAB, PROXMOX, kubernetes

ADMIN = (PROXMOX[0], {"endpoint": LAB, "apiToken": "root@pam!x=uuid"})
IN_DC = (PROXMOX[0], {"endpoint": DC, "apiToken": "root@pam!x=uuid"})
MANAGEMENT = kubernetes("lab")
RBAC = "rbac.authorization.k8s.io"


def made(name: str, token: str, props: Body, provider: Any = ADMIN) -> Example:
    return Example(name, token, props, provider, "lab")


def k8s(kind: str, api_version: str, namespace: str | None = None, name: str = "hybrid", **fields: Any) -> Example:
    group = api_version if "/" in api_version else f"core/{api_version}"
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    body = {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}
    return made(kind, f"kubernetes:{group}:{kind}", body, MANAGEMENT)


def row_of(name: str, vlan: int, namespace: str, **more: Any) -> Body:
    ranges = {"addresses": [f"10.{vlan}.0.20-10.{vlan}.0.99"], "gateway": f"10.{vlan}.0.1", "prefix": 24}
    return {"name": name, "namespace": namespace, "vlan": vlan, **ranges, **more}


ROLE = made("role", "proxmoxve:index/roleLegacy:RoleLegacy", {"roleId": "hybrid-lab-vm", "privileges": ["VM.Allocate"]})
SDN_ROLE = made("SDN role", ROLE.token, {"roleId": "hybrid-lab-network", "privileges": ["SDN.Use", "SDN.Audit"]})
USER = made(
    "user", "proxmoxve:index/userLegacy:UserLegacy", {"userId": "lab-globex@pve", "enabled": True, "comment": ""}
)
TOKEN = made(
    "token",
    "proxmoxve:user/token:Token",
    {"userId": "lab-globex@pve", "tokenName": "hybrid", "privilegesSeparation": True},
)
POOL = made("resource pool", "proxmoxve:index/poolLegacy:PoolLegacy", {"poolId": "lab-globex", "comment": "x"})
ACL = made(
    "ACL",
    "proxmoxve:index/acl:Acl",
    {
        "path": "/sdn/zones/localnetwork/vmbr1/202",
        "roleId": "hybrid-lab-network",
        "userId": "lab-globex@pve",
        "propagate": False,
    },
)
TOKEN_ACL = made("token's ACL", ACL.token, put(put(ACL.props, "userId", GONE), "tokenId", "lab-globex@pve!hybrid-2"))
BRIDGE = made(
    "bridge",
    "proxmoxve:network/linux/bridge:Bridge",
    {"name": "vmbr1", "nodeName": "pve1", "ports": ["eno1"], "vlanAware": True},
)
VLAN = made(
    "VLAN",
    "proxmoxve:network/linux/vlan:Vlan",
    {"name": "vlan202", "interface": "vmbr1", "vlan": 202, "nodeName": "pve1"},
)
ZONE = made("SDN zone", "proxmoxve:sdn/zone/vlan:Vlan", {"resourceId": "z", "bridge": "vmbr2"})
VNET = made("vnet", "proxmoxve:sdn/vnet:Vnet", {"resourceId": "v", "zone": "z", "tag": 202})
APPLIER = made("applier", "proxmoxve:sdn/applier:Applier", {"onCreate": True})
NETWORK = made(
    "network", "hcloud:index/network:Network", {"name": "a", "ipRange": "10.101.0.0/16", "labels": {}}, HCLOUD
)
SUBNET = made(
    "subnet",
    "hcloud:index/networkSubnet:NetworkSubnet",
    {"networkId": UNKNOWN, "type": "cloud", "networkZone": "eu-central", "ipRange": "10.101.1.0/24"},
    HCLOUD,
)
NETWORK_ZONE = k8s(
    "ProxmoxNetworkZone",
    "proxmox.cozystack.io/v1alpha1",
    name="workers",
    spec={"bridge": "vmbr1", "networks": [row_of("globex-lab", 202, "tenant-globex", pool="globex-lab")]},
)
NETWORK_TABLE = k8s(
    "ProxmoxNetworkTable",
    "proxmox.cozystack.io/v1alpha1",
    name="all",
    spec={
        "networks": [
            row_of("globex-storage", 212, "tenant-globex", bridge="vmbr2"),
            row_of("acme-lab", 201, "tenant-acme", bridge="vmbr1"),
        ],
        "places": [
            {
                "namespace": "tenant-globex",
                "location": "lab",
                "pool": "lab-globex",
                "storage": "ceph-vm",
                "tags": ["talos", "v1.13.6"],
                "templateId": 9000,
                "templateNode": "pve1",
            }
        ],
    },
)
ADDRESSES = k8s(
    "InClusterIPPool",
    "ipam.cluster.x-k8s.io/v1alpha2",
    "tenant-globex",
    "globex-lab",
    spec={"addresses": ["10.202.0.20-10.202.0.99"], "gateway": "10.202.0.1", "prefix": 24},
)
RULE: Body = {"apiGroups": ["cluster.x-k8s.io"], "resources": ["clusters"], "verbs": ["get", "create", "delete"]}
SECRETS = {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["hybrid-handover"], "verbs": ["get"]}
READS = {
    "apiGroups": ["proxmox.cozystack.io"],
    "resources": ["proxmoxnetworkzones"],
    "resourceNames": ["workers"],
    "verbs": ["get"],
}
SUBJECT = {"kind": "ServiceAccount", "name": "hybrid", "namespace": "tenant-globex"}
K8S_ROLE = k8s("Role", f"{RBAC}/v1", "tenant-globex", rules=[RULE, SECRETS])
CLUSTER_ROLE = k8s("ClusterRole", f"{RBAC}/v1", name="hybrid-lab-globex", rules=[READS])
BINDING = k8s(
    "RoleBinding",
    f"{RBAC}/v1",
    "tenant-globex",
    roleRef={"apiGroup": RBAC, "kind": "Role", "name": "hybrid"},
    subjects=[SUBJECT],
)
CLUSTER_BINDING = k8s(
    "ClusterRoleBinding",
    f"{RBAC}/v1",
    name="hybrid-lab-globex",
    roleRef={"apiGroup": RBAC, "kind": "ClusterRole", "name": "hybrid-lab-globex"},
    subjects=[SUBJECT],
)
ACCOUNT = k8s("ServiceAccount", "v1", "tenant-globex")
SECRET = k8s("Secret", "v1", "tenant-globex", "hybrid-handover", type="Opaque", stringData=UNKNOWN)
CRD = k8s("CustomResourceDefinition", "apiextensions.k8s.io/v1", spec={"group": "x"})
POLICY = k8s("ValidatingAdmissionPolicy", "admissionregistration.k8s.io/v1", spec={"validations": []})
POLICY_BINDING = k8s("ValidatingAdmissionPolicyBinding", "admissionregistration.k8s.io/v1", spec={"policyName": "x"})

RIGHTS = [ROLE, SDN_ROLE, USER, TOKEN, POOL, ACL, TOKEN_ACL]
NETWORKS = [BRIDGE, VLAN, ZONE, VNET, APPLIER, NETWORK, SUBNET]
OBJECTS = [
    *(NETWORK_ZONE, NETWORK_TABLE, ADDRESSES, K8S_ROLE, CLUSTER_ROLE, BINDING, CLUSTER_BINDING),
    *(ACCOUNT, SECRET, CRD, POLICY, POLICY_BINDING),
]
LEGACY = {
    "proxmoxve:index/acl:Acl": "proxmoxve:index/aclLegacy:AclLegacy",
    "proxmoxve:user/token:Token": "proxmoxve:user/tokenLegacy:TokenLegacy",
    **{
        f"proxmoxve:{module}{name.lower()}:{name}": f"proxmoxve:{module}{name.lower()}Legacy:{name}Legacy"
        for module, name in (
            ("network/linux/", "Bridge"),
            ("network/linux/", "Vlan"),
            ("sdn/zone/", "Vlan"),
            ("sdn/", "Vnet"),
            ("sdn/", "Applier"),
        )
    },
}
"""Each type has an older twin in the SDK."""

ENVIRONMENT = [
    *RIGHTS,
    *NETWORKS,
    *OBJECTS,
    made("admin's provider", *ADMIN, None),
    made("admin's provider in dc", *IN_DC, None),
    made("Hetzner provider", *HCLOUD, None),
    made("Kubernetes provider", *MANAGEMENT, None),
    made("component", "hybrid:index:Location", {}, None),
    made("stack", "pulumi:pulumi:Stack", {}, None),
]
"""What an environment's stack may make."""


def refused_there(example: Example, *changes: tuple[str, Any]) -> Case:
    return refused(example, "on which this tenant has no role", *changes)


def _rights_cases() -> list[Case]:
    closed = (
        "VM.Migrate",
        "Permissions.Modify",
        "Pool.Allocate",
        "SDN.Allocate",
        "Sys.Modify",
        "VM.Console",
        "Administrator",
    )
    mine = "It has it on /sdn/zones/localnetwork/vmbr1/202, /sdn/zones/localnetwork/vmbr2/212."
    foreign = (
        "/",
        "/sdn",
        "/sdn/zones",
        "/sdn/zones/localnetwork",
        "/sdn/zones/localnetwork/vmbr1",
        "/sdn/zones/localnetwork/vmbr1/",
        "/sdn/zones/localnetwork/vmbr1/201",
        "/sdn/zones/localnetwork/vmbr1/301",
        "/sdn/zones/localnetwork/vmbr1/0202",
        "/sdn/zones/localnetwork/vmbr1/202/",
        "/pool/lab-globex",
        "/nodes/pve1",
        "//sdn/zones/localnetwork/vmbr1/202",
        "/sdn/zones/localnetwork/vmbr9/7",
        "/sdn/zones/z/v",
        "/pool",
        "/pool/lab-acme",
        "/vms",
        "/vms/2000",
        "/vms/9000",
        "/storage",
        "/storage/iso-acme",
        "/storage/tank",
        "/nodes",
        "/nodes/dc1",
        "/access",
        "",
    )
    own = {
        "network": "/sdn/zones/localnetwork/vmbr2/212",
        "vm": "/pool/lab-globex",
        "template": "/pool/templates",
        "disk": "/storage/ceph-vm",
        "iso": "/storage/iso-globex",
        "node": "/nodes/pve2",
    }
    found: list[Case] = [
        *(
            refused(ROLE, f"are not for a role hybrid-lab-vm: {item}.", ("privileges", ["VM.Audit", item]))
            for item in (*closed, "SDN.Use", "VM.Clone", "Datastore.Allocate", "Sys.Audit")
        ),
        *(
            refused(ROLE, "are not for a role", ("roleId", f"hybrid-lab-{role}"), ("privileges", [bad]))
            for role, bad in (
                ("template", "VM.Config.Network"),
                ("template", "VM.Allocate"),
                ("network", "SDN.Allocate"),
                ("disk", "Datastore.Allocate"),
                ("node", "Sys.Modify"),
                ("iso", "VM.Allocate"),
            )
        ),
        *(
            refused(ROLE, "not a list of known names", ("privileges", bad))
            for bad in (UNKNOWN, [UNKNOWN], ["VM.Audit", UNKNOWN], "VM.Audit", GONE, [1])
        ),
        *(
            refused(item, "Roles of lab are hybrid-lab-disk, hybrid-lab-iso, ", ("roleId", bad))
            for item in (ROLE, ACL)
            for bad in (
                "Administrator",
                "PVEAdmin",
                "hybrid-other-vm",
                "hybrid-lab-x",
                "hybrid-lab-",
                "vm",
                UNKNOWN,
                GONE,
                ["hybrid-lab-vm"],
            )
        ),
        refused(ROLE, "It has inputs that this pack can not judge: acls", ("acls", [])),
        *(refused(ACL, "Write propagate: false.", ("propagate", bad)) for bad in (True, GONE, UNKNOWN, "false", 0)),
        *(refused(ACL, "on which this tenant has no role network in lab. " + mine, ("path", bad)) for bad in foreign),
        *(refused(ACL, "decides what may be used", ("path", bad)) for bad in (UNKNOWN, GONE, ["/"], 1)),
        *(
            (passes if role == other else refused_there)(item, ("path", path), ("roleId", f"hybrid-lab-{other}"))
            for item in (ACL, TOKEN_ACL)
            for role, path in own.items()
            for other in own
        ),
        refused(ACL, "can not judge: groupId", ("groupId", "admins")),
        refused(ACL, "not for one user or token", ("userId", GONE)),
        refused(ACL, "not for one user or token", ("userId", "")),
        refused(ACL, "not for one user or token", ("tokenId", "lab-globex@pve!hybrid")),
        passes(ACL, ("tokenId", "")),
        *(
            refused(ACL, "who is no tenant of lab. Its tenants are lab-acme@pve, lab-globex@pve.", ("userId", bad))
            for bad in (
                "root@pam",
                "lab-globex@pam",
                "lab-globex",
                "lab-initech@pve",
                "lab-globex@pve!",
                UNKNOWN,
                ["lab-globex@pve"],
                "@pve",
            )
        ),
        refused(ACL, "It has it on /sdn/zones/localnetwork/vmbr1/201.", ("userId", "lab-acme@pve")),
        passes(ACL, ("userId", "lab-acme@pve"), ("path", "/sdn/zones/localnetwork/vmbr1/201")),
        refused(ACL, "who is no tenant of dc", provider=IN_DC),
        refused(
            ACL,
            "on which this tenant has no role network in dc",
            ("userId", "lab-acme@pve"),
            ("path", "/sdn/zones/localnetwork/vmbr1/201"),
            provider=IN_DC,
        ),
        passes(ACL, ("userId", "lab-acme@pve"), ("path", "/sdn/zones/localnetwork/vmbr1/301"), provider=IN_DC),
        *(
            refused(USER, f"It has {name}", (name, value))
            for name, value in (
                ("acls", [{"path": "/", "roleId": "Administrator", "propagate": True}]),
                ("acls", UNKNOWN),
                ("groups", ["admins"]),
            )
        ),
        passes(USER, ("acls", [])),
        refused(USER, "can not judge: password", ("password", "x")),
        *(
            refused(item, "who is no tenant of lab", ("userId", bad))
            for item in (USER, TOKEN)
            for bad in ("root@pam", "lab-initech@pve", "lab-globex@pve!x", UNKNOWN, GONE)
        ),
        *(
            refused(TOKEN, "Write privilegesSeparation: true.", ("privilegesSeparation", bad))
            for bad in (False, UNKNOWN, "true")
        ),
        passes(TOKEN, ("privilegesSeparation", GONE)),
        refused(TOKEN, "can not judge: acls", ("acls", [])),
        *(
            refused(POOL, "Pools of lab are lab-acme, lab-globex, templates.", ("poolId", bad))
            for bad in ("x", UNKNOWN, GONE, ["lab-globex"])
        ),
        passes(POOL, ("poolId", "templates")),
        refused(POOL, "can not judge: members", ("members", [])),
    ]
    for example in RIGHTS:
        elsewhere = put(ADMIN[1], "endpoint", "https://pve.other.example:8006")
        found += [
            refused(example, "talks to https://pve.other.example:8006.", provider=(ADMIN[0], elsewhere)),
            refused(example, "no explicit Proxmox VE provider", provider=HCLOUD),
            refused(example, "does not verify", provider=(ADMIN[0], put(ADMIN[1], "insecure", "true"))),
            refused(of(example, "lab-globex"), "A tenant's stack makes no "),
        ]
    return found


def _network_cases() -> list[Case]:
    bridges = "are vmbr1, vmbr2, vmbr8, vmbr9."
    vlans = "VLANs of lab are 201 on vmbr1, 202 on vmbr1, 212 on vmbr2."
    known = "Known are 10.100.0.0/16, 10.101.0.0/16."
    found = [
        *(refused(BRIDGE, bridges, ("name", bad)) for bad in ("vmbr0", UNKNOWN, GONE, ["vmbr1"])),
        refused(ZONE, bridges, ("bridge", "vmbr0")),
        refused(BRIDGE, "Bridges of dc are vmbr1, vmbr8, vmbr9.", ("name", "vmbr2"), provider=IN_DC),
        passes(BRIDGE, ("name", "vmbr9"), provider=IN_DC),
        refused(ZONE, bridges, ("bridge", UNKNOWN)),
        *(
            refused(BRIDGE, "joins two networks", ("ports", bad))
            for bad in (
                ["vmbr1.201"],
                ["eno1", "vlan201"],
                ["vmbr2"],
                ["tap2000i0"],
                ["veth101i0"],
                ["fwpr2000p0"],
                UNKNOWN,
                [UNKNOWN],
                "eno1.5",
                [1],
            )
        ),
        *(passes(BRIDGE, ("ports", good)) for good in ([], GONE, ["bond0"], ["eno1", "fwnic", "enp1s0f0np0"])),
        refused(BRIDGE, "can not judge: trunks", ("trunks", "1")),
        *(refused(VLAN, vlans, ("vlan", bad)) for bad in (203, 301, UNKNOWN, "202", GONE)),
        *(refused(VLAN, vlans, ("interface", bad)) for bad in ("vmbr2", "eno1", UNKNOWN, GONE)),
        passes(VLAN, ("interface", GONE), ("vlan", GONE), ("name", "vmbr1.202")),
        passes(VLAN, ("name", "vmbr1.202")),
        *(
            refused(VLAN, "by which Proxmox VE knows its VLAN", ("name", bad))
            for bad in ("vmbr1.201", "vmbr0.202", "vlan999", "vlan0202", "storage", UNKNOWN, GONE)
        ),
        *(
            refused(VLAN, vlans, ("interface", GONE), ("vlan", GONE), ("name", bad))
            for bad in ("vmbr1.203", "vmbr2.202", "vlan202", "vmbr1", UNKNOWN, "vmbr1.x", "vmbr1.²02", GONE)
        ),
        passes(VLAN, ("interface", ""), ("vlan", GONE), ("name", "vmbr1.202")),
        refused(VLAN, vlans, ("vlan", GONE), ("name", "vmbr1.202"), ("interface", "vmbr2")),
        refused(VLAN, vlans, ("interface", GONE), ("vlan", 5), ("name", "vmbr1.202")),
        refused(VLAN, "can not judge: trunk", ("trunk", 1)),
        refused(ZONE, "can not judge: tag", ("tag", 1)),
        *(refused(VNET, vlans, ("tag", bad)) for bad in (203, 301, UNKNOWN, GONE, "202", ["202"])),
        passes(VNET, ("tag", 212.0)),
        passes(VNET, ("vlanAware", False)),
        *(refused(VNET, "Leave vlanAware out.", ("vlanAware", bad)) for bad in (True, UNKNOWN, "false")),
        refused(VNET, "can not judge: trunks", ("trunks", 1)),
        refused(APPLIER, "can not judge: zone", ("zone", 1)),
        *(
            refused(NETWORK, known, ("ipRange", bad))
            for bad in ("10.0.0.0/8", "10.101.1.0/24", UNKNOWN, GONE, ["10.101.0.0/16"])
        ),
        *(refused(NETWORK, "exposeRoutesToVswitch out", ("exposeRoutesToVswitch", bad)) for bad in (True, UNKNOWN)),
        passes(NETWORK, ("exposeRoutesToVswitch", False)),
        refused(NETWORK, "can not judge: vlan", ("vlan", 1)),
        *(
            refused(SUBNET, "Known are 10.100.1.0/24, 10.101.1.0/24.", ("ipRange", bad))
            for bad in ("10.101.0.0/16", UNKNOWN, GONE)
        ),
        *(refused(SUBNET, "write type: cloud.", ("type", bad)) for bad in ("vswitch", "server", UNKNOWN, GONE)),
        refused(SUBNET, "can not judge: vswitchId", ("vswitchId", 4711)),
        refused(NETWORK, "has no token", provider=(HCLOUD[0], {})),
        refused(SUBNET, "no explicit Hetzner Cloud provider", provider=ADMIN),
    ]
    found += [
        refused(example, "no explicit Proxmox VE provider", provider=HCLOUD)
        for example in (BRIDGE, VLAN, ZONE, VNET, APPLIER)
    ]
    found += [refused(of(example, "lab-globex"), "A tenant's stack makes no ") for example in NETWORKS]
    return found


def _object_cases() -> list[Case]:
    rows: list[tuple[str, Any]] = [
        ("vlan", 201),
        ("vlan", "202"),
        ("namespace", "tenant-acme"),
        ("name", "acme-lab"),
        ("name", "unheard"),
        ("addresses", ["10.201.0.20-10.201.0.99"]),
        ("addresses", "10.202.0.20-10.202.0.99"),
        ("gateway", "10.201.0.1"),
        ("prefix", 8),
        ("pool", "acme-lab"),
        *((key, UNKNOWN) for key in ("vlan", "namespace", "name", "addresses", "gateway", "prefix", "pool")),
        *((key, GONE) for key in ("vlan", "namespace", "name", "addresses", "gateway", "prefix")),
    ]
    row = "is not the row of that name in the table"
    found: list[Case] = [
        *(refused(NETWORK_ZONE, row, (f"spec.networks.0.{key}", bad)) for key, bad in rows),
        *(
            refused(NETWORK_TABLE, row, (f"spec.networks.1.{key}", bad))
            for key, bad in (("bridge", "vmbr2"), ("bridge", GONE), ("vlan", 5), ("bridge", UNKNOWN))
        ),
        passes(NETWORK_ZONE, ("spec.networks.0.pool", GONE)),
        *(refused(NETWORK_ZONE, row, ("spec.bridge", bad)) for bad in ("vmbr2", UNKNOWN, GONE)),
        refused(NETWORK_ZONE, "can not judge: trunks", ("spec.networks.0.trunks", "1")),
        refused(NETWORK_ZONE, "not a list", ("spec.networks", UNKNOWN)),
        refused(NETWORK_ZONE, "not a list", ("spec", UNKNOWN)),
        refused(NETWORK_ZONE, "not a set of fields", ("spec.networks", [UNKNOWN])),
        passes(NETWORK_ZONE, ("spec.networks", [])),
        passes(NETWORK_ZONE, ("spec.networks", GONE)),
        *(
            refused(NETWORK_TABLE, "what no location gives its tenant", (f"spec.places.0.{key}", bad))
            for key, bad in (
                *(("namespace", "tenant-acme"), ("location", "dc"), ("pool", "lab-acme"), ("storage", "tank")),
                *(("tags", ["talos"]), ("templateId", 2000), ("templateNode", "pve2"), ("templateId", "9000")),
                *(("pool", GONE), ("storage", GONE), ("tags", GONE)),
            )
        ),
        refused(NETWORK_TABLE, "what no location gives its tenant", ("spec.places", [UNKNOWN])),
        *(refused(NETWORK_TABLE, "not a list", ("spec.places", bad)) for bad in (UNKNOWN, GONE, {})),
        passes(NETWORK_TABLE, ("spec.places", [])),
        *(
            passes(
                NETWORK_TABLE,
                ("spec.places.0", {**place, "tags": ["talos", "v1.13.5"], "templateId": 8999, "templateNode": node}),
            )
            for place, node in (
                ({"namespace": "tenant-acme", "location": "dc", "pool": "lab-acme", "storage": "tank"}, "dc1"),
                ({"namespace": "tenant-acme", "location": "lab", "pool": "lab-acme", "storage": "ceph-vm"}, "pve1"),
            )
        ),
        *(
            refused(ADDRESSES, "is no row of the table", (f"spec.{key}", bad))
            for key, bad in (
                ("addresses", ["10.201.0.20-10.201.0.99"]),
                ("gateway", "10.0.0.1"),
                ("prefix", 8),
                ("prefix", UNKNOWN),
                ("gateway", GONE),
            )
        ),
        refused(ADDRESSES, "is no row of the table", ("metadata.namespace", "tenant-acme")),
        refused(ADDRESSES, "is no row of the table", ("metadata.name", "acme-lab")),
        refused(ADDRESSES, "is no row of the table", ("spec", UNKNOWN)),
        refused(ADDRESSES, "can not judge: allocateReservedIPAddresses", ("spec.allocateReservedIPAddresses", True)),
        *(
            refused(item, "is for everything, or for more rights", (f"rules.0.{key}", ["x", bad]))
            for item in (K8S_ROLE, CLUSTER_ROLE)
            for key, bad in (
                ("verbs", "*"),
                ("resources", "*"),
                ("apiGroups", "*"),
                ("verbs", "escalate"),
                ("verbs", "bind"),
                ("verbs", "impersonate"),
                ("verbs", "deletecollection"),
                ("verbs", "sign"),
                ("verbs", "approve"),
                ("resources", "*/status"),
            )
        ),
        *(
            refused(item, "not a list of known names", (f"rules.0.{key}", bad))
            for item in (K8S_ROLE, CLUSTER_ROLE)
            for key in ("verbs", "resources", "apiGroups", "resourceNames")
            for bad in (UNKNOWN, [UNKNOWN], "get")
        ),
        *(
            refused(item, "not a set of fields", ("rules", bad))
            for item in (K8S_ROLE, CLUSTER_ROLE)
            for bad in (UNKNOWN, [UNKNOWN], "x")
        ),
        *(
            refused(item, "can not judge: nonResourceURLs", ("rules.0.nonResourceURLs", ["/"]))
            for item in (K8S_ROLE, CLUSTER_ROLE)
        ),
        *(passes(item, ("rules", good)) for item in (K8S_ROLE, CLUSTER_ROLE) for good in ([], GONE)),
        refused(K8S_ROLE, "is for every Secret", ("rules.1.resourceNames", GONE)),
        refused(K8S_ROLE, "is for every Secret", ("rules.1.resourceNames", [])),
        *(
            refused(K8S_ROLE, "writes Secrets", ("rules.1.verbs", bad))
            for bad in (["get", "patch"], ["create"], UNKNOWN, GONE)
        ),
        passes(K8S_ROLE, ("rules.1.verbs", ["get", "list", "watch"])),
        *(
            refused(
                item,
                "nothing that a tenant makes or reads",
                ("rules.0.apiGroups", [group]),
                ("rules.0.resources", [kind]),
            )
            for item in (K8S_ROLE, CLUSTER_ROLE)
            for group, kind in (
                ("", "pods"),
                ("", "serviceaccounts/token"),
                ("", "configmaps"),
                ("", "clusters"),
                (RBAC, "rolebindings"),
                ("cluster.x-k8s.io", "machines"),
                ("cluster.x-k8s.io", "clusters/status"),
                ("cluster.x-k8s.io", "secrets"),
                ("ipam.cluster.x-k8s.io", "inclusterippools"),
                ("proxmox.cozystack.io", "proxmoxnetworktables"),
            )
        ),
        refused(K8S_ROLE, "is for machines of cluster.x-k8s.io, ", ("rules.0.resources", ["clusters", "machines"])),
        refused(CLUSTER_ROLE, "is for clusters of cluster.x-k8s.io, ", ("rules", [{**RULE, "resourceNames": ["a"]}])),
        refused(K8S_ROLE, "is for every Secret", ("rules.0.resources", ["clusters", "secrets/status"])),
        refused(CLUSTER_ROLE, "writes cluster-wide", ("rules.0.verbs", ["get", "patch"])),
        passes(CLUSTER_ROLE, ("rules.0.verbs", ["get", "list", "watch"])),
        refused(CLUSTER_ROLE, "is for every object of its kind", ("rules.0.resourceNames", GONE)),
        refused(CLUSTER_ROLE, "is for every object of its kind", ("rules.0.resourceNames", [])),
        refused(CLUSTER_ROLE, "nothing that a tenant makes or reads", ("rules.0.resources", ["secrets"])),
        refused(K8S_ROLE, "can not judge: aggregationRule", ("aggregationRule", {})),
        refused(CLUSTER_ROLE, "can not judge: aggregationRule", ("aggregationRule", {"clusterRoleSelectors": []})),
        refused(BINDING, "Bind a Role.", ("roleRef.kind", "ClusterRole")),
        refused(CLUSTER_BINDING, "Bind a ClusterRole.", ("roleRef.kind", "Role")),
        *(refused(item, "Bind a", ("roleRef", bad)) for item in (BINDING, CLUSTER_BINDING) for bad in (UNKNOWN, GONE)),
        refused(BINDING, "Bind a Role.", ("roleRef.apiGroup", "x")),
        *(
            refused(
                CLUSTER_BINDING,
                "Those of this environment are hybrid-lab-acme, hybrid-lab-globex, hybrid-lab-initech.",
                ("roleRef.name", bad),
            )
            for bad in (
                "cluster-admin",
                "admin",
                UNKNOWN,
                GONE,
                "hybrid-other-x",
                "hybrid-lab-x",
                ["hybrid-lab-globex"],
            )
        ),
        *(
            refused(item, "subjects[0] is not the ServiceAccount hybrid of", (f"subjects.0.{key}", bad))
            for item in (BINDING, CLUSTER_BINDING)
            for key, bad in (
                ("kind", "User"),
                ("kind", "Group"),
                *(("name", bad) for bad in ("default", UNKNOWN, GONE)),
                ("namespace", "kube-system"),
                ("namespace", UNKNOWN),
                ("namespace", GONE),
                ("namespace", ["tenant-globex"]),
            )
        ),
        *(
            refused(item, "subjects[0] is not the ServiceAccount", ("subjects", bad))
            for item in (BINDING, CLUSTER_BINDING)
            for bad in (UNKNOWN, [UNKNOWN], GONE)
        ),
        *(
            refused(
                item,
                "subjects[0] is not the ServiceAccount hybrid of tenant-globex.",
                ("subjects.0.namespace", "tenant-acme"),
            )
            for item in (BINDING, CLUSTER_BINDING)
        ),
        *(refused(BINDING, "A tenant's is called hybrid", ("roleRef.name", bad)) for bad in ("admin", UNKNOWN, GONE)),
        refused(
            BINDING,
            "subjects[1] is not the ServiceAccount",
            ("subjects", [SUBJECT, {"kind": "Group", "name": "system:authenticated"}]),
        ),
        passes(CLUSTER_BINDING, ("roleRef.name", "hybrid-lab-acme"), ("subjects.0.namespace", "tenant-acme")),
        *(
            refused(
                item, "Tenants' namespaces are tenant-acme, tenant-globex, tenant-initech.", ("metadata.namespace", bad)
            )
            for item in (K8S_ROLE, BINDING, ACCOUNT, SECRET)
            for bad in ("kube-system", UNKNOWN, GONE, ["tenant-globex"])
        ),
        refused(SECRET, "can not judge: immutable", ("immutable", True)),
        refused(ACCOUNT, "can not judge: imagePullSecrets", ("imagePullSecrets", [])),
        *(refused(item, "can not judge: status", ("status", {})) for item in (NETWORK_ZONE, CRD, POLICY, ADDRESSES)),
    ]
    for example in OBJECTS:
        found += [
            refused(example, "Its kind is", ("kind", "Secret2")),
            refused(example, "Its apiVersion is", ("apiVersion", UNKNOWN)),
            refused(example, "Its metadata.name is", ("metadata.name", UNKNOWN)),
            refused(example, "Write context: cozystack-lab.", provider=kubernetes("lab-globex")),
            refused(example, "no explicit Kubernetes provider", provider=HCLOUD),
            refused(of(example, "lab-globex"), "A tenant's stack makes no "),
        ]
    return found


NO_GUESTS = (
    "proxmoxve:index/vmLegacy:VmLegacy",
    "proxmoxve:cloned/vm:Vm",
    "proxmoxve:cloned/vmLegacy:VmLegacy",
    "proxmoxve:index/vm:Vm",
    "proxmoxve:index/vm2Legacy:Vm2Legacy",
    "proxmoxve:index/containerLegacy:ContainerLegacy",
    "proxmoxve:VM/virtualMachine:VirtualMachine",
    "proxmoxve:CT/container:Container",
    "hcloud:index/server:Server",
    "kubernetes:cluster.x-k8s.io/v1beta1:MachineDeployment",
    "kubernetes:cluster.x-k8s.io/v1beta1:MachineDeploymentPatch",
    "kubernetes:infrastructure.cluster.x-k8s.io/v1alpha1:ProxmoxMachineTemplate",
    "kubernetes:infrastructure.cluster.x-k8s.io/v1beta1:HCloudMachineTemplate",
    "kubernetes:kubevirt.io/v1:VirtualMachine",
)
NOTHING = (
    "proxmoxve:sdn/zone/qinq:Qinq",
    "proxmoxve:sdn/zone/vxlan:Vxlan",
    "proxmoxve:sdn/zone/evpn:Evpn",
    "proxmoxve:sdn/zone/simple:Simple",
    "proxmoxve:sdn/subnet:Subnet",
    "proxmoxve:network/linux/bond:Bond",
    "proxmoxve:index/groupLegacy:GroupLegacy",
    "proxmoxve:pool/membership:Membership",
    "proxmoxve:realm/ldap:Ldap",
    "proxmoxve:hardware/mapping/pci:Pci",
    "proxmoxve:cluster/options:Options",
    "hcloud:index/networkRoute:NetworkRoute",
    "hcloud:index/serverNetwork:ServerNetwork",
    "hcloud:index/loadBalancerNetwork:LoadBalancerNetwork",
    "kubernetes:core/v1:ConfigMap",
    "kubernetes:core/v1:Pod",
    "kubernetes:core/v1:Namespace",
    "kubernetes:apps/v1:Deployment",
    "kubernetes:helm.sh/v3:Release",
    "kubernetes:yaml:ConfigFile",
    "kubernetes:infrastructure.cluster.x-k8s.io/v1alpha1:ProxmoxCluster",
    "kubernetes:proxmox.example.com/v1alpha1:ProxmoxNetworkZone",
    "random:index/randomPassword:RandomPassword",
    "command:local:Command",
    "pulumi-python:dynamic:Resource",
    "pulumi:index:Stash",
    "pulumi:providers:command",
    "pulumi:providers:random",
    "aws:ec2/instance:Instance",
    "",
)


def _token_cases() -> list[Case]:
    body = {"metadata": {"name": "x", "namespace": "tenant-globex"}, "name": "x"}
    found = [
        Case(f"guest {token}", made("x", token, body), "An environment makes no machines, and ") for token in NO_GUESTS
    ]
    found += [
        Case(f"environment {token}", made("x", token, body), "An environment's stack makes no ") for token in NOTHING
    ]
    for token in (*NO_GUESTS, *NOTHING):
        if token.removesuffix("Patch") not in {example.token for example in TENANT}:
            found.append(
                Case(f"tenant {token}", of(made("x", token, body), "lab-globex"), "A tenant's stack makes no ")
            )
    allowed = {example.token for example in ENVIRONMENT}
    found += [
        Case(f"environment: {example.name}", of(example, "lab"), "An environment")
        for example in TENANT
        if example.token not in allowed and not example.token.startswith(("pulumi:", "hybrid:"))
    ]
    return found


def _free_cases() -> list[Case]:
    return [
        *(
            passes(ROLE, ("roleId", f"hybrid-lab-{role}"), ("privileges", sorted(privileges)))
            for role, privileges in rights.ROLES.items()
        ),
        *anything(USER, "", ("enabled", "comment", "email", "expirationDate", "firstName", "lastName")),
        *anything(TOKEN, "", ("comment", "expirationDate")),
        *anything(BRIDGE, "", networks.BRIDGE_FIELDS),
        *anything(VLAN, "", networks.VLAN_FIELDS),
        *anything(ZONE, "", networks.ZONE_FIELDS),
        *anything(VNET, "", networks.VNET_FIELDS - {"vlanAware"}),
        *anything(APPLIER, "", ("onDestroy",)),
        *anything(NETWORK, "", networks.NETWORK_FIELDS - {"exposeRoutesToVswitch"}),
        *anything(SECRET, "", ("data",)),
    ]


def environment_cases() -> list[Case]:
    """Give all cases of an environment's stack."""
    legacy = [
        made(example.name, LEGACY[example.token], example.props) for example in ENVIRONMENT if example.token in LEGACY
    ]
    return [
        *(Case(f"{example.name} passes", example, None) for example in (*ENVIRONMENT, *legacy)),
        *_rights_cases(),
        *_network_cases(),
        *_object_cases(),
        *_token_cases(),
        *_free_cases(),
    ]
