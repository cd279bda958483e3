"""Every rule of the pack with a case that it refuses, what it then says, and a twin that passes.

`test_cases.py` asks the real analyzer; the mutation run asks whether breaking the pack changes one of these verdicts.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tenant_isolation import control_planes, guests, machines, objects, servers

from tests.policy.analyzer import UNKNOWN, secret
from tests.policy.examples import (
    DC,
    FILE,
    HCLOUD,
    KUBERNETES,
    LAB,
    PROXMOX,
    SERVER,
    VM,
    cluster,
    default_nic,
    iso,
    k8s,
    kubernetes,
    machine,
    network_v1,
    network_v2,
    nic,
    pool_ref,
    provider,
    server,
    template,
    vm,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

CORE = "cluster.x-k8s.io"
Body = dict[str, Any]
Provider = tuple[str, Body] | None
EMPTY: tuple[Any, ...] = ("", [], None)
GONE = object()
"""As a value: the field is not there."""
EMPTY_TEXTS: tuple[Any, ...] = ("", None, GONE)


@dataclass(frozen=True)
class Example:
    """A resource that its stack may make."""

    name: str
    token: str
    props: Body
    provider: Provider
    stack: str = "lab-globex"


@dataclass(frozen=True)
class Case:
    """A resource and what one message about it says; None where it passes."""

    name: str
    example: Example
    says: str | None
    provider_name: str = field(default="explicit")


def put(value: Any, path: str, new: Any) -> Any:
    """Give a copy of a tree with one thing changed: `path` is keys and positions with dots between."""
    changed = copy.deepcopy(value)
    keys: list[Any] = [int(key) if key.isdigit() else key for key in path.replace("~", "\0").split(".")]
    keys = [key.replace("\0", ".") if isinstance(key, str) else key for key in keys]
    holder = changed
    for key in keys[:-1]:
        holder = holder[key]
    if new is GONE:
        del holder[keys[-1]]
    else:
        holder[keys[-1]] = new
    return changed


VM_ = Example("vm", VM, vm(), PROXMOX)
ISO = Example("iso", FILE, iso(), PROXMOX)
SERVER_ = Example("server", SERVER, server(), HCLOUD)
GROUP = Example("group", "hcloud:index/placementGroup:PlacementGroup", {"name": "a", "type": "spread"}, HCLOUD)
FIREWALL = Example("firewall", "hcloud:index/firewall:Firewall", {"name": "a", "labels": {}}, HCLOUD)
TEMPLATE_1 = Example("template v1alpha1", *template(), KUBERNETES)
TEMPLATE_2 = Example("template v1alpha2", *template(version="v1alpha2"), KUBERNETES)
MACHINE_1 = Example("machine v1alpha1", *machine(), KUBERNETES)
MACHINE_2 = Example("machine v1alpha2", *machine(version="v1alpha2"), KUBERNETES)
CLUSTER_1 = Example("ProxmoxCluster v1alpha1", *cluster(), KUBERNETES)
CLUSTER_2 = Example("ProxmoxCluster v1alpha2", *cluster("v1alpha2"), KUBERNETES)
_REFS = {
    "controlPlaneRef": {
        "apiVersion": "controlplane.cluster.x-k8s.io/v1alpha1",
        "kind": "KamajiControlPlane",
        "name": "prod",
    },
    "infrastructureRef": {
        "apiGroup": "infrastructure.cluster.x-k8s.io",
        "kind": "ProxmoxCluster",
        "name": "prod",
    },
}
CAPI = Example("Cluster", *k8s("Cluster", {"clusterNetwork": {"pods": {}}, **_REFS}, "", "v1beta1"), KUBERNETES)
DEPLOYMENT = Example(
    "MachineDeployment",
    *k8s(
        "MachineDeployment",
        {
            "clusterName": "prod",
            "replicas": 2,
            "template": {
                "spec": {
                    "bootstrap": {
                        "configRef": {
                            "apiVersion": "bootstrap.cluster.x-k8s.io/v1alpha3",
                            "kind": "TalosConfigTemplate",
                            "name": "x",
                        }
                    },
                    "infrastructureRef": {
                        "apiVersion": "infrastructure.cluster.x-k8s.io/v1alpha1",
                        "kind": "ProxmoxMachineTemplate",
                        "name": "x",
                    },
                }
            },
        },
        "",
        "v1beta1",
    ),
    KUBERNETES,
)
HEALTH = Example(
    "MachineHealthCheck", *k8s("MachineHealthCheck", {"clusterName": "a", "selector": {}}, "", "v1beta1"), KUBERNETES
)
TALOS = Example(
    "TalosConfigTemplate",
    *k8s("TalosConfigTemplate", {"template": {"spec": {"data": UNKNOWN}}}, "bootstrap", "v1alpha3"),
    KUBERNETES,
)
CONTROL_PLANE = Example(
    "KamajiControlPlane",
    *k8s(
        "KamajiControlPlane",
        {
            "replicas": 2,
            "version": "v1.35.6",
            "addons": {"konnectivity": {"server": {"port": 8132}}},
            "kubelet": {"cgroupfs": "systemd", "preferredAddressTypes": ["InternalIP"]},
            "network": {
                "serviceType": "LoadBalancer",
                "serviceAddress": "203.0.113.20",
                "certSANs": ["a"],
                "additionalServicePorts": [],
            },
        },
        "controlplane",
    ),
    KUBERNETES,
)
PROVIDERS = [
    Example("Proxmox VE provider", *PROXMOX, None),
    Example("Hetzner provider", *HCLOUD, None),
    Example("Kubernetes provider", *KUBERNETES, None),
]
STACKS = [
    Example("stack", "pulumi:pulumi:Stack", {}, None),
    Example("component", "hybrid:index:WorkerPool", {}, None),
    Example("provider of references", "pulumi:providers:pulumi", {}, None),
    Example("reference", "pulumi:pulumi:StackReference", {"name": "organization/hybrid/lab-globex"}, None),
]

TENANT = [
    *(VM_, ISO, SERVER_, GROUP, FIREWALL, TEMPLATE_1, TEMPLATE_2, MACHINE_1, MACHINE_2, CLUSTER_1, CLUSTER_2),
    *(CAPI, DEPLOYMENT, HEALTH, TALOS, CONTROL_PLANE),
    *PROVIDERS,
    *STACKS,
]
"""What a tenant's stack may make."""


def refused(example: Example, says: str, *changes: tuple[str, Any], provider: Provider = None, named: str = "") -> Case:
    return _case(example, says, changes, provider, named)


def passes(example: Example, *changes: tuple[str, Any], provider: Provider = None) -> Case:
    return _case(example, None, changes, provider, "")


def _case(
    example: Example, says: str | None, changes: tuple[tuple[str, Any], ...], provider: Provider, named: str
) -> Case:
    props = example.props
    for path, new in changes:
        props = put(props, path, new)
    shown = ", ".join(f"{path}={'gone' if new is GONE else new!r}"[:60] for path, new in changes)
    made = Example(example.name, example.token, props, provider or example.provider, example.stack)
    through = f" through {provider[1]}" if provider else ""
    name = f"{example.name} {shown}{through}{named}" + (f": {says}" if says else " passes")
    return Case(name, made, says, named or "explicit")


def of(example: Example, stack: str) -> Example:
    """Give the same resource in another stack."""
    provider = example.provider
    if provider and provider[0] == KUBERNETES[0]:
        provider = kubernetes(stack)
    return Example(f"{example.name} of {stack}", example.token, example.props, provider, stack)


