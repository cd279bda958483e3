"""The policy pack in the real engine: whatever registers a resource, the pack judges it before it is made."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.engine.harness import Done, EngineLab

pytestmark = pytest.mark.lab

STACK = "lab-globex"
INTRUDERS = """
import json

import pulumi
import pulumi_hcloud as hcloud
import pulumi_kubernetes as kubernetes
import pulumi_proxmoxve as proxmox


def vm(name, provider, **more):
    nic = proxmox.VmLegacyNetworkDeviceArgs(bridge="vmbr1", vlan_id=202)
    inputs = {
        "name": name,
        "node_name": "pve1",
        "vm_id": 2190,
        "pool_id": "lab-globex",
        "clone": proxmox.VmLegacyCloneArgs(vm_id=9000, node_name="pve1", full=True, retries=1),
        "disks": [proxmox.VmLegacyDiskArgs(interface="scsi0", datastore_id="ceph-vm", size=20)],
        "network_devices": [nic],
        **more,
    }
    return proxmox.VmLegacy(name, **inputs, opts=pulumi.ResourceOptions(provider=provider))


def nic(**more):
    return [proxmox.VmLegacyNetworkDeviceArgs(**{"bridge": "vmbr1", "vlan_id": 202, **more})]


def template(vlan, **more):
    pool = {"apiGroup": "ipam.cluster.x-k8s.io", "kind": "InClusterIPPool", "name": "globex-lab"}
    return {
        "pool": "lab-globex",
        "storage": "ceph-vm",
        "templateSelector": {"matchTags": ["talos", "v1.13.6"]},
        "vmIDRange": {"start": 2190, "end": 2191},
        "network": {"default": {"bridge": "vmbr1", "vlan": vlan, "ipv4PoolRef": pool}},
        **more,
    }


def slip_in(run):
    lab = run.providers.proxmox["lab"]
    through = pulumi.ResourceOptions(provider=lab)
    vm("foreign-vlan", lab, network_devices=nic(vlan_id=201))
    vm("trunks", lab, network_devices=nic(trunks="201;203"))
    vm("no-vlan", lab, network_devices=[proxmox.VmLegacyNetworkDeviceArgs(bridge="vmbr1")])
    vm("adopting", lab, clone=None)
    vm("foreign-id", lab, vm_id=2001)
    vm("foreign-iso", lab, cdrom=proxmox.VmLegacyCdromArgs(file_id="iso-acme:iso/x.iso"))
    file = proxmox.FileLegacy(
        "to-acme",
        content_type="iso",
        datastore_id="iso-acme",
        node_name="pve1",
        source_file=proxmox.FileLegacySourceFileArgs(path="Pulumi.yaml", file_name="x.iso"),
        opts=through,
    )
    vm("unknown-vlan", lab, network_devices=nic(vlan_id=file.id.apply(lambda _: 202)))
    token = "a@pve!b=00000000-0000-4000-8000-000000000000"
    proxmox.Provider("elsewhere", endpoint="https://pve.dc.example:8006", api_token=token)
    proxmox.Provider("borrowed", endpoint=lab.endpoint, api_token=token.replace("a@pve", "root@pam"))
    proxmox.Acl("acl", path="/", role_id="Administrator", user_id="lab-globex@pve", opts=through)
    hcloud_provider = hcloud.Provider("hcloud", token="x" * 64)
    hcloud.Network("network", ip_range="10.0.0.0/8", opts=pulumi.ResourceOptions(provider=hcloud_provider))
"""
OBJECTS = {
    "raw": """    kubernetes.apiextensions.CustomResource(
        "raw", api_version=kind[0], kind=kind[1], metadata={**meta, "name": "raw"},
        spec={"template": {"spec": template(201)}}, opts=inside,
    )
""",
    "rawer": """    pulumi.CustomResource(
        f"kubernetes:{kind[0]}:{kind[1]}", "rawer",
        {"apiVersion": kind[0], "kind": kind[1], "metadata": {**meta, "name": "rawer"},
         "spec": {"template": {"spec": template(202, snapName="before")}}}, inside,
    )
""",
    "patch": """    kubernetes.core.v1.SecretPatch(
        "patch", metadata={**meta, "name": "hybrid-handover"}, string_data={"a": "s3cr3t-x"}, opts=inside
    )
""",
    "group": """    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {**meta, "name": "listed"}}
    kubernetes.yaml.ConfigGroup("group", yaml=[json.dumps(body)], opts=pulumi.ResourceOptions(providers=[management]))
""",
}
META = """

def slip_object(management):
    inside = pulumi.ResourceOptions(provider=management)
    meta = {"namespace": "tenant-globex"}
    kind = "infrastructure.cluster.x-k8s.io/v1alpha1", "ProxmoxMachineTemplate"
"""
OVERRIDE = """

