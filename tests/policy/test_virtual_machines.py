"""A tenant's VMs on Proxmox VE, judged by the real analyzer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.policy.analyzer import UNKNOWN, secret
from tests.policy.examples import CONFIG, DC, FILE, LAB, PROXMOX, VM, nic, provider, row, vm

if TYPE_CHECKING:
    from tests.policy.analyzer import Analyzer

OFFER = "may use on https://pve.lab.example:8006: vmbr1 VLAN 202 (globex-lab), vmbr2 VLAN 212 (globex-storage)."


def without(props: dict[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in props.items() if key not in names}


@pytest.mark.parametrize(
    "props",
    [
        vm(),
        vm(nic(), nic(212, "vmbr2")),
        vm(nic(202.0)),
        vm(nic(secret(202), secret("vmbr1"))),
        vm(nic(mtu=UNKNOWN)),
        vm(nic(trunks="")),
        vm(nic(trunks=None)),
        vm(kvmArguments=""),
        vm(cdrom={"fileId": UNKNOWN}),
        vm(vmId=UNKNOWN, description=UNKNOWN, poolId="hybrid-lab-globex"),
        vm(clone={"vmId": UNKNOWN, "nodeName": "pve1", "full": True}),
    ],
)
def test_a_clone_on_the_tenants_own_networks_passes(analyzer: Analyzer, props: dict[str, Any]) -> None:
    assert analyzer.analyze(VM, props, PROXMOX) == []


@pytest.mark.parametrize(
    ("props", "says"),
    [
        (vm(nic(201)), "NIC 1 (networkDevices[0]) asks for VLAN 201 on bridge vmbr1."),
        (vm(nic(), nic(201)), "NIC 2 (networkDevices[1]) asks for VLAN 201 on bridge vmbr1."),
        (vm(nic(202, "vmbr1,tag=205")), "asks for VLAN 202 on bridge vmbr1,tag=205."),
        (vm(nic(202, "vmbr2")), "asks for VLAN 202 on bridge vmbr2."),
        (vm(nic(202, "VMBR1")), "asks for VLAN 202 on bridge VMBR1."),
        (vm(nic(202, None)), "asks for VLAN 202 on bridge none."),
        (vm(nic(202, {"name": "vmbr1"})), "asks for VLAN 202 on bridge something that is no plain value."),
        (vm(nic(202, 1)), "asks for VLAN 202 on bridge 1."),
        (vm(nic("202")), "(a VLAN is a whole number)"),
        (vm(nic(202.5)), "asks for VLAN 202.5 on bridge vmbr1 (a VLAN is a whole number)"),
        (vm(nic(True)), "(a VLAN is a whole number)"),  # noqa: FBT003 - a VLAN that is no number
        (vm(nic([202])), "(a VLAN is a whole number)"),
        (vm(nic(None)), "has no VLAN"),
        (vm(nic(0)), "has no VLAN"),
        (vm(nic(UNKNOWN)), "the VLAN is not known yet"),
        (vm(nic(202, UNKNOWN)), "the bridge is not known yet"),
        (vm(nic(secret(UNKNOWN))), "the VLAN is not known yet"),
        (vm(nic(), UNKNOWN), "NIC 2 (networkDevices[1]) is not known yet"),
        (vm(networkDevices=UNKNOWN), "Its NICs are not known yet"),
        (vm(networkDevices=[]), "would keep the template's"),
        (without(vm(), "networkDevices"), "would keep the template's"),
        (vm(networkDevices=nic()), "not a list"),
        (vm("net0"), "is not a set of fields"),
        (vm(nic(), None), "NIC 2 (networkDevices[1]) is not a set of fields"),
    ],
)
def test_a_nic_that_is_not_one_of_the_tenants_networks_is_refused(
    analyzer: Analyzer, props: dict[str, Any], says: str
) -> None:
    (message,) = analyzer.analyze(VM, props, PROXMOX, name="prod-small-0")
    assert "\nprod-small-0: " in message
    assert says in message
    assert f"Stack lab-globex {OFFER} Write bridge: vmbr1 and vlanId: 202 or another of these." in message


def test_a_message_names_no_other_tenant(analyzer: Analyzer) -> None:
    (message,) = analyzer.analyze(VM, vm(nic(201)), PROXMOX)
    assert "acme" not in message


def test_a_tenant_without_networks_is_sent_to_the_platform(analyzer: Analyzer) -> None:
    (message,) = analyzer.analyze(VM, vm(), PROXMOX, stack="lab-initech")
    assert "Stack lab-initech has no network on any Proxmox VE: ask the platform for one." in message


@pytest.mark.parametrize("trunks", ["10;20", "10-20", [10, 20], UNKNOWN])
def test_trunks_are_refused(analyzer: Analyzer, trunks: Any) -> None:
    (message,) = analyzer.analyze(VM, vm(nic(trunks=trunks)), PROXMOX)
    assert "NIC 1 (networkDevices[0]) has trunks" in message


@pytest.mark.parametrize(
    ("props", "says"),
    [
        (vm(nic(vlan_id=201)), "fields that this pack can not judge: vlan_id"),
        (vm(networkDevice=[nic(201)]), "inputs that this pack can not judge: networkDevice."),
        (vm(network_devices=[nic(201)]), "inputs that this pack can not judge: network_devices."),
        (vm(kvmArguments="-netdev bridge,br=vmbr1,id=x"), "sets kvmArguments"),
        (vm(kvmArguments=UNKNOWN), "sets kvmArguments"),
        (vm(hostpcis=[{"device": "hostpci0", "mapping": "nic"}]), "sets hostpcis"),
        (vm(usbs=[{"host": "0bda:8153"}]), "sets usbs"),
        (vm(virtiofs=[{"mapping": "x"}]), "sets virtiofs"),
        (vm(hookScriptFileId="local:snippets/x.sh"), "sets hookScriptFileId"),
    ],
)
def test_inputs_that_reach_around_the_nics_are_refused(analyzer: Analyzer, props: dict[str, Any], says: str) -> None:
    (message,) = analyzer.analyze(VM, props, PROXMOX)
    assert says in message


@pytest.mark.parametrize(
    ("props", "says"),
    [
        (without(vm(), "clone"), "It is not a clone."),
        (vm(clone=None), "It is not a clone."),
        (vm(clone={}), "It is not a clone."),
        (vm(clone=UNKNOWN), "Whether it is a clone is not known yet."),
        (vm(clone={"nodeName": "pve1"}), "names no vmId"),
        (vm(clone={"vmId": 9000, "retries": 2}), "Write clone.retries: 1."),
        (vm(clone={"vmId": 9000, "retries": UNKNOWN}), "Write clone.retries: 1."),
        (vm(clone={"vmId": 9000, "vm_id": 1}), "fields that this pack can not judge: vm_id"),
    ],
)
def test_a_vm_that_could_take_over_another_is_refused(analyzer: Analyzer, props: dict[str, Any], says: str) -> None:
    (message,) = analyzer.analyze(VM, props, PROXMOX)
    assert says in message


@pytest.mark.parametrize(
    "endpoint", [LAB, f"{LAB}/", "HTTPS://PVE.lab.example:8006", f"{LAB}/api2/json", f"{LAB}/api2/json/", secret(LAB)]
)
def test_an_endpoint_is_the_same_however_it_is_written(analyzer: Analyzer, endpoint: Any) -> None:
    assert analyzer.analyze(VM, vm(), provider(endpoint)) == []
    assert analyzer.analyze(*provider(endpoint)) == []


@pytest.mark.parametrize(
    ("endpoint", "says"),
    [
        (DC, f"talks to {DC}."),
        ("https://pve.lab.example", "talks to https://pve.lab.example:443."),
        ("http://pve.lab.example:8006", "talks to http://pve.lab.example:8006."),
        ("https://pve.lab.example:8006@evil.example", "is not of the form https://host:port."),
        ("https://pve.lab.example:8006/x", "is not of the form https://host:port."),
        (8006, "is not of the form https://host:port."),
        ("", "is not of the form https://host:port."),
        (None, "has no endpoint."),
        (UNKNOWN, "is not known yet, but it decides where this is made."),
        (secret(UNKNOWN), "is not known yet, but it decides where this is made."),
    ],
)
@pytest.mark.parametrize("subject", ["vm", "file", "provider"])
def test_a_provider_of_no_location_of_the_tenant_is_refused(
    analyzer: Analyzer, endpoint: Any, says: str, subject: str
) -> None:
    given = provider(endpoint)
    asked: dict[str, tuple[Any, ...]] = {
        "vm": (VM, vm(), given),
        "file": (FILE, {"contentType": "iso"}, given),
        "provider": given,
    }
    (message,) = analyzer.analyze(*asked[subject])
    assert says in message
    assert f"Stack lab-globex may use: {LAB}." in message


def test_the_same_vlan_in_another_location_is_not_the_tenants(analyzer: Analyzer) -> None:
    assert analyzer.analyze(VM, vm(nic(201)), PROXMOX, stack="lab-acme") == []
    (message,) = analyzer.analyze(VM, vm(nic(201)), provider(DC), stack="lab-acme")
    assert f"Stack lab-acme may use on {DC}: vmbr1 VLAN 301 (acme-dc). Write bridge: vmbr1 and vlanId: 301." in message
    assert analyzer.analyze(VM, vm(nic(301)), provider(DC), stack="lab-acme") == []


def test_a_vm_without_an_explicit_provider_is_refused(analyzer: Analyzer) -> None:
    for given, name in [(None, "x"), (PROXMOX, "default_8_6_0"), (("pulumi:providers:hcloud", PROXMOX[1]), "x")]:
        (message,) = analyzer.analyze(VM, vm(), given, provider_name=name)
        assert "no explicit Proxmox VE provider" in message


def test_a_provider_that_borrows_its_token_is_refused(analyzer: Analyzer) -> None:
    (message,) = analyzer.analyze(VM, vm(), (PROXMOX[0], {"endpoint": LAB}))
    assert "has no apiToken" in message
    assert analyzer.analyze(PROXMOX[0], {"endpoint": LAB, "apiToken": secret(UNKNOWN)}) == []


def test_a_tenant_uploads_iso_images_alone(analyzer: Analyzer) -> None:
    assert analyzer.analyze(FILE, {"contentType": "iso", "sourceFile": {"path": UNKNOWN}}, PROXMOX) == []
    assert analyzer.analyze(FILE, {"sourceFile": {"path": "x.iso"}}, PROXMOX) == []
    for content in ("snippets", "import", UNKNOWN):
        (message,) = analyzer.analyze(FILE, {"contentType": content}, PROXMOX)
        assert "Write contentType: iso." in message


def test_everything_wrong_with_a_vm_comes_in_one_run(analyzer: Analyzer) -> None:
    props = vm(nic(201), nic(None), clone=None, hostpcis=[{}], bogus=1)
    assert len(analyzer.analyze(VM, props, PROXMOX)) == 5


def test_a_message_lists_only_so_many_networks(running: Analyzer) -> None:
    rows = [row(f"n{vlan}", "globex", "lab", vlan) for vlan in range(100, 200)]
    running.configure({**CONFIG, "networks": rows})
    (message,) = running.analyze(VM, vm(nic(201)), PROXMOX)
    assert "vmbr1 VLAN 107 (n107) and 92 more." in message
    assert running.analyze(VM, vm(nic(199)), PROXMOX) == []