def _vm_cases() -> list[Case]:
    offer = "Stack lab-globex may use on https://pve.lab.example:8006: vmbr1 VLAN 202 (globex-lab)"
    bad_nics: list[tuple[Any, str]] = [
        (nic(201), "asks for VLAN 201 on bridge vmbr1. " + offer),
        (nic(202, "vmbr1,tag=205"), "asks for VLAN 202 on bridge vmbr1,tag=205."),
        (nic(202, "vmbr2"), "asks for VLAN 202 on bridge vmbr2."),
        (nic(202, "VMBR1"), "asks for VLAN 202 on bridge VMBR1."),
        (nic(202, "vmbr1 "), "asks for VLAN 202 on bridge vmbr1 ."),
        (nic(5, "vmbr9"), "asks for VLAN 5 on bridge vmbr9."),  # open to namespaces, not to tokens
        (nic(202, None), "asks for VLAN 202 on bridge none."),
        (nic(202, {"name": "vmbr1"}), "on bridge something that is no plain value."),
        (nic("202"), "(a VLAN is a whole number)"),
        (nic(202.5), "asks for VLAN 202.5 on bridge vmbr1 (a VLAN is a whole number)"),
        (nic(True), "(a VLAN is a whole number)"),  # noqa: FBT003 - a VLAN that is no number
        (nic([202]), "(a VLAN is a whole number)"),
        (nic(-202), "asks for VLAN -202"),
        (nic(None), "has no VLAN"),
        (nic(0), "has no VLAN"),
        (nic(trunks="10;20"), "has trunks"),
        (nic(trunks="10-20"), "has trunks"),
        (nic(trunks=[10, 20]), "has trunks"),
        (nic(trunks=UNKNOWN), "has trunks"),
        (nic(trunks=0), "has trunks"),
        (nic(vlan_id=201), "fields that this pack can not judge: vlan_id"),
        (nic(model="virtio,trunks=201"), "model holds a comma, with which it would set further options"),
        (nic(macAddress="02:00:00:00:00:01,tag=201"), "macAddress holds a comma"),
        (nic(tag=201), "fields that this pack can not judge: tag"),
        ({**nic(), "vlan": 201}, "fields that this pack can not judge: vlan"),
        ("net0", "is not a set of fields"),
        (None, "is not a set of fields"),
        ([nic()], "is not a set of fields"),
    ]
    return [
        *(
            refused(
                VM_,
                f"NIC 1 (networkDevices[0]) {says}" if says.startswith(("asks", "has ", "is ")) else says,
                ("networkDevices.0", bad),
            )
            for bad, says in bad_nics
        ),
        *(refused(VM_, "NIC 2 (networkDevices[1])", ("networkDevices", [nic(), bad])) for bad, _ in bad_nics),
        passes(VM_, ("networkDevices", [nic(), nic(212, "vmbr2")])),
        passes(VM_, ("networkDevices.0.vlanId", 202.0)),
        passes(VM_, ("networkDevices.0.mtu", UNKNOWN)),
        passes(VM_, ("networkDevices.0.trunks", "")),
        passes(VM_, ("networkDevices.0.trunks", [])),
        passes(VM_, ("networkDevices.0.trunks", None)),
        passes(VM_, ("description", UNKNOWN)),
        refused(VM_, "would keep the template's", ("networkDevices", [])),
        refused(VM_, "would keep the template's", ("networkDevices", GONE)),
        refused(VM_, "would keep the template's", ("networkDevices", "")),
        refused(VM_, "networkDevices are not a list", ("networkDevices", nic())),
        refused(VM_, "networkDevices are not a list", ("networkDevices", {"net0": nic()})),
        refused(VM_, "inputs that this pack can not judge: networkDevice.", ("networkDevice", [nic(201)])),
        refused(VM_, "inputs that this pack can not judge: network_devices.", ("network_devices", [nic(201)])),
        *(
            refused(VM_, f"It sets {name}, which is not for tenants", (name, value))
            for name, value in (
                ("kvmArguments", "-netdev bridge,br=vmbr1,id=x"),
                ("kvmArguments", UNKNOWN),
                ("hostpcis", [{"device": "hostpci0", "mapping": "nic"}]),
                ("hostpcis", UNKNOWN),
                ("usbs", [{"host": "0bda:8153"}]),
                ("virtiofs", [{"mapping": "x"}]),
                ("hookScriptFileId", "local:snippets/x.sh"),
                ("initialization", {"userDataFileId": "local:snippets/acme.yaml"}),
                ("initialization", {}),
            )
        ),
        *(passes(VM_, (name, value)) for name in ("kvmArguments", "usbs", "initialization") for value in EMPTY),
        refused(VM_, "It is not a clone.", ("clone", GONE)),
        refused(VM_, "It is not a clone.", ("clone", {})),
        refused(VM_, "It is not a clone.", ("clone", 9000)),
        refused(VM_, "names no vmId", ("clone.vmId", GONE)),
        refused(VM_, "It is no clone of a template of lab. Write clone.vmId: 9000 or 8999;", ("clone.vmId", 2000)),
        refused(VM_, "It is no clone of a template of lab.", ("clone.vmId", "9000")),
        passes(VM_, ("clone.vmId", 8999)),
        refused(VM_, "Write clone.retries: 1.", ("clone.retries", 2)),
        refused(VM_, "Write clone.retries: 1.", ("clone.retries", "1")),
        passes(VM_, ("clone.retries", 0)),
        passes(VM_, ("clone.retries", GONE)),
        refused(VM_, "fields that this pack can not judge: vm_id", ("clone.vm_id", 1)),
        refused(VM_, "goes to storage iso-acme", ("clone.datastoreId", "iso-acme")),
        passes(VM_, ("clone.datastoreId", "ceph-vm")),
        passes(VM_, ("clone.datastoreId", "")),
        *(
            refused(VM_, "The tenant has 2100 to 2199 there.", ("vmId", bad))
            for bad in (2099, 2200, "2100", 2100.5, GONE, 0)
        ),
        passes(VM_, ("vmId", 2199)),
        passes(VM_, ("vmId", 2100)),
        *(
            refused(VM_, "resource pool is lab-globex.", ("poolId", bad))
            for bad in ("lab-acme", "", "templates", ["lab-globex"], GONE)
        ),
        refused(
            VM_,
            "disks[0].datastoreId is iso-acme. The tenant's disks are in ceph-vm.",
            ("disks.0.datastoreId", "iso-acme"),
        ),
        refused(VM_, "disks[0].datastoreId is none.", ("disks.0.datastoreId", GONE)),
        refused(VM_, "disks[0].datastoreId is iso-globex.", ("disks.0.datastoreId", "iso-globex")),
        *(
            refused(VM_, f"disks[0].{name} takes a disk from elsewhere", (f"disks.0.{name}", "ceph-vm:vm-2000-disk-0"))
            for name in ("fileId", "importFrom", "pathInDatastore")
        ),
        passes(VM_, ("disks.0.fileId", "")),
        refused(VM_, "disks[0] has fields that this pack can not judge: file_id", ("disks.0.file_id", "x")),
        refused(VM_, "disks[0] is x, not a set of fields", ("disks.0", "x")),
        refused(VM_, "disks[0].serial holds a comma", ("disks.0.serial", "x,import-from=ceph-vm:vm-2000-disk-0")),
        *(
            refused(VM_, "Its serialDevices are not all sockets.", ("serialDevices", bad))
            for bad in ([{"device": "socket"}, {"device": "/dev/ttyS0"}], UNKNOWN, [UNKNOWN], ["socket"], "socket")
        ),
        *(passes(VM_, ("serialDevices", good)) for good in ([{"device": "socket"}, {}], [{"device": ""}], [], None)),
        refused(
            VM_, "disks[1].datastoreId is local.", ("disks", [{"datastoreId": "ceph-vm"}, {"datastoreId": "local"}])
        ),
        refused(VM_, "not a list", ("disks", {"scsi0": {"datastoreId": "iso-acme"}})),
        passes(VM_, ("disks", [])),
        passes(VM_, ("disks", GONE)),
        *(
            case
            for name in ("efiDisk", "tpmState")
            for case in (
                passes(VM_, (name, {"datastoreId": "ceph-vm"})),
                refused(VM_, f"{name}.datastoreId is iso-acme", (name, {"datastoreId": "iso-acme"})),
                refused(VM_, f"{name} is one that is not known yet", (name, UNKNOWN)),
                refused(VM_, f"{name} has fields", (name, {"datastoreId": "ceph-vm", "fileId": "x"})),
            )
        ),
        *(
            refused(VM_, "The tenant's ISO images are iso-globex:iso/<name>.", ("cdrom.fileId", bad))
            for bad in (
                "iso-acme:iso/prod-dc-0.iso",
                "iso-globex:vztmpl/x",
                "iso-globex:iso/",
                "iso-globex:iso/../x",
                "iso-globex:iso/a b",
                "iso-globex:iso/x.iso,snapshot=1",
                "cdrom",
                "/dev/sr0",
                "iso-globex2:iso/x.iso",
                5,
                ["iso-globex:iso/x.iso"],
            )
        ),
        *(passes(VM_, ("cdrom.fileId", value)) for value in ("", "none", GONE, "iso-globex:iso/x.iso")),
        passes(VM_, ("cdrom", GONE)),
        refused(VM_, "Its cdrom is x, not a set of fields.", ("cdrom", "x")),
        refused(VM_, "Its cdrom has fields that this pack can not judge: file", ("cdrom.file", "x")),
        refused(ISO, "ISO images are in iso-globex.", ("datastoreId", "iso-acme")),
        refused(ISO, "ISO images are in iso-globex.", ("datastoreId", GONE)),
        refused(ISO, "ISO images are in iso-globex.", ("datastoreId", "ceph-vm")),
        *(
            refused(ISO, "Write contentType: iso.", ("contentType", bad))
            for bad in ("snippets", "import", "vztmpl", GONE, ["iso"])
        ),
        passes(ISO, ("sourceFile.path", UNKNOWN)),
        refused(ISO, "inputs that this pack can not judge: sourceRaw", ("sourceRaw", {"data": "x"})),
        refused(ISO, "inputs that this pack can not judge: uploadMode", ("uploadMode", "ssh")),
    ]


