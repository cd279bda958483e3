"""Every rule as a pair: a stack file that it refuses, and the twin beside it that it lets pass."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.settings.files import GONE

if TYPE_CHECKING:
    from tests.settings.files import Edits


@dataclass(frozen=True)
class Case:
    """What is refused with which code at which path, and the edits that make the refused file and the accepted one."""

    says: str
    code: str
    path: str
    bad: Edits
    good: Edits
    stack: str = "lab"
    fix: str = ""
    """A part of the fix."""
    always: Edits = field(default_factory=dict)
    """Edits of both."""


def row(**other: Any) -> dict[str, Any]:
    """Give a legal row of globex in dc (which `IN_DC` lets it have), changed as wanted."""
    return {
        "tenant": "globex",
        "location": "dc",
        "vlan": 302,
        "cidr": "10.232.0.0/24",
        "gateway": "10.232.0.1",
        "range": "10.232.0.20-10.232.0.199",
        **other,
    }


def large(rows: int, index: int = 0) -> dict[str, Any]:
    """Give a zone of that many networks of globex in dc, which shares no address with those of another index."""
    networks = {}
    for at in range(rows):
        net = f"10.{10 + 3 * index + at // 256}.{at % 256}"
        networks[f"large{index}-{at}"] = row(
            vlan=at + 2, cidr=f"{net}.0/24", gateway=f"{net}.1", range=f"{net}.20-{net}.99"
        )
    return {"bridge": f"vmbr{7 + index}", "locations": ["dc"], "networks": networks}


IN_DC: Edits = {"locations.dc.tenants.globex": {"vmIds": "3100-3199", "isoStorage": "iso-globex"}}
ROW = "zones.workers.networks.globex-dc"
ACME = "zones.workers.networks.acme-lab"
SECOND_ZONE = {"bridge": "vmbr2", "locations": ["lab", "dc"], "networks": {}}
NEW_DC = {
    "type": "proxmox",
    "endpoint": "https://pve.third.example:8006",
    "nodes": {"x1": {"memory": "64Gi"}},
    "storage": {"name": "tank", "shared": False},
    "template": {"tags": ["talos"], "id": 9000, "node": "x1"},
    "tenants": {"acme": {"vmIds": "4000-4099", "isoStorage": "iso-acme"}},
}

MANAGEMENT = [
    Case(
        "an unknown generation is refused",
        "NOT_ONE_OF",
        "management.generation",
        {"management.generation": "capi-1.11"},
        {"management.generation": "capi-1.12"},
        fix="capi-1.10",
    ),
    Case(
        "a missing context is refused",
        "MISSING_KEY",
        "management.context",
        {"management.context": GONE},
        {"management.context": "another"},
    ),
    Case(
        "an empty context is refused",
        "EMPTY",
        "management.context",
        {"management.context": ""},
        {"management.context": "x"},
    ),
    *(
        Case(
            f"the context {bad!r} is refused",
            "BAD_TEXT",
            "management.context",
            {"management.context": bad},
            {"management.context": good},
        )
        for bad, good in (("lab ", "lab"), (" ", "x"), ("l\tb", "l b"), ("lab\n", "lab@x"), ("l\u00e4b", "kind-lab"))
    ),
    Case(
        "a missing management cluster is refused",
        "MISSING_KEY",
        "management",
        {"management": GONE},
        {"management": {"context": "x", "generation": "capi-1.10"}},
    ),
    Case(
        "a truth value in quotes is refused",
        "NOT_TRUE_OR_FALSE",
        "management.protect",
        {"management.protect": "no"},
        {"management.protect": False},
        fix="true or false",
    ),
    Case(
        "an unknown guard mode is refused",
        "NOT_ONE_OF",
        "management.guard",
        {"management.guard": "warn"},
        {"management.guard": "audit"},
        fix="audit, enforce",
    ),
    Case(
        "an unknown controller is refused",
        "UNKNOWN_KEY",
        "management.controllers.kamaji",
        {"management.controllers": {"kamaji": "x"}},
        {"management.controllers": {"capi": "x"}},
    ),
    Case(
        "pods' range over services' range is refused",
        "CIDR_OVERLAP",
        "management.serviceCidr",
        {"management.podCidr": "10.95.0.0/16"},
        {"management.podCidr": "10.96.0.0/16"},
    ),
    Case(
        "a pods' range with host bits is refused",
        "BAD_CIDR",
        "management.podCidr",
        {"management.podCidr": "10.244.1.0/16"},
        {"management.podCidr": "10.244.0.0/16"},
        fix="10.244.0.0/16",
    ),
    Case(
        "an open bridge that a zone owns is refused",
        "BRIDGE_TAKEN",
        "management.openBridges.0",
        {"management.openBridges": ["vmbr1"]},
        {"management.openBridges": ["vmbr9"]},
    ),
    Case(
        "an open bridge with a dash is refused",
        "BAD_BRIDGE",
        "management.openBridges.0",
        {"management.openBridges": ["vm-br9"]},
        {"management.openBridges": ["vm_br9"]},
    ),
    Case(
        "a tenant's cluster that Kamaji would take for one that the platform makes for another is refused",
        "SCHEMA_CLASH",
        "tenants.globex.clusters.0",
        {"tenants.globex.namespace": "tenant-acme-kubernetes"},
        {"tenants.globex.namespace": "tenant-acme-kubernete"},
        fix="does not begin with tenant-acme-",
    ),
    Case(
        "VLANs of a bridge that is not open are refused",
        "UNKNOWN_BRIDGE",
        "management.openVlans.vmbr8",
        {"management.openBridges": ["vmbr9"], "management.openVlans": {"vmbr8": [300]}},
        {"management.openBridges": ["vmbr9"], "management.openVlans": {"vmbr9": [300, "310-319"]}},
        fix="vmbr9",
    ),
    Case(
        "open VLANs that are none are refused",
        "BAD_VLANS",
        "management.openVlans.vmbr9.0",
        {"management.openBridges": ["vmbr9"], "management.openVlans": {"vmbr9": ["4000-5000"]}},
        {"management.openBridges": ["vmbr9"], "management.openVlans": {"vmbr9": ["4000-4094"]}},
    ),
    Case(
        "an open bridge of no VLAN is refused",
        "EMPTY",
        "management.openVlans.vmbr9",
        {"management.openBridges": ["vmbr9"], "management.openVlans": {"vmbr9": []}},
        {"management.openBridges": ["vmbr9"], "management.openVlans": {}},
    ),
    Case(
        "an open bridge that is a VLAN of a zone's bridge is refused",
        "BRIDGE_TAKEN",
        "management.openBridges.0",
        {"management.openBridges": ["vmbr1v205"]},
        {"management.openBridges": ["vmbr1v"]},
    ),
]

TENANTS = [
    Case(
        "a tenant's name with a dash is refused",
        "BAD_NAME",
        "tenants.new-corp",
        {"tenants.new-corp": {"namespace": "tenant-new", "clusters": []}},
        {"tenants.newcorp": {"namespace": "tenant-new", "clusters": []}},
    ),
    Case(
        "a tenant's name that begins with a digit is refused",
        "BAD_NAME",
        "tenants.3com",
        {"tenants.3com": {"namespace": "tenant-new", "clusters": []}},
        {"tenants.com3": {"namespace": "tenant-new", "clusters": []}},
    ),
    Case(
        "a tenant's name of 31 letters is refused",
        "NAME_TOO_LONG",
        "tenants." + "a" * 31,
        {"tenants." + "a" * 31: {"namespace": "tenant-new", "clusters": []}},
        {"tenants." + "a" * 30: {"namespace": "tenant-new", "clusters": []}},
        fix="30",
    ),
    Case(
        "a namespace that two tenants have is refused",
        "NAMESPACE_TAKEN",
        "tenants.globex.namespace",
        {"tenants.globex.namespace": "tenant-acme"},
        {"tenants.globex.namespace": "tenant-globex2"},
    ),
    *(
        Case(
            f"the namespace {name} is refused",
            "NAMESPACE_RESERVED",
            "tenants.globex.namespace",
            {"tenants.globex.namespace": name},
            {"tenants.globex.namespace": f"tenant-{name}"},
        )
        for name in ("default", "kube-system", "cozy-proxmox")
    ),
    *(
        Case(
            f"the namespace {name} of a controller is refused",
            "NAMESPACE_RESERVED",
            "tenants.globex.namespace",
            {"tenants.globex.namespace": name},
            {"tenants.globex.namespace": f"{name}x"},
            always={"management.controllers": {"capi": "system:serviceaccount:provisioning:capi"}},
            fix="tenant-globex",
        )
        for name in ("capmox-system", "provisioning")
    ),
    Case(
        "a namespace in capitals is refused",
        "BAD_NAME",
        "tenants.globex.namespace",
        {"tenants.globex.namespace": "Tenant"},
        {"tenants.globex.namespace": "tenant"},
    ),
    Case(
        "a namespace that YAML reads as a number is refused",
        "NOT_TEXT",
        "tenants.globex.namespace",
        {"tenants.globex.namespace": 1.1},
        {"tenants.globex.namespace": "tenant"},
        fix="quotes",
    ),
    Case(
        "a cluster that stands in a tenant's list twice is refused",
        "DUPLICATE_NAME",
        "tenants.globex.clusters.1",
        {"tenants.globex.clusters": ["prod", "prod"]},
        {"tenants.globex.clusters": ["prod", "test"]},
    ),
    Case(
        "a cluster's name with a dash is refused",
        "BAD_NAME",
        "tenants.globex.clusters.0",
        {"tenants.globex.clusters": ["prod-a"]},
        {"tenants.globex.clusters": ["proda"]},
    ),
    Case(
        "one cluster where a list is wanted is refused",
        "NOT_A_LIST",
        "tenants.globex.clusters",
        {"tenants.globex.clusters": "prod"},
        {"tenants.globex.clusters": ["prod"]},
    ),
    Case(
        "a tenant without a value is refused",
        "NOT_A_MAP",
        "tenants.third",
        {"tenants.third": None},
        {"tenants.third": {"namespace": "third", "clusters": []}},
    ),
]

LOCATIONS = [
    Case(
        "an unknown type of location is refused",
        "NOT_ONE_OF",
        "locations.dc.type",
        {"locations.dc.type": "vmware"},
        {"locations.dc.type": "proxmox"},
        fix="hcloud, proxmox",
    ),
    Case(
        "a location without a type is refused",
        "MISSING_KEY",
        "locations.dc.type",
        {"locations.dc.type": GONE},
        {"locations.dc.type": "proxmox"},
        fix="hcloud, proxmox",
    ),
    Case(
        "a location that is no map is refused",
        "NOT_A_MAP",
        "locations.third",
        {"locations.third": "proxmox"},
        {"locations.third": NEW_DC},
    ),
    Case(
        "a location's name with a dash is refused",
        "BAD_NAME",
        "locations.dc-2",
        {"locations.dc-2": NEW_DC},
        {"locations.dc2": NEW_DC},
    ),
    Case(
        "an endpoint without https is refused",
        "BAD_ENDPOINT",
        "locations.dc.endpoint",
        {"locations.dc.endpoint": "http://pve.dc.example:8006"},
        {"locations.dc.endpoint": "https://pve.dc.example:8007"},
        fix="https://pve.dc.example:8006",
    ),
    Case(
        "an endpoint with a path is refused",
        "BAD_ENDPOINT",
        "locations.dc.endpoint",
        {"locations.dc.endpoint": "https://pve.dc.example:8006/api2/json"},
        {"locations.dc.endpoint": "https://pve.dc.example:8006/"},
        fix="https://pve.dc.example:8006",
    ),
    Case(
        "an endpoint that two locations have is refused",
        "ENDPOINT_TAKEN",
        "locations.lab.endpoint",
        {"locations.dc.endpoint": "https://PVE.lab.example"},
        {"locations.dc.endpoint": "https://pve.lab.example:8007"},
        fix="dc",
    ),
    Case(
        "an endpoint with a user is refused",
        "BAD_ENDPOINT",
        "locations.dc.endpoint",
        {"locations.dc.endpoint": "https://root:secret@pve.dc.example:8006"},
        {"locations.dc.endpoint": "https://[2001:db8::1]:8006"},
        fix="https://pve.dc.example:8006",
    ),
    Case(
        "an endpoint with a space is refused",
        "BAD_ENDPOINT",
        "locations.dc.endpoint",
        {"locations.dc.endpoint": "https://pve dc:8006"},
        {"locations.dc.endpoint": "https://pve-dc:8006"},
    ),
    Case(
        "an endpoint's port above 65535 is refused",
        "BAD_ENDPOINT",
        "locations.dc.endpoint",
        {"locations.dc.endpoint": "https://pve.dc.example:80060"},
        {"locations.dc.endpoint": "https://pve.dc.example:443"},
    ),
    *(
        Case(
            f"the endpoint {bad} is refused",
            "BAD_ENDPOINT",
            "locations.dc.endpoint",
            {"locations.dc.endpoint": bad},
            {"locations.dc.endpoint": good},
            fix=fix,
        )
        for bad, good, fix in (
            ("https://[::1", "https://[::1]", "for example"),
            ("https://[x]:8006", "https://x:8006", "for example"),
            ("https://[fe80::1%eth0]:8006", "https://[2001:db8::1]:8006", "for example"),
            ("https://::1:8006", "https://[::1]:8006", "for example"),
            ("https://pve lab", "https://pve-lab", "for example"),
            ("https://pve\nlab", "https://pve.lab", "for example"),
            ("https://x:", "https://x", "https://x:8006"),
            ("https://x:0", "https://x:1", "for example"),
            ("https://pve..example", "https://pve.example", "for example"),
            ("https://10.0.1:8006", "https://10.0.0.1:8006", "for example"),
            ("https://167772161", "https://10.0.0.1", "for example"),
            ("https://0x0a000001", "https://x0a000001", "for example"),
            ("https://10.0.0.256", "https://10.0.0.255", "for example"),
            ("https://10.0.0.01", "https://10.0.0.1", "for example"),
            ("https://\u212aelvin.example", "https://kelvin.example", "for example"),
            ("pve.dc.example", "https://pve.dc.example", "https://pve.dc.example:8006"),
            ("https://pve.dc.example?x=1", "https://pve.dc.example", "https://pve.dc.example:8006"),
            ("https://" + "a" * 64, "https://" + "a" * 63, "for example"),
        )
    ),
    *(
        Case(
            f"one endpoint spelt {one} and {two} is refused",
            "ENDPOINT_TAKEN",
            "locations.lab.endpoint",
            {"locations.lab.endpoint": one, "locations.dc.endpoint": two},
            {"locations.lab.endpoint": one, "locations.dc.endpoint": "https://10.0.0.2"},
            fix="dc",
        )
        for one, two in (
            ("https://[::1]", "https://[0:0:0:0:0:0:0:1]:8006/"),
            ("https://[2001:DB8::A]", "https://[2001:db8:0::a]:8006"),
            ("https://10.0.0.1", "https://[::ffff:10.0.0.1]:8006"),
            ("HTTPS://PVE.example", "https://pve.example:08006"),
        )
    ),
    *(
        Case(
            f"the Hetzner network {bad} is refused as a public one",
            "CIDR_NOT_PRIVATE",
            "locations.fsn1.tenants.acme.cidr",
            {"locations.fsn1.tenants.acme": {"cidr": bad, "subnet": bad}},
            {"locations.fsn1.tenants.acme": {"cidr": good, "subnet": good}},
            fix="10.0.0.0/8",
        )
        for bad, good in (
            ("100.64.0.0/24", "10.64.0.0/24"),
            ("172.32.0.0/24", "172.31.0.0/24"),
            ("192.0.0.0/16", "192.168.0.0/16"),
            ("203.0.114.0/24", "192.168.7.0/24"),
        )
    ),
    *(
        Case(
            f"the image's selector {bad!r} is refused",
            "BAD_TEXT",
            "locations.fsn1.image.selector",
            {"locations.fsn1.image.selector": bad},
            {"locations.fsn1.image.selector": good},
        )
        for bad, good in ((" os=talos", "os=talos"), ("os=talos\n", "os = talos"), ("os=tal\u00f6s", "os in (talos)"))
    ),
    Case(
        "the size of a template's disk in GB is refused",
        "BAD_DISK",
        "locations.lab.template.disk",
        {"locations.lab.template.disk": "10GB"},
        {"locations.lab.template.disk": "10Gi"},
        fix="10Gi",
    ),
    *(
        Case(
            f"{what} as a private CA is refused",
            "BAD_CA",
            "locations.dc.ca",
            {"locations.dc.ca": pem},
            {"locations.dc.ca": "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"},
        )
        for what, pem in (("a file's name", "/etc/pve/pve-root-ca.pem"), ("a key", "-----BEGIN PRIVATE KEY-----"))
    ),
    Case(
        "a template on an unknown node is refused",
        "UNKNOWN_NODE",
        "locations.lab.template.node",
        {"locations.lab.template.node": "pve3"},
        {"locations.lab.template.node": "pve2"},
        fix="pve1, pve2",
    ),
    Case(
        "a template's id among a tenant's ids is refused",
        "ID_TAKEN",
        "locations.lab.template.id",
        {"locations.lab.template.id": 2050},
        {"locations.lab.template.id": 2250},
    ),
    Case(
        "a former template's id among a tenant's ids is refused",
        "ID_TAKEN",
        "locations.lab.formerTemplates.0.id",
        {"locations.lab.formerTemplates": [{"tags": ["talos"], "id": 2050, "node": "gone"}]},
        {"locations.lab.formerTemplates": [{"tags": ["talos"], "id": 2250, "node": "gone"}]},
    ),
    Case(
        "a template's id below 100 is refused",
        "OUT_OF_BOUNDS",
        "locations.lab.template.id",
        {"locations.lab.template.id": 99},
        {"locations.lab.template.id": 100},
        fix="100",
    ),
    Case(
        "a template's tag in capitals is refused",
        "BAD_TAG",
        "locations.lab.template.tags.0",
        {"locations.lab.template.tags": ["Talos"]},
        {"locations.lab.template.tags": ["talos"]},
    ),
    Case(
        "a template's tag that stands there twice is refused",
        "DUPLICATE_NAME",
        "locations.lab.template.tags.1",
        {"locations.lab.template.tags": ["talos", "talos"]},
        {"locations.lab.template.tags": ["talos", "new"]},
    ),
    Case(
        "a template without tags is refused",
        "EMPTY",
        "locations.lab.template.tags",
        {"locations.lab.template.tags": []},
        {"locations.lab.template.tags": ["talos"]},
    ),
    Case(
        "a location without nodes is refused",
        "EMPTY",
        "locations.dc.nodes",
        {"locations.dc.nodes": {}},
        {"locations.dc.nodes": {"dc1": {"memory": "512Gi"}}},
    ),
    Case(
        "a node's memory in GB is refused",
        "BAD_MEMORY",
        "locations.dc.nodes.dc1.memory",
        {"locations.dc.nodes.dc1.memory": "512GB"},
        {"locations.dc.nodes.dc1.memory": "512Gi"},
        fix="512Gi",
    ),
    Case(
        "a node's memory as a number is refused",
        "BAD_MEMORY",
        "locations.dc.nodes.dc1.memory",
        {"locations.dc.nodes.dc1.memory": 512},
        {"locations.dc.nodes.dc1.memory": "512Mi"},
    ),
    Case(
        "an unknown tenant in a location is refused",
        "UNKNOWN_TENANT",
        "locations.dc.tenants.globx",
        {"locations.dc.tenants.globx": {"vmIds": "3100-3199", "isoStorage": "iso-globex"}},
        {"locations.dc.tenants.globex": {"vmIds": "3100-3199", "isoStorage": "iso-globex"}},
        fix="did you mean globex?",
    ),
    Case(
        "VM ids that two tenants share are refused",
        "IDS_OVERLAP",
        "locations.lab.tenants.globex.vmIds",
        {"locations.lab.tenants.globex.vmIds": "2099-2150"},
        {"locations.lab.tenants.globex.vmIds": "2100-2150"},
        fix="2151-2202",
    ),
    Case(
        "VM ids below 100 are refused",
        "BAD_VM_IDS",
        "locations.lab.tenants.globex.vmIds",
        {"locations.lab.tenants.globex.vmIds": "99-150"},
        {"locations.lab.tenants.globex.vmIds": "100-2199"},
        always={"locations.lab.tenants.acme.vmIds": "2200-2299"},
    ),
    Case(
        "VM ids with the last below the first are refused",
        "BAD_VM_IDS",
        "locations.lab.tenants.globex.vmIds",
        {"locations.lab.tenants.globex.vmIds": "2199-2100"},
        {"locations.lab.tenants.globex.vmIds": "2100-2199"},
    ),
    Case(
        "one VM id as a number is refused",
        "NOT_TEXT",
        "locations.lab.tenants.globex.vmIds",
        {"locations.lab.tenants.globex.vmIds": 2100},
        {"locations.lab.tenants.globex.vmIds": "2100-2100"},
    ),
    Case(
        "an ISO storage that two tenants share is refused",
        "ISO_STORAGE_TAKEN",
        "locations.lab.tenants.globex.isoStorage",
        {"locations.lab.tenants.globex.isoStorage": "iso-acme"},
        {"locations.lab.tenants.globex.isoStorage": "iso-other"},
        fix="iso-globex",
    ),
    Case(
        "an ISO storage that every node has for everybody is refused",
        "ISO_STORAGE_TAKEN",
        "locations.lab.tenants.globex.isoStorage",
        {"locations.lab.tenants.globex.isoStorage": "local"},
        {"locations.lab.tenants.globex.isoStorage": "local-globex"},
        fix="iso-globex",
    ),
    *(
        Case(
            f"templates in {pool}, the pool of a tenant's machines, are refused",
            "POOL_TAKEN",
            "locations.lab.template.pool",
            {"locations.lab.template.pool": pool},
            {"locations.lab.template.pool": "lab-templates"},
            fix="templates",
        )
        for pool in ("lab-acme", "lab-globex", "other-acme")
    ),
    Case(
        "templates in a pool inside another are refused",
        "BAD_NAME",
        "locations.lab.template.pool",
        {"locations.lab.template.pool": "all/templates"},
        {"locations.lab.template.pool": "all.templates"},
    ),
    Case(
        "a version of Proxmox VE that is not known is refused",
        "NOT_ONE_OF",
        "locations.lab.pve",
        {"locations.lab.pve": 7},
        {"locations.lab.pve": 8},
    ),
    Case(
        "an identity's token that was never made is refused",
        "OUT_OF_BOUNDS",
        "tenants.globex.rotation",
        {"tenants.globex.rotation": 0},
        {"tenants.globex.rotation": 2},
    ),
    Case(
        "a token that was never made is refused",
        "OUT_OF_BOUNDS",
        "locations.lab.tenants.globex.rotation",
        {"locations.lab.tenants.globex.rotation": 0},
        {"locations.lab.tenants.globex.rotation": 2},
    ),
    Case(
        "an ISO storage that is the disks' is refused",
        "ISO_STORAGE_TAKEN",
        "locations.lab.tenants.globex.isoStorage",
        {"locations.lab.tenants.globex.isoStorage": "ceph-vm"},
        {"locations.lab.tenants.globex.isoStorage": "ceph-iso"},
        fix="iso-globex",
    ),
    *(
        Case(
            f"vSwitch {vswitch} is refused",
            "VSWITCH_VLAN",
            "locations.dc.uplink.vswitch",
            {"locations.dc.uplink.vswitch": vswitch},
            {"locations.dc.uplink.vswitch": near},
            fix=str(near),
        )
        for vswitch, near in ((3999, 4000), (4092, 4091), (100, 4000))
    ),
    Case(
        "an uplink's MTU above 1400 is refused",
        "UPLINK_MTU",
        "locations.dc.uplink.mtu",
        {"locations.dc.uplink.mtu": 1401},
        {"locations.dc.uplink.mtu": 1400},
        fix="1400",
    ),
    Case(
        "an uplink's MTU below 576 is refused",
        "OUT_OF_BOUNDS",
        "locations.dc.uplink.mtu",
        {"locations.dc.uplink.mtu": 575},
        {"locations.dc.uplink.mtu": 576},
        fix="576",
    ),
    Case(
        "an unknown Hetzner region is refused",
        "NOT_ONE_OF",
        "locations.fsn1.region",
        {"locations.fsn1.region": "fsn2"},
        {"locations.fsn1.region": "nbg1"},
        fix="did you mean fsn1?",
    ),
    Case(
        "a Hetzner subnet outside its network is refused",
        "SUBNET_OUTSIDE",
        "locations.fsn1.tenants.acme.subnet",
        {"locations.fsn1.tenants.acme.subnet": "10.101.1.0/24"},
        {"locations.fsn1.tenants.acme.subnet": "10.100.9.0/24"},
        fix="10.100.0.0/24",
    ),
    Case(
        "a DNS server that is a name is refused",
        "BAD_ADDRESS",
        "locations.dc.dnsServers.0",
        {"locations.dc.dnsServers": ["dns.example"]},
        {"locations.dc.dnsServers": ["10.0.0.53"]},
    ),
]

ZONES = [
    *(
        Case(
            f"the bridge {bridge} is refused",
            "BAD_BRIDGE",
            "zones.workers.bridge",
            {"zones.workers.bridge": bridge},
            {"zones.workers.bridge": good},
        )
        for bridge, good in (
            ("vmbr-1", "vmbr_1"),
            ("vmbr1.5", "vmbr15"),
            ("1vmbr", "vmbr1"),
            ("v123456789012345", "v12345678901234"),
        )
    ),
    Case(
        "a bridge name that two zones have is refused",
        "BRIDGE_TAKEN",
        "zones.workers.bridge",
        {"zones.second": {**SECOND_ZONE, "bridge": "vmbr1"}},
        {"zones.second": SECOND_ZONE},
        fix="zone second",
    ),
    Case(
        "an unknown location of a zone is refused",
        "UNKNOWN_LOCATION",
        "zones.second.locations.1",
        {"zones.second": {**SECOND_ZONE, "locations": ["lab", "dv"]}},
        {"zones.second": {**SECOND_ZONE, "locations": ["lab", "dc"]}},
        fix="dc, lab",
    ),
    Case(
        "a cloud among a zone's locations is refused",
        "WRONG_LOCATION_TYPE",
        "zones.second.locations.1",
        {"zones.second": {**SECOND_ZONE, "locations": ["lab", "fsn1"]}},
        {"zones.second": {**SECOND_ZONE, "locations": ["lab", "dc"]}},
        fix="dc, lab",
    ),
    Case(
        "a location that a zone names twice is refused",
        "DUPLICATE_NAME",
        "zones.second.locations.1",
        {"zones.second": {**SECOND_ZONE, "locations": ["lab", "lab"]}},
        {"zones.second": {**SECOND_ZONE, "locations": ["lab"]}},
    ),
    Case(
        "a zone without locations is refused",
        "EMPTY",
        "zones.second.locations",
        {"zones.second": {**SECOND_ZONE, "locations": []}},
        {"zones.second": {**SECOND_ZONE, "locations": ["lab"]}},
    ),
    Case(
        "VLANs reserved in a location that the zone does not span are refused",
        "LOCATION_NOT_IN_ZONE",
        "zones.workers.reserved.fsn1",
        {"zones.workers.reserved.fsn1": [5]},
        {"zones.workers.reserved.lab": [5]},
    ),
    Case(
        "reserved VLANs above 4094 are refused",
        "BAD_VLANS",
        "zones.workers.reserved.dc.0",
        {"zones.workers.reserved.dc": ["10-4095"]},
        {"zones.workers.reserved.dc": ["400-4094"]},
    ),
]

ROWS = [
    Case(
        "a network name that two zones have is refused",
        "NAME_TAKEN",
        "zones.workers.networks.globex-dc",
        {
            "zones.second": {
                **SECOND_ZONE,
                "networks": {
                    "globex-dc": row(cidr="10.233.0.0/24", gateway="10.233.0.1", range="10.233.0.2-10.233.0.9")
                },
            }
        },
        {
            "zones.second": {
                **SECOND_ZONE,
                "networks": {
                    "globex-dd": row(cidr="10.233.0.0/24", gateway="10.233.0.1", range="10.233.0.2-10.233.0.9")
                },
            }
        },
        always={**IN_DC, ROW: row()},
    ),
    Case(
        "a network name that ends with -icip is refused",
        "NAME_RESERVED",
        "zones.workers.networks.globex-icip",
        {"zones.workers.networks.globex-icip": row()},
        {"zones.workers.networks.globex-icp": row()},
        always=IN_DC,
        fix="globex",
    ),
    Case(
        "a network name in capitals is refused",
        "BAD_NAME",
        "zones.workers.networks.Globex",
        {"zones.workers.networks.Globex": row()},
        {"zones.workers.networks.globex": row()},
        always=IN_DC,
    ),
    Case(
        "a row of an unknown tenant is refused",
        "UNKNOWN_TENANT",
        f"{ROW}.tenant",
        {ROW: row(tenant="globx")},
        {ROW: row(tenant="globex")},
        always=IN_DC,
        fix="did you mean globex?",
    ),
    Case(
        "a row in an unknown location is refused",
        "UNKNOWN_LOCATION",
        f"{ROW}.location",
        {ROW: row(location="dd")},
        {ROW: row(location="dc")},
        always=IN_DC,
        fix="dc, lab",
    ),
    Case(
        "a row in a location that its zone does not span is refused",
        "LOCATION_NOT_IN_ZONE",
        "zones.second.networks.globex-dc.location",
        {"zones.second": {**SECOND_ZONE, "locations": ["lab"], "networks": {"globex-dc": row()}}},
        {"zones.second": {**SECOND_ZONE, "locations": ["dc"], "networks": {"globex-dc": row()}}},
        always=IN_DC,
    ),
    Case(
        "a row of a tenant without a place in the location is refused",
        "TENANT_NOT_AT_LOCATION",
        f"{ROW}.location",
        {ROW: row()},
        {ROW: row(), **IN_DC},
        fix="locations.dc.tenants.globex",
    ),
    *(
        Case(
            f"VLAN {vlan} is refused",
            "VLAN_OUT_OF_BOUNDS",
            f"{ROW}.vlan",
            {ROW: row(vlan=vlan)},
            {ROW: row(vlan=near)},
            always={**IN_DC, "zones.workers.nativeVlan": 50},
            fix=str(fix),
        )
        for vlan, near, fix in ((1, 2, 2), (0, 3, 2), (4095, 4094, 4094), (-5, 2, 2))
    ),
    Case(
        "a VLAN in quotes is refused",
        "NOT_A_NUMBER",
        f"{ROW}.vlan",
        {ROW: row(vlan="302")},
        {ROW: row(vlan=302)},
        always=IN_DC,
        fix="without quotes",
    ),
    Case(
        "the native VLAN is refused",
        "VLAN_NATIVE",
        f"{ROW}.vlan",
        {"zones.workers.nativeVlan": 302},
        {"zones.workers.nativeVlan": 303},
        always={**IN_DC, ROW: row()},
        fix="303",
    ),
    Case(
        "a VLAN that is reserved in its location is refused",
        "VLAN_RESERVED",
        f"{ROW}.vlan",
        {ROW: row(vlan=50)},
        {ROW: row(vlan=100)},
        always=IN_DC,
        fix="100",
    ),
    Case(
        "a VLAN that is reserved in another location only is accepted",
        "VLAN_RESERVED",
        f"{ROW}.vlan",
        {"zones.workers.reserved.dc": [302]},
        {"zones.workers.reserved.lab": [302]},
        always={**IN_DC, ROW: row()},
    ),
    Case(
        "a retired VLAN is refused",
        "VLAN_RETIRED",
        f"{ROW}.vlan",
        {"zones.workers.retired": ["300-310"]},
        {"zones.workers.retired": ["303-310"]},
        always={**IN_DC, ROW: row(), "zones.workers.networks.acme-dc.vlan": 400},
        fix="311",
    ),
    Case(
        "a VLAN that two rows share is refused",
        "VLAN_TAKEN",
        f"{ROW}.vlan",
        {ROW: row(vlan=301)},
        {ROW: row(vlan=303)},
        always=IN_DC,
        fix="302",
    ),
    Case(
        "a VLAN that two locations of a zone share is refused",
        "VLAN_TAKEN",
        f"{ROW}.vlan",
        {ROW: row(vlan=201)},
        {ROW: row(vlan=203)},
        always=IN_DC,
        fix="203",
    ),
    Case(
        "a VLAN that two zones share is accepted",
        "VLAN_TAKEN",
        f"{ROW}.vlan",
        {ROW: row(vlan=201)},
        {"zones.second": {**SECOND_ZONE, "networks": {"globex-dc": row(vlan=201)}}},
        always=IN_DC,
    ),
    Case(
        "a network with host bits is refused",
        "BAD_CIDR",
        f"{ROW}.cidr",
        {ROW: row(cidr="10.232.0.1/24")},
        {ROW: row(cidr="10.232.0.0/24")},
        always=IN_DC,
        fix="10.232.0.0/24",
    ),
    *(
        Case(
            f"{bad} as a network is refused",
            "BAD_CIDR",
            f"{ROW}.cidr",
            {ROW: row(cidr=bad)},
            {ROW: row(cidr="10.232.0.0/24")},
            always=IN_DC,
            fix="10.232.0.0/",
        )
        for bad in ("10.232.0.0/255.255.255.0", "10.232.0.0")
    ),
    Case(
        "a prefix of 33 is refused",
        "BAD_CIDR",
        f"{ROW}.cidr",
        {ROW: row(cidr="10.232.0.0/33")},
        {ROW: row(cidr="10.232.0.0/23")},
        always=IN_DC,
    ),
    Case(
        "a network of two addresses is refused",
        "CIDR_TOO_SMALL",
        f"{ROW}.cidr",
        {ROW: row(cidr="10.232.0.0/31", range="10.232.0.0-10.232.0.0")},
        {ROW: row(cidr="10.232.0.0/30", range="10.232.0.2-10.232.0.2")},
        always=IN_DC,
    ),
    Case(
        "a network over another row's, also in another zone, is refused",
        "CIDR_OVERLAP",
        "zones.second.networks.globex-dc.cidr",
        {
            "zones.second": {
                **SECOND_ZONE,
                "networks": {
                    "globex-dc": row(cidr="10.231.0.0/16", gateway="10.231.1.1", range="10.231.1.2-10.231.1.9")
                },
            }
        },
        {
            "zones.second": {
                **SECOND_ZONE,
                "networks": {
                    "globex-dc": row(cidr="10.240.0.0/16", gateway="10.240.1.1", range="10.240.1.2-10.240.1.9")
                },
            }
        },
        always=IN_DC,
    ),
    Case(
        "a network over a cloud's is refused",
        "CIDR_OVERLAP",
        "locations.fsn1.tenants.acme.cidr",
        {"locations.fsn1.tenants.acme": {"cidr": "10.201.0.0/16", "subnet": "10.201.1.0/24"}},
        {"locations.fsn1.tenants.acme": {"cidr": "10.203.0.0/16", "subnet": "10.203.1.0/24"}},
        fix="10.203.0.0/16",
    ),
    Case(
        "a network inside the pods' range is refused",
        "CIDR_OVERLAP",
        f"{ROW}.cidr",
        {ROW: row(cidr="10.243.7.0/24", gateway="10.243.7.1", range="10.243.7.2-10.243.7.9")},
        {ROW: row(cidr="10.244.7.0/24", gateway="10.244.7.1", range="10.244.7.2-10.244.7.9")},
        always=IN_DC,
        fix="10.244.0.0/24",
    ),
    Case(
        "a network inside the services' range is refused",
        "CIDR_OVERLAP",
        f"{ROW}.cidr",
        {ROW: row(cidr="10.95.7.0/24", gateway="10.95.7.1", range="10.95.7.2-10.95.7.9")},
        {
            ROW: row(cidr="10.95.7.0/24", gateway="10.95.7.1", range="10.95.7.2-10.95.7.9"),
            "management.serviceCidr": "10.96.0.0/16",
        },
        always=IN_DC,
    ),
    *(
        Case(
            f"the gateway {gateway} is refused",
            "GATEWAY_OUTSIDE",
            f"{ROW}.gateway",
            {ROW: row(gateway=gateway)},
            {ROW: row(gateway="10.232.0.254")},
            always=IN_DC,
            fix="10.232.0.1",
        )
        for gateway in ("10.233.0.1", "10.232.0.0", "10.232.0.255")
    ),
    Case(
        "a gateway inside the range is refused",
        "GATEWAY_IN_RANGE",
        f"{ROW}.gateway",
        {ROW: row(gateway="10.232.0.199")},
        {ROW: row(gateway="10.232.0.200")},
        always=IN_DC,
    ),
    *(
        Case(
            f"the range {bad} is refused",
            "RANGE_OUTSIDE",
            f"{ROW}.range",
            {ROW: row(range=bad)},
            {ROW: row(range=good)},
            always=IN_DC,
            fix="10.232.0.1-10.232.0.254",
        )
        for bad, good in (
            ("10.232.0.2-10.232.0.255", "10.232.0.2-10.232.0.254"),
            ("10.232.0.200-10.232.1.5", "10.232.0.200-10.232.0.205"),
            ("10.233.0.2-10.233.0.9", "10.232.0.2-10.232.0.9"),
        )
    ),
    Case(
        "a range that begins with the network's own address is refused",
        "RANGE_OUTSIDE",
        f"{ROW}.range",
        {ROW: row(range="10.232.0.0-10.232.0.9", gateway="10.232.0.254")},
        {ROW: row(range="10.232.0.1-10.232.0.9", gateway="10.232.0.254")},
        always=IN_DC,
    ),
    Case(
        "more ranges than the management cluster takes are refused",
        "TOO_MANY_RANGES",
        f"{ROW}.range",
        {ROW: row(range=[f"10.232.0.{at}-10.232.0.{at}" for at in range(20, 29)])},
        {ROW: row(range=[f"10.232.0.{at}-10.232.0.{at}" for at in range(20, 28)])},
        always=IN_DC,
    ),
    Case(
        "more networks than the management cluster takes are refused",
        "TOO_MANY_NETWORKS",
        "zones.large.networks",
        {"zones.large": large(513)},
        {"zones.large": large(512)},
        always=IN_DC,
    ),
    Case(
        "more networks of all zones than the management cluster takes are refused",
        "TOO_MANY_NETWORKS",
        "zones",
        {f"zones.large{index}": large(512, index) for index in range(4)},
        {f"zones.large{index}": large(511, index) for index in range(4)},
        always={**IN_DC, "zones.workers.networks.globex-lab": GONE},
    ),
    Case(
        "ranges that share addresses are refused",
        "RANGE_OVERLAP",
        f"{ROW}.range",
        {ROW: row(range=["10.232.0.20-10.232.0.50", "10.232.0.50-10.232.0.60"])},
        {ROW: row(range=["10.232.0.20-10.232.0.50", "10.232.0.51-10.232.0.60"])},
        always=IN_DC,
    ),
    Case(
        "a range with the last address below the first is refused",
        "BAD_RANGE",
        f"{ROW}.range",
        {ROW: row(range="10.232.0.9-10.232.0.2")},
        {ROW: row(range="10.232.0.2-10.232.0.9")},
        always=IN_DC,
    ),
    Case(
        "no range is refused",
        "BAD_RANGE",
        f"{ROW}.range",
        {ROW: row(range=[])},
        {ROW: row(range=["10.232.0.2-10.232.0.9"])},
        always=IN_DC,
    ),
]

ENVIRONMENT_CASES = [*MANAGEMENT, *TENANTS, *LOCATIONS, *ZONES, *ROWS]