def moved(args):
    if args.name == "prod-small-1":
        nic = proxmox.VmLegacyNetworkDeviceArgs(bridge="vmbr1", vlan_id=201)
        return pulumi.ResourceTransformationResult({**args.props, "network_devices": [nic]}, args.opts)
    return None


pulumi.runtime.register_stack_transformation(moved)
"""
EXPECTED = (
    "foreign-vlan: NIC 1 (networkDevices[0]) asks for VLAN 201 on bridge vmbr1.",
    "trunks: NIC 1 (networkDevices[0]) has trunks",
    "no-vlan: NIC 1 (networkDevices[0]) has no VLAN",
    "adopting: It is not a clone.",
    "foreign-id: Its vmId is 2001. The tenant has 2100 to 2199 there.",
    "foreign-iso: Its cdrom.fileId is iso-acme:iso/x.iso.",
    "to-acme: Its datastoreId is iso-acme.",
    "unknown-vlan: NIC 1 (networkDevices[0]): the VLAN is not known yet.",
    "elsewhere: Its Proxmox VE provider talks to https://pve.dc.example:8006.",
    "borrowed: The apiToken of its Proxmox VE provider is not one of lab-globex@pve.",
    "acl: A tenant's stack makes no proxmoxve:index/acl:Acl.",
    "network: A tenant's stack makes no hcloud:index/network:Network.",
    "prod-small-1: NIC 1 (networkDevices[0]) asks for VLAN 201 on bridge vmbr1.",
)


EXPECTED_OF_OBJECTS = {
    "raw": "raw: NIC 1 (network.default) asks for VLAN 201 on bridge vmbr1.",
    "rawer": "rawer: It sets spec.template.spec.snapName",
    "patch": "patch: A tenant's stack makes no Secrets",
    "group": "group: A tenant's stack makes no kubernetes:yaml:ConfigGroup.",
}
"""Each in a run of its own: the API server refuses them at preview too, and that ends the run."""


def _project(lab: EngineLab, folder: Path, intruders: str, call: str) -> Path:
    """Copy the lab's project and let its program register what the pack must refuse."""
    shutil.copytree(lab.layout.project, folder, symlinks=True, ignore=shutil.ignore_patterns(".build", "__pycache__"))
    (folder / "components" / "intruders.py").write_text(intruders)
    program = folder / "components" / "tenant.py"
    text = program.read_text()
    name = call.partition("(")[0]
    for old, new in (
        ("import pulumi\n", f"import pulumi\nfrom components.intruders import {name}\n"),
        ("    run.objects.close()\n", f"    run.objects.close()\n    {call}\n"),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    program.write_text(text)
    return folder


def _refused(done: Done) -> None:
    assert done.code != 0
    assert "tenant-isolation" in done.output
    assert "s3cr3t" not in done.output
    assert "Traceback" not in done.output


def test_a_preview_shows_every_refusal_of_raw_and_overridden_resources(lab: EngineLab, tmp_path: Path) -> None:
    done = lab.pulumi(STACK, "preview", folder=_project(lab, tmp_path / "a", INTRUDERS + OVERRIDE, "slip_in(run)"))
    _refused(done)
    text = " ".join(done.output.split())
    assert [words for words in EXPECTED if words not in text] == [], done.output[-4000:]


@pytest.mark.parametrize("name", sorted(OBJECTS))
def test_a_kubernetes_object_is_judged_whatever_registers_it(lab: EngineLab, tmp_path: Path, name: str) -> None:
    intruders = INTRUDERS + META + OBJECTS[name]
    done = lab.pulumi(STACK, "preview", folder=_project(lab, tmp_path / "a", intruders, "slip_object(management)"))
    _refused(done)
    assert EXPECTED_OF_OBJECTS[name] in " ".join(done.output.split())


def test_an_up_without_preview_makes_none_of_it(lab: EngineLab, tmp_path: Path) -> None:
    intruded = _project(lab, tmp_path / "a", INTRUDERS + OVERRIDE, "slip_in(run)")
    machines, objects = lab.machines("pve.lab"), lab.cloud("hcloud")
    _refused(lab.pulumi(STACK, "up", "--yes", "--skip-preview", folder=intruded))
    assert lab.machines("pve.lab") == machines
    assert lab.cloud("hcloud") == objects
    status, found = lab.get(
        "/apis/infrastructure.cluster.x-k8s.io/v1alpha1/namespaces/tenant-globex/proxmoxmachinetemplates"
    )
    assert status == 200
    assert found["items"] == []
    lab.unchanged(STACK)


def test_a_run_whose_pack_has_no_config_makes_nothing(lab: EngineLab, tmp_path: Path) -> None:
    empty = tmp_path / "empty.json"
    empty.write_text('{"all": "mandatory"}')
    done = lab.pulumi(STACK, "preview", environment={"PULUMI_OPTION_POLICY_PACK_CONFIG": str(empty)})
    assert done.code != 0
    assert "tenant-isolation" in done.output