def _other_location_cases() -> list[Case]:
    """Give acme's VM in its other location: the VLAN of one is not its own in the other."""
    clone = {"vmId": 9000, "retries": 1}
    disks = [{"interface": "scsi0", "datastoreId": "tank"}]
    there = vm(nic(301), vmId=3000, poolId="lab-acme", clone=clone, disks=disks, cdrom={"fileId": "iso-acme:iso/x"})
    in_dc = Example("acme's vm in dc", VM, there, provider(DC, "acme"), "lab-acme")
    offer = f"Stack lab-acme may use on {DC}: vmbr1 VLAN 301 (acme-dc). Write bridge: vmbr1 and vlanId: 301."
    return [
        passes(in_dc),
        refused(in_dc, offer, ("networkDevices.0.vlanId", 201)),
        refused(in_dc, "The tenant has 3000 to 3099 there.", ("vmId", 2000)),
        refused(in_dc, "The tenant's disks are in tank.", ("disks.0.datastoreId", "ceph-vm")),
    ]


def _provider_cases() -> list[Case]:
    talks: list[tuple[Any, str]] = [
        (DC, f"talks to {DC}."),
        ("https://pve.lab.example", "talks to https://pve.lab.example:443."),
        ("http://pve.lab.example:8006", "talks to http://pve.lab.example:8006."),
        ("https://pve.lab.example:8006@evil.example", "is not of the form https://host:port."),
        ("https://root:x@pve.lab.example:8006", "is not of the form https://host:port."),
        ("https://pve.lab.example:8006/x", "is not of the form https://host:port."),
        ("https://pve.\u212aab.example:8006", "is not of the form https://host:port."),  # lower() makes it a k
        (8006, "is not of the form https://host:port."),
        ("", "is not of the form https://host:port."),
        (None, "has no endpoint."),
        (GONE, "has no endpoint."),
    ]
    found = []
    for endpoint, says in talks:
        inputs = put(PROXMOX[1], "endpoint", endpoint)
        found += [refused(example, says, provider=(PROXMOX[0], inputs)) for example in (VM_, ISO)]
        found.append(
            Case(
                f"provider with endpoint {None if endpoint is GONE else endpoint!r}",
                Example("provider", PROXMOX[0], inputs, None),
                says,
            )
        )
    same = (LAB, f"{LAB}/", "HTTPS://PVE.lab.example:8006", f"{LAB}/api2/json", f"{LAB}/api2/json/", f" {LAB} ")
    found += [passes(VM_, provider=provider(endpoint)) for endpoint in same]
    bad: list[tuple[Example, str, str, Any, str]] = [
        *(
            (PROVIDERS[0], "proxmox", name, value, f"inputs that this pack can not judge: {name}")
            for name, value in (
                ("ssh", '{"agent":true}'),
                ("username", "root@pam"),
                ("password", "x"),
                ("authTicket", "x"),
                ("csrfPreventionToken", "x"),
                ("otp", "1"),
                ("randomVmIds", "true"),
                ("tmpDir", "/x"),
                ("pluginDownloadURL", "https://evil.example"),
                ("env", "PROXMOX_VE_INSECURE"),
            )
        ),
        *(
            (PROVIDERS[0], "proxmox", "insecure", value, "does not verify")
            for value in ("true", True, UNKNOWN, 1, "TRUE")
        ),
        *((PROVIDERS[0], "proxmox", "apiToken", value, "has no apiToken") for value in EMPTY_TEXTS),
        *(
            (PROVIDERS[0], "proxmox", "apiToken", value, "is not one of lab-globex@pve. Give it the tenant's own")
            for value in (
                "root@pam!hybrid=uuid",
                "lab-acme@pve!hybrid=uuid",
                "lab-globex@pam!hybrid=uuid",
                "lab-globex-2@pve!hybrid=uuid",
                "lab-globex@pve",
                "x lab-globex@pve!hybrid=uuid",
                ["lab-globex@pve!hybrid=uuid"],
            )
        ),
        *((PROVIDERS[1], "hcloud", "token", value, "has no token") for value in EMPTY_TEXTS),
        *(
            (PROVIDERS[1], "hcloud", name, "https://evil.example", f"inputs that this pack can not judge: {name}")
            for name in ("endpoint", "endpointHetzner", "pluginDownloadURL")
        ),
        *(
            (PROVIDERS[2], "kubernetes", name, value, f"inputs that this pack can not judge: {name}")
            for name, value in (
                ("kubeconfig", "apiVersion: v1"),
                ("kubeconfig", UNKNOWN),
                ("cluster", "other"),
                ("enablePatchForce", "true"),
                ("renderYamlToDirectory", "objects"),
                ("namespace", "tenant-acme"),
                ("deleteUnreachable", "true"),
                ("kubeClientSettings", "{}"),
                ("helmReleaseSettings", "{}"),
                ("upsertExistingObjects", "true"),
            )
        ),
        *(
            (PROVIDERS[2], "kubernetes", "context", value, "Write context: lab-globex.")
            for value in ("cozystack-lab", "lab-acme", GONE, "", ["lab-globex"])
        ),
    ]
    through = {"proxmox": (VM_, ISO), "hcloud": (SERVER_, GROUP, FIREWALL), "kubernetes": (TEMPLATE_1, CAPI, TALOS)}
    for example, package, name, value, says in bad:
        found.append(refused(example, says, (name, value)))
        inputs = put(example.props, name, value)
        found += [refused(other, says, provider=(example.token, inputs)) for other in through[package]]
    found += [passes(PROVIDERS[0], ("insecure", value)) for value in ("false", False, "", None)]
    found += [
        passes(PROVIDERS[0], ("apiToken", UNKNOWN)),
        passes(PROVIDERS[1], ("token", UNKNOWN)),
        passes(SERVER_, provider=(HCLOUD[0], {"token": UNKNOWN})),
        passes(VM_, provider=(PROXMOX[0], {**PROXMOX[1], "apiToken": secret(UNKNOWN)})),
    ]
    for examples, says in (
        ((VM_, ISO), "no explicit Proxmox VE provider"),
        ((SERVER_, GROUP, FIREWALL), "no explicit Hetzner Cloud provider"),
        ((TEMPLATE_1, CAPI, TALOS), "no explicit Kubernetes provider"),
    ):
        for example in examples:
            found.append(Case(f"{example.name} alone", Example("alone", example.token, example.props, None), says))
            other = next(item for item in (PROXMOX, HCLOUD, KUBERNETES) if item != example.provider)
            foreign = (other[0], (example.provider or other)[1])
            found.append(Case(f"{example.name} elsewhere", Example("x", example.token, example.props, foreign), says))
            found += [refused(example, says, named=name) for name in ("default", "default_8_6_0")]
    found += [
        refused(PROVIDERS[0], f"Stack lab-globex may use: {LAB}.", ("endpoint", DC)),
        Case(
            "nobody's",
            Example("x", *PROXMOX, None, "lab-initech"),
            "has no network on any Proxmox VE: ask the platform",
        ),
        Case("vm of none", Example("x", VM, vm(), PROXMOX, "lab-initech"), "has no network on any Proxmox VE"),
        Case("acme's dc", Example("x", *provider(DC, "acme"), None, "lab-acme"), None),
    ]
    return found


def _server_cases() -> list[Case]:
    offer = "Stack lab-globex has subnet 10.101.1.0/24: write subnetId: <network>-10.101.1.0/24."
    subnets = (
        "17-10.100.1.0/24",
        "17",
        "10.101.1.0/24",
        "x-10.101.1.0/24",
        "-10.101.1.0/24",
        17,
        "17-10.101.1.0/23",
        "",
        GONE,
    )
    return [
        *(refused(SERVER_, offer, ("networks.0.subnetId", bad)) for bad in subnets),
        refused(
            SERVER_,
            "networks[0] has fields that this pack can not judge: networkId. Leave them out. " + offer,
            ("networks.0.networkId", 17),
        ),
        refused(
            SERVER_,
            "networks[1].subnetId is 1-10.0.0.0/8.",
            ("networks", [server()["networks"][0], {"subnetId": "1-10.0.0.0/8"}]),
        ),
        refused(SERVER_, "networks[0] is x, not a set of fields", ("networks", ["x"])),
        refused(SERVER_, "not a list", ("networks", {"subnetId": "17-10.101.1.0/24"})),
        passes(SERVER_, ("networks", [])),
        passes(SERVER_, ("networks", GONE)),
        *(refused(SERVER_, "Stack lab-globex may use: fsn1.", ("location", bad)) for bad in ("nbg1", GONE, ["fsn1"])),
        *(refused(SERVER_, f"can not judge: {name}", (name, "x")) for name in ("datacenter", "iso", "network", "vlan")),
        refused(GROUP, "can not judge: network", ("network", "x")),
        refused(FIREWALL, "can not judge: network", ("network", "x")),
        passes(FIREWALL, ("rules", [{"direction": "in"}])),
        *(
            Case(
                f"{item.name} of none",
                Example("x", item.token, item.props, HCLOUD, "lab-initech"),
                "has nothing in Hetzner Cloud",
            )
            for item in (SERVER_, GROUP, FIREWALL)
        ),
        Case("Hetzner provider of none", of(PROVIDERS[1], "lab-initech"), "has nothing in Hetzner Cloud: ask the"),
    ]


def _identity_cases() -> list[Case]:
    found: list[Case] = []
    for example in (TEMPLATE_1, MACHINE_2, CLUSTER_1, CAPI, DEPLOYMENT, HEALTH, TALOS, CONTROL_PLANE):
        own = "write metadata.namespace: tenant-globex."
        found += [
            refused(example, own, ("metadata.namespace", bad)) for bad in ("tenant-acme", GONE, ["tenant-globex"], "")
        ]
        found += [refused(example, "Its kind is", ("kind", bad)) for bad in ("Secret", GONE, "List")]
        found += [refused(example, "Its apiVersion is", ("apiVersion", bad)) for bad in ("v1", GONE)]
        found += [refused(example, "Its metadata.name is", ("metadata.name", bad)) for bad in (GONE, "", ["a"])]
        found += [
            refused(example, f"metadata has fields that this pack can not judge: {name}", (f"metadata.{name}", value))
            for name, value in (
                ("generateName", "a-"),
                ("ownerReferences", [{"kind": "Secret", "name": "pve-lab"}]),
                ("finalizers", ["a/b"]),
                ("managedFields", []),
                ("uid", "x"),
            )
        ]
        found += [
            refused(example, f"It has annotation {key}", ("metadata.annotations", {"a": "b", key: "true"}))
            for key in ("pulumi.com/patchForce", "pulumi.com/skipAwait", "hybrid.cozystack.io/judge")
        ]
        found += [
            refused(example, "metadata.annotations is one that is not known yet", ("metadata.annotations", UNKNOWN)),
            passes(example, ("metadata.annotations", {"kamaji.clastix.io/x": UNKNOWN})),
            passes(example, ("metadata.labels", UNKNOWN)),
            refused(example, "It has fields that this pack can not judge: status", ("status", {"ready": True})),
            refused(example, "It has fields that this pack can not judge: items", ("items", [])),
        ]
        patch = Example(example.name, f"{example.token}Patch", example.props, example.provider)
        found += [passes(patch), refused(patch, own, ("metadata.namespace", "tenant-acme"))]
    found += [
        refused(CAPI, "spec has fields that this pack can not judge: topology", ("spec.topology", {"class": "x"})),
        refused(DEPLOYMENT, "spec has fields that this pack can not judge: x", ("spec.x", 1)),
        refused(
            HEALTH,
            "spec has fields that this pack can not judge: remediationTemplate",
            ("spec.remediationTemplate", {}),
        ),
        refused(TEMPLATE_1, "spec has fields that this pack can not judge: x", ("spec.x", 1)),
        refused(TALOS, "spec has fields that this pack can not judge: x", ("spec.x", 1)),
        passes(TALOS, ("spec.template.spec", {"configPatches": [{"value": {"namespace": "kube-system"}}]})),
        *(
            refused(
                DEPLOYMENT,
                "spec.template.spec.bootstrap.dataSecretName names a Secret",
                ("spec.template.spec.bootstrap.dataSecretName", value),
            )
            for value in ("hybrid-handover", UNKNOWN)
        ),
        refused(CAPI, "spec.infrastructureRef is a HetznerCluster.", ("spec.infrastructureRef.kind", "HetznerCluster")),
        refused(CAPI, "spec.infrastructureRef is a ProxmoxCluster.", ("spec.infrastructureRef.apiGroup", "x")),
        refused(
            CAPI, "spec.controlPlaneRef is a KamajiControlPlane.", ("spec.controlPlaneRef.apiVersion", "x/v1alpha1")
        ),
        refused(CAPI, "spec.controlPlaneRef is a KamajiControlPlane.", ("spec.controlPlaneRef.apiVersion", UNKNOWN)),
        refused(CAPI, "spec.controlPlaneRef is a something", ("spec.controlPlaneRef.kind", ["KamajiControlPlane"])),
        refused(CAPI, "spec.controlPlaneRef is one that is not known yet", ("spec.controlPlaneRef", UNKNOWN)),
        passes(CAPI, ("spec.controlPlaneRef.name", UNKNOWN)),
        passes(CAPI, ("spec.controlPlaneRef.namespace", "tenant-globex")),
        refused(
            CAPI, "spec.controlPlaneRef.namespace is tenant-acme", ("spec.controlPlaneRef.namespace", "tenant-acme")
        ),
        refused(CAPI, "spec.controlPlaneRef.namespace is one that", ("spec.controlPlaneRef.namespace", UNKNOWN)),
        refused(
            DEPLOYMENT,
            "spec.template.spec.bootstrap.configRef.namespace is tenant-acme",
            ("spec.template.spec.bootstrap.configRef.namespace", "tenant-acme"),
        ),
        refused(
            DEPLOYMENT,
            "spec.template.spec.infrastructureRef is a DockerMachineTemplate",
            ("spec.template.spec.infrastructureRef.kind", "DockerMachineTemplate"),
        ),
        refused(DEPLOYMENT, "spec.template.x[0].secretNamespace is a", ("spec.template.x", [{"secretNamespace": "a"}])),
        refused(CAPI, "spec is one that is not known yet", ("spec", UNKNOWN)),
        *(
            refused(CONTROL_PLANE, f"It sets {path} of its spec", (f"spec.{path}", value))
            for path, value in (
                ("deployment", {"extraContainers": []}),
                ("registry", "evil.example"),
                ("network.ingress", {}),
                ("addons.coreDNS", {}),
                ("addons.konnectivity.server.image", "x"),
                ("kubelet.x", 1),
                ("network", UNKNOWN),
                ("addons.konnectivity", [1]),
            )
        ),
        passes(CONTROL_PLANE, ("spec.network.serviceAddress", "203.0.113.21")),
        refused(CONTROL_PLANE, "spec is one that is not known yet", ("spec", UNKNOWN)),
    ]
    return found


def _machine_cases() -> list[Case]:
    offer = (
        "Stack lab-globex may use on bridges of namespace tenant-globex: vmbr1 VLAN 202 (globex-lab), "
        "vmbr2 VLAN 212 (globex-storage), vmbr8 (open, VLAN 100-199, 300-300), vmbr9 (open, VLAN any). "
        "Write bridge: vmbr1 and vlan: 202 or another of these."
    )
    more = {"name": "net1", **default_nic(212.0, "vmbr2", "globex-storage")}
    open_nic = {"bridge": "vmbr9", "vlan": 7}
    good: list[Any] = [
        network_v1(more),
        network_v1(default={**default_nic(), "mtu": UNKNOWN, "dnsServers": UNKNOWN}),
        network_v1({"name": "net1", **open_nic}),
        network_v1(default=open_nic),
        network_v1(default={**open_nic, "bridge": "vmbr8", "vlan": 100}),
        network_v1(default={**open_nic, "bridge": "vmbr8", "vlan": 199}),
        network_v1(default={**open_nic, "bridge": "vmbr8", "vlan": 300}),
        network_v1(default={**open_nic, "ipv4PoolRef": pool_ref("another")}),
        network_v1(default={**default_nic(), "ipv6PoolRef": pool_ref()}),
        network_v1({**more, "name": "net31"}),
        network_v1({**more, "name": "net19"}),
    ]
    bad: list[tuple[Any, str]] = [
        (network_v1(default=default_nic(201)), "NIC 1 (network.default) asks for VLAN 201 on bridge vmbr1. " + offer),
        (network_v1({"name": "net1", **default_nic(201)}), "NIC 2 (network.additionalDevices[0]) asks for VLAN 201"),
        (network_v1(default=default_nic(202, "vmbr2")), "asks for VLAN 202 on bridge vmbr2."),
        (network_v1(default=default_nic(None)), "NIC 1 (network.default) has no VLAN"),
        (network_v1(default={"bridge": "vmbr9"}), "NIC 1 (network.default) has no VLAN"),
        (network_v1(default={**open_nic, "bridge": "vmbr8", "vlan": 99}), "asks for VLAN 99 on bridge vmbr8."),
        (network_v1(default={**open_nic, "bridge": "vmbr8", "vlan": 200}), "asks for VLAN 200 on bridge vmbr8."),
        (network_v1(default={**open_nic, "bridge": "vmbr8", "vlan": 301}), "asks for VLAN 301 on bridge vmbr8."),
        (network_v1(default={**open_nic, "vlan": "7"}), "asks for VLAN 7 on bridge vmbr9 (a VLAN is a whole number)."),
        (network_v1(default={**open_nic, "bridge": "vmbr7"}), "asks for VLAN 7 on bridge vmbr7."),
        (
            network_v1(default={**open_nic, "ipv4PoolRef": {**pool_ref(), "kind": "GlobalInClusterIPPool"}}),
            "must be a InClusterIPPool",
        ),
        ({**network_v1(), "additionalDevices": UNKNOWN}, "additionalDevices is one that is not known yet, not a list"),
        ({**network_v1(), "additionalDevices": {"net1": default_nic(201)}}, "not a list of NICs. " + offer),
        ({**network_v1(), "networkDevices": [default_nic(201)]}, "NIC 2 (network.networkDevices[0]) asks for"),
        ({**network_v1(), "networkDevices": [default_nic()]}, "NIC 2 (network.networkDevices[0]) is a second net0."),
        (network_v1({**more, "name": "net0"}), "NIC 2 (network.additionalDevices[0]) is a second net0."),
        *(
            (network_v1({**more, "name": name}), f"NIC 2 (network.additionalDevices[0]) is called {shown}.")
            for name, shown in (
                ("net32", "net32"),
                ("net01", "net01"),
                ("xnet1", "xnet1"),
                ("net1x", "net1x"),
                (None, "none"),
                (1, "1"),
            )
        ),
        (network_v1("net1"), "NIC 2 (network.additionalDevices[0]) is not a set of fields"),
        ({}, "It has no network.default, so its machines would keep the first NIC of the VM template. " + offer),
        ({"additionalDevices": [more]}, "It has no network.default"),
        ("vmbr1", "network is not a set of fields. " + offer),
        ({**network_v1(), "bonds": []}, "network.bonds is not known to this pack."),
        (network_v1(default=default_nic() | {"trunks": "1-9"}), "fields that this pack can not judge: trunks."),
        (network_v1(default=default_nic() | {"tag": 1}), "fields that this pack can not judge: tag."),
        *(
            (network_v1(default={**default_nic(), "ipv4PoolRef": ref}), says)
            for ref, says in (
                (None, "NIC 1 (network.default) has no ipv4PoolRef. Write the pool of its network: globex-lab."),
                (pool_ref("acme-lab"), "takes addresses from pool acme-lab. Write globex-lab."),
                (pool_ref("globex-storage"), "takes addresses from pool globex-storage."),
                (pool_ref(["globex-lab"]), "takes addresses from pool something that is no plain value."),
                ({**pool_ref(), "kind": "GlobalInClusterIPPool"}, "must be a InClusterIPPool of ipam.cluster.x-k8s.io"),
                ({**pool_ref(), "apiGroup": "example.com"}, "must be a InClusterIPPool of ipam.cluster.x-k8s.io"),
                ({**pool_ref(), "apiGroup": None}, "must be a InClusterIPPool of ipam.cluster.x-k8s.io"),
                ("globex-lab", "must be a InClusterIPPool of ipam.cluster.x-k8s.io"),
            )
        ),
        (network_v1(default={**default_nic(), "ipv6PoolRef": pool_ref("acme-lab")}), "ipv6PoolRef takes addresses"),
        (network_v1(default={**default_nic(), "ipv4PoolRef": None, "ipv6PoolRef": pool_ref()}), "has no ipv4PoolRef"),
    ]
    net0 = {"name": "net0", "bridge": "vmbr1", "vlan": 202}
    net1 = {"name": "net1", "bridge": "vmbr2", "vlan": 212, "ipPoolRef": [pool_ref("globex-storage")]}
    good_2: list[Any] = [
        network_v2(net0, net1),
        network_v2({key: value for key, value in net0.items() if key != "name"}),
        network_v2({**net0, "ipPoolRef": []}),
        network_v2(net1, net0),
        network_v2({**open_nic, "name": "net0"}),
        network_v2({**open_nic, "name": "net0", "ipPoolRef": [pool_ref("x")]}),
    ]
    bad_2: list[tuple[Any, str]] = [
        (network_v2({**net0, "vlan": 201}), "asks for VLAN 201 on bridge vmbr1."),
        (network_v2(net0, {**net1, "vlan": 201}), "NIC 2 (network.networkDevices[1]) asks for VLAN 201"),
        (network_v2({"name": "net0", "vlan": 202}), "asks for VLAN 202 on bridge none."),
        (network_v2(net1), "It has no network.networkDevices with net0"),
        ({"networkDevices": []}, "It has no network.networkDevices with net0"),
        ({**network_v2(), "default": default_nic(201)}, "NIC 1 (network.default) asks for VLAN 201"),
        (network_v2({**net0, "ipPoolRef": [pool_ref()]}), "has a pool of its own, beside its cluster's range."),
        (network_v2(net0, {**net1, "ipPoolRef": []}), "NIC 2 (network.networkDevices[1]) has no ipPoolRef."),
        (network_v2(net0, {**net1, "ipPoolRef": [pool_ref("globex-lab")]}), "takes addresses from pool globex-lab."),
        (network_v2(net0, {**net1, "ipPoolRef": [*net1["ipPoolRef"], pool_ref("acme-lab")]}), "ipPoolRef[1] takes"),  # type: ignore[misc]  # a list
        (network_v2(net0, {**net1, "ipPoolRef": "globex-storage"}), "must be a InClusterIPPool"),
        (network_v2({**net0, "name": "eth0"}), "is called eth0"),
        (network_v2("net0"), "is not a set of fields"),
    ]
    body: list[tuple[str, Any, str]] = [
        *(("pool", value, "pool is") for value in ("lab-acme", GONE, "", "templates", ["lab-globex"])),
        *(("storage", value, "Write ceph-vm.") for value in ("tank", GONE, "iso-globex", ["ceph-vm"])),
        *(
            ("templateSelector", value, "is not cloned from a template of lab.")
            for value in (
                GONE,
                "talos",
                {},
                {"matchTags": []},
                {"matchTags": ["talos"]},
                {"matchTags": ["talos", "v1.13.6", "x"]},
                {"matchTags": ["talos", "v1.14.0"]},
                {"matchTags": ["talos", "talos", "v1.13.6"]},
                {"matchTags": ["talos", "v1.13.6"], "matchPolicy": "bestSubset"},
                {"matchTags": ["talos", 1]},
                {"matchTags": "talos"},
                {"matchTags": ["talos", "v1.13.6", 1]},
            )
        ),
        ("templateSelector", {"matchTags": ["talos", "v1.13.6"], "x": 1}, "templateSelector has fields"),
        *(
            ("vmIDRange", value, "2100 to 2199")
            for value in (
                GONE,
                {},
                {"start": 2000, "end": 2009},
                {"start": 2099, "end": 2109},
                {"start": 2190, "end": 2200},
                {"start": 2120, "end": 2110},
                {"start": "2110", "end": 2119},
                {"start": 2110},
                {"end": 2110},
                "2110-2119",
            )
        ),
        ("snapName", "before", "snapName: it would be cloned from a snapshot"),
        ("virtualMachineID", 2000, "virtualMachineID: capmox sets it"),
        ("providerID", "proxmox://x", "providerID: capmox sets it"),
        ("trunks", "1-9", "fields that this pack can not judge: trunks"),
        ("target", "dc1", "target is no node of lab: pve1, pve2."),
        ("allowedNodes", ["pve1", "dc1"], "allowedNodes is no node of lab"),
        ("allowedNodes", "dc1", "allowedNodes is no node of lab"),
        ("allowedNodes", [["pve1"]], "allowedNodes is no node of lab"),
        ("sourceNode", "pve1", ""),
        ("templateID", 9000, ""),
    ]
    found: list[Case] = []
    for make, at in ((template, "spec.template.spec"), (machine, "spec")):
        for version, goods, bads in (("v1alpha1", good, bad), ("v1alpha2", good_2, bad_2)):
            example = Example(f"{make.__name__} {version}", *make(version=version), KUBERNETES)
            found += [passes(example, (f"{at}.network", network)) for network in goods]
            found += [refused(example, says, (f"{at}.network", network)) for network, says in bads]
            found += [refused(example, says, (f"{at}.{key}", value)) for key, value, says in body if says]
            found += [
                passes(example, (f"{at}.templateSelector.matchTags", ["v1.13.6", "Talos"])),
                passes(example, (f"{at}.templateSelector.matchTags", ["talos", "v1.13.5"])),
                passes(example, (f"{at}.templateSelector.matchPolicy", "exact")),
                passes(example, (f"{at}.vmIDRange", {"start": 2100, "end": 2199})),
                passes(example, (f"{at}.vmIDRange", {"start": 2100, "end": 2100})),
                passes(example, (f"{at}.allowedNodes", ["pve1", "pve2"])),
                passes(example, (f"{at}.allowedNodes", [])),
                passes(example, (f"{at}.target", "pve2")),
                passes(
                    example, (f"{at}.templateSelector", GONE), (f"{at}.templateID", 9000), (f"{at}.sourceNode", "pve1")
                ),
                *(
                    refused(
                        example,
                        "is not cloned from a template of lab.",
                        (f"{at}.templateSelector", GONE),
                        (f"{at}.templateID", number),
                        (f"{at}.sourceNode", node),
                    )
                    for number, node in (
                        (9000, "pve2"),
                        (2000, "pve1"),
                        ("9000", "pve1"),
                        (UNKNOWN, "pve1"),
                        (9000, UNKNOWN),
                    )
                ),
                refused(example, f"It has no {at}.network, so its machines would keep", (f"{at}.network", GONE)),
                refused(example, "is not known", (at, UNKNOWN)),
                refused(example, "so its machines would keep", (at, {})),
                refused(example, f"{at}.network" if at != "spec" else "spec.network is not a set", ("spec", "x")),
                refused(example, "so its machines would keep", ("spec", GONE)),
            ]
            newer = put(example.props, "apiVersion", "infrastructure.cluster.x-k8s.io/v1alpha3")
            token = example.token.replace(version, "v1alpha3")
            found.append(Case(f"{example.name} newer", Example("x", token, newer, KUBERNETES), "Version v1alpha3 of"))
    found += _location_cases()
    return found


def _location_cases() -> list[Case]:
    """Give acme's, who has two locations: everything of a machine is of one of them."""
    in_dc = default_nic(301, "vmbr1", "acme-dc")
    in_lab = default_nic(201, "vmbr1", "acme-lab")
    there = {"pool": "lab-acme", "storage": "tank", "vmIDRange": {"start": 3000, "end": 3009}}
    here = {"pool": "lab-acme", "storage": "ceph-vm", "vmIDRange": {"start": 2000, "end": 2009}}

    def of_acme(network: Any, more: Body) -> Example:
        token, props = template(network, **more)
        return Example(
            "acme", token, put(props, "metadata.namespace", "tenant-acme"), kubernetes("lab-acme"), "lab-acme"
        )

    second = {"name": "net1", **in_lab}
    open_nic = {"bridge": "vmbr9", "vlan": 7}
    return [
        Case("acme in dc", of_acme(network_v1(default=in_dc), there), None),
        Case("acme in lab", of_acme(network_v1(default=in_lab), here), None),
        Case("acme open", of_acme(network_v1(default=open_nic), there), None),
        Case("acme open in lab", of_acme(network_v1(default=open_nic), here), None),
        Case("dc's disk, lab's NIC", of_acme(network_v1(default=in_lab), there), "storage is tank. Write ceph-vm."),
        Case(
            "lab's ids, dc's NIC",
            of_acme(network_v1(default=in_dc), {**there, "vmIDRange": here["vmIDRange"]}),
            "3000 to",
        ),
        Case("two locations", of_acme(network_v1(second, default=in_dc), there), "several locations: dc, lab."),
        Case(
            "nobody's",
            Example("x", *_initech(), kubernetes("lab-initech"), "lab-initech"),
            "has no Proxmox VE location",
        ),
        Case("no network", Example("x", *_initech(), kubernetes("lab-initech"), "lab-initech"), "may use on bridges"),
    ]


def _initech() -> tuple[str, Body]:
    token, props = template()
    return token, put(props, "metadata.namespace", "tenant-initech")


def _cluster_cases() -> list[Case]:
    found: list[Case] = []
    for example in (CLUSTER_1, CLUSTER_2):
        found += [
            refused(example, "spec.cloneSpec can carry NICs", ("spec.cloneSpec", {"machineSpec": {}})),
            refused(example, "spec.cloneSpec can carry NICs", ("spec.cloneSpec", UNKNOWN)),
            refused(example, "spec.zoneConfig can carry NICs", ("spec.zoneConfig", [{"zone": "a"}])),
            passes(example, ("spec.zoneConfig", [])),
            refused(example, "spec has fields that this pack can not judge: x", ("spec.x", 1)),
            *(
                refused(example, "Write one of the tenant's: pve-lab.", ("spec.credentialsRef.name", bad))
                for bad in ("pve-dc", "hybrid-handover", GONE, "", ["pve-lab"])
            ),
            refused(example, "Write one of the tenant's: pve-lab.", ("spec.credentialsRef", GONE)),
            refused(example, "Write one of the tenant's: pve-lab.", ("spec.credentialsRef", "pve-lab")),
            passes(example, ("spec.credentialsRef.namespace", GONE)),
            refused(
                example, "credentialsRef.namespace is tenant-acme", ("spec.credentialsRef.namespace", "tenant-acme")
            ),
            *(
                refused(example, "must be nodes of lab: pve1, pve2.", ("spec.allowedNodes", bad))
                for bad in (GONE, [], ["dc1"], ["pve1", "dc1"], "pve1", ["pve1", UNKNOWN], [["pve1"]])
            ),
            passes(example, ("spec.allowedNodes", ["pve1", "pve2"])),
            refused(example, "no spec.ipv4Config", ("spec.ipv4Config", GONE)),
            refused(example, "not a set of fields", ("spec.ipv4Config", "x")),
            refused(example, "ipv4Config has fields that this pack can not judge: x", ("spec.ipv4Config.x", 1)),
            refused(example, "is not known", ("spec", UNKNOWN)),
            refused(example, "It has no spec.", ("spec", GONE)),
        ]
        newer = put(example.props, "apiVersion", "infrastructure.cluster.x-k8s.io/v1alpha3")
        token = example.token.rpartition("/")[0] + "/v1alpha3:ProxmoxCluster"
        found.append(Case(f"{example.name} newer", Example("x", token, newer, KUBERNETES), "Version v1alpha3 of"))
    sentinel = "addresses must be its gateway alone"
    six = {"addresses": ["fd00::1"], "gateway": "fd00::1", "prefix": 64, "metric": 100}
    found += [
        *(
            refused(CLUSTER_1, sentinel, ("spec.ipv4Config.addresses", bad))
            for bad in (["10.202.0.20-10.202.0.99"], [], GONE, "10.202.0.1", ["10.202.0.1", "10.202.0.2"])
        ),
        *(refused(CLUSTER_1, sentinel, ("spec.ipv4Config.gateway", bad)) for bad in (GONE, "", "10.0.0.1")),
        refused(CLUSTER_1, sentinel, ("spec.ipv4Config", {"addresses": [""], "gateway": ""})),
        refused(CLUSTER_1, sentinel, ("spec.ipv4Config", {"addresses": [5], "gateway": 5})),
        passes(CLUSTER_1, ("spec.ipv6Config", six)),
        passes(CLUSTER_1, ("spec.ipv6Config", six), ("spec.ipv4Config", GONE)),
        refused(
            CLUSTER_1, "spec.ipv6Config.addresses must be", ("spec.ipv6Config", {**six, "addresses": ["fd00::/64"]})
        ),
        refused(CLUSTER_2, "spec.ipv6Config is no range", ("spec.ipv6Config", six)),
        refused(
            CLUSTER_2, "spec.ipv6Config is no range", ("spec.ipv6Config", cluster("v1alpha2")[1]["spec"]["ipv4Config"])
        ),
        *(
            refused(
                CLUSTER_2,
                "[10.202.0.20-10.202.0.99] with gateway 10.202.0.1 and prefix 24",
                (f"spec.ipv4Config.{key}", bad),
            )
            for key, bad in (
                ("addresses", ["10.202.0.1"]),
                ("addresses", ["10.201.0.20-10.201.0.99"]),
                ("addresses", ["10.202.0.20-10.202.0.99", "10.9.9.9"]),
                ("addresses", "10.202.0.20-10.202.0.99"),
                ("addresses", GONE),
                ("gateway", "10.201.0.1"),
                ("gateway", GONE),
                ("prefix", 16),
                ("prefix", "24"),
                ("prefix", GONE),
            )
        ),
    ]
    return found


KINDS_REFUSED = (
    "core/v1:Secret",
    "core/v1:SecretPatch",
    "core/v1:ConfigMap",
    "core/v1:Namespace",
    "core/v1:Pod",
    "core/v1:List",
    "apps/v1:DaemonSet",
    "rbac.authorization.k8s.io/v1:RoleBinding",
    "apiextensions.k8s.io/v1:CustomResourceDefinition",
    "admissionregistration.k8s.io/v1:ValidatingAdmissionPolicyBinding",
    "proxmox.cozystack.io/v1alpha1:ProxmoxNetworkZone",
    "ipam.cluster.x-k8s.io/v1alpha2:InClusterIPPool",
    "infrastructure.cluster.x-k8s.io/v1alpha1:ProxmoxClusterTemplate",
    "infrastructure.cluster.x-k8s.io/v1alpha1:ProxmoxMachineTemplateList",
    "infrastructure.example.com/v1alpha1:ProxmoxMachineTemplate",
    "cluster.x-k8s.io/v1beta1:ClusterClass",
    "cluster.x-k8s.io/v1beta1:MachineSet",
    "addons.cluster.x-k8s.io/v1beta1:ClusterResourceSet",
    "addons.cluster.x-k8s.io/v1alpha1:HelmChartProxy",
    "helm.sh/v3:Release",
    "helm.sh/v3:Chart",
    "helm.sh/v4:Chart",
    "yaml:ConfigFile",
    "yaml:ConfigGroup",
    "yaml/v2:ConfigFile",
    "yaml/v2:ConfigGroup",
    "kustomize:Directory",
    "kustomize/v2:Directory",
    "cluster.x-k8s.io/v1beta1:Cluster:x",
    "helm.toolkit.fluxcd.io/v2:HelmRelease",
)


def _kind_cases() -> list[Case]:
    metadata = {"name": "x", "namespace": "tenant-globex"}
    found = []
    for kind in KINDS_REFUSED:
        body = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata}
        example = Example(kind, f"kubernetes:{kind}", body, KUBERNETES)
        found += [
            refused(example, "A tenant's stack makes no "),
            refused(of(example, "lab-acme"), "A tenant's stack makes no "),
        ]
    return found


def _stack_cases() -> list[Case]:
    reference = STACKS[3]
    return [
        *(
            refused(reference, "reads its own outputs alone", ("name", name))
            for name in (
                "organization/hybrid/lab",
                "organization/hybrid/lab-acme",
                "organization/hybrid/lab-globex/x",
                "lab-globex-2",
                UNKNOWN,
                GONE,
                ["lab-globex"],
            )
        ),
        passes(reference, ("name", "lab-globex")),
        refused(of(reference, "lab"), "lab reads its own outputs alone"),
        passes(of(reference, "lab"), ("name", "organization/hybrid/lab")),
        refused(STACKS[1], "comes from a provider", provider=("pulumi:providers:hybrid", {})),
        refused(of(STACKS[1], "lab"), "comes from a provider", provider=("pulumi:providers:hybrid", {})),
        *(
            Case(f"{item.name} elsewhere", of(item, stack), "is not in the pack's config")
            for item in TENANT
            for stack in ("lab-unheard", "LAB-globex", "lab-globex-2")
        ),
    ]


def anything(example: Example, at: str, fields: Iterable[str]) -> list[Case]:
    """Each field that says nothing about networks may be anything; `test_sdks` compares the fields with the SDK's."""
    return [
        passes(example, (f"{at}.{name}" if at else name, UNKNOWN))
        for name in sorted(fields)
        if not _has(example.props, at, name)
    ]


def _has(props: Any, at: str, name: str) -> bool:
    for key in at.split(".") if at else ():
        props = props[int(key)] if key.isdigit() else props[key]
    return name in props


def _free_cases() -> list[Case]:
    judged = {"bridge", "vlanId", "trunks", "vlan", "ipv4PoolRef", "ipv6PoolRef", "ipPoolRef", "name"}
    return [
        *anything(VM_, "", guests.OTHER_FIELDS),
        *anything(VM_, "networkDevices.0", guests.NIC_FIELDS - judged),
        *anything(VM_, "clone", guests.CLONE_FIELDS - {"vmId", "datastoreId", "retries"}),
        *anything(VM_, "disks.0", guests.DISK_FIELDS - {"datastoreId", *guests.FOREIGN_DISK_FIELDS}),
        *anything(VM_, "cdrom", {"enabled", "interface"}),
        *(
            passes(
                VM_,
                (name, {"datastoreId": "ceph-vm", **dict.fromkeys(sorted(guests.STORED_FIELDS - {"datastoreId"}), 1)}),
            )
            for name in ("efiDisk", "tpmState")
        ),
        *anything(ISO, "", {"overwrite", "timeoutUpload"}),
        *anything(SERVER_, "", servers.FIELDS[SERVER] - {"location", "networks"}),
        *anything(SERVER_, "networks.0", servers.NETWORK_FIELDS - {"subnetId"}),
        *(case for example in (GROUP, FIREWALL) for case in anything(example, "", servers.FIELDS[example.token])),
        *(
            case
            for example, at in (
                (TEMPLATE_1, "spec.template.spec"),
                (TEMPLATE_2, "spec.template.spec"),
                (MACHINE_1, "spec"),
                (MACHINE_2, "spec"),
            )
            for case in (
                *anything(example, at, machines.OTHER_FIELDS),
                *anything(
                    example,
                    f"{at}.network.{'default' if example in (TEMPLATE_1, MACHINE_1) else 'networkDevices.0'}",
                    machines.NIC_FIELDS - judged,
                ),
                passes(example, (f"{at}.network.vrfs", UNKNOWN)),
                passes(example, (f"{at}.network.zone", UNKNOWN)),
            )
        ),
        *(
            case
            for example in (CAPI, DEPLOYMENT, HEALTH)
            for case in anything(example, "spec", (objects.RENDERED[CORE, example.name] or frozenset()) - {"template"})
            if not case.name.split(".")[1].split("=")[0].endswith("Ref")
        ),
        *(
            case
            for example in (CLUSTER_1, CLUSTER_2)
            for case in anything(example, "spec", ("controlPlaneEndpoint", "schedulerHints"))
        ),
        *anything(PROVIDERS[0], "", ("minTls", "version")),
        *anything(PROVIDERS[1], "", ("version",)),
        *anything(PROVIDERS[2], "", ("enableConfigMapMutable", "suppressDeprecationWarnings")),
        *(passes(CONTROL_PLANE, ("spec", _nested(path, UNKNOWN))) for path in sorted(control_planes.FIELDS)),
    ]


def _nested(path: str, value: Any) -> Any:
    for key in reversed(path.split(".")):
        value = {key: value}
    return value


def tenant_cases() -> list[Case]:
    """Give all cases of tenants' stacks."""
    return [
        *(Case(f"{example.name} passes", example, None) for example in TENANT),
        *_vm_cases(),
        *_other_location_cases(),
        *_provider_cases(),
        *_server_cases(),
        *_identity_cases(),
        *_machine_cases(),
        *_cluster_cases(),
        *_kind_cases(),
        *_stack_cases(),
        *_free_cases(),
    ]
