"""The demo's steps: what they made, and who refused the intruder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lab.demo.intruder import machine_template

if TYPE_CHECKING:
    from tests.engine.harness import EngineLab

pytestmark = pytest.mark.lab

TEMPLATES = "/apis/infrastructure.cluster.x-k8s.io/v1alpha1/namespaces/tenant-globex/proxmoxmachinetemplates"


def test_each_direct_vm_stands_on_its_tenants_vlan_and_no_other(lab: EngineLab) -> None:
    nics = {
        vm["name"]: [(nic["bridge"], nic["vlanId"], nic["mtu"]) for nic in vm["config"]["networkDevices"]]
        for place in ("pve.lab", "pve.dc")
        for vm in lab.machines(place).values()
    }
    assert nics == {
        "prod-dc-0": [("vmbr1", 301, 1396)],
        "prod-dc-1": [("vmbr1", 301, 1396)],
        "prod-dc-2": [("vmbr1", 301, 1396)],
        "prod-small-0": [("vmbr1", 202, 0)],
        "prod-small-1": [("vmbr1", 202, 0)],
    }


def test_direct_vms_have_the_first_ids_of_their_pool_and_run_where_their_pool_says(lab: EngineLab) -> None:
    assert {key: vm["node"] for key, vm in lab.machines("pve.dc").items()} == dict.fromkeys(
        ("3000", "3001", "3002"), "dc1"
    )
    assert {key: vm["node"] for key, vm in lab.machines("pve.lab").items()} == {"2100": "pve1", "2101": "pve2"}
    assert all(vm["status"] == "running" for vm in lab.machines("pve.dc").values())


def test_hetzner_servers_stand_in_the_tenants_own_subnet_and_project(lab: EngineLab) -> None:
    projects = lab.cloud("hcloud")["projects"]
    assert set(projects) == {"fsn1-acme"}
    servers = projects["fsn1-acme"]["servers"].values()
    assert sorted(server["name"] for server in servers) == ["prod-cloud-0", "prod-cloud-1"]
    outputs = lab.must("lab-acme", "stack", "output", "machines", "--json")
    assert outputs.count('"address":"10.100.1.') + outputs.count('"address": "10.100.1.') == 2


def test_the_capi_pool_is_a_machine_deployment_on_acmes_network(lab: EngineLab) -> None:
    status, found = lab.get("/apis/cluster.x-k8s.io/v1beta1/namespaces/tenant-acme/machinedeployments/prod-lab")
    assert status == 200
    ours = [entry for entry in found["metadata"]["managedFields"] if entry["manager"].startswith("pulumi")]
    assert ours
    assert not [entry for entry in ours if "f:replicas" in entry["fieldsV1"]["f:spec"]]  # the autoscaler owns it
    name = found["spec"]["template"]["spec"]["infrastructureRef"]["name"]
    status, template = lab.get(TEMPLATES.replace("tenant-globex", "tenant-acme") + f"/{name}")
    assert status == 200
    nic = template["spec"]["template"]["spec"]["network"]["default"]
    assert (nic["bridge"], nic["vlan"], nic["ipv4PoolRef"]["name"]) == ("vmbr1", 201, "acme-lab")


def test_the_demo_prints_its_commands_and_a_table_of_machines(demo_output: str) -> None:
    for command in (
        "up --yes --suppress-outputs -s lab",
        "up --yes --suppress-outputs -s lab-acme",
        "--expect-no-changes",
        "kubectl",
    ):
        assert command in demo_output
    for cell in ("prod-dc-2", "prod-cloud-1", "MachineDeployment 1-5", "10.231.0.22", "own network"):
        assert cell in demo_output
    assert "stand-in" in demo_output


def test_each_intruder_was_refused_by_its_own_gate_in_words(demo_output: str) -> None:
    _, first = demo_output.split("Intruder 1 of 3")
    first, second = first.split("Intruder 2 of 3")
    second, third = second.split("Intruder 3 of 3")
    assert "[NOT_YOURS]" in first
    assert "globex-lab" in first  # what it may use instead
    assert "tenant-isolation" in second
    assert "202" in second
    assert "HTTP 422" in third
    assert "Traceback" not in demo_output
    assert "acme" not in first.replace("acme-lab", "").replace("globex's stack file names acme's network", "")


def test_the_intruder_has_no_machine_and_no_object(lab: EngineLab) -> None:
    assert "2199" not in lab.machines("pve.lab")
    status, found = lab.get(TEMPLATES)
    assert status == 200
    assert found["items"] == []


def test_globexs_own_template_is_admitted_where_the_intruders_was_not(lab: EngineLab) -> None:
    token = lab.token("lab-globex")
    for vlan, pool, wanted in ((202, "globex-lab", 201), (201, "acme-lab", 422), (202, "acme-lab", 422)):
        status, answer = lab.api.request("POST", f"{TEMPLATES}?dryRun=All", machine_template(vlan, pool), token=token)
        assert status == wanted, answer


def test_a_tenants_identity_sees_nothing_of_the_platform_or_of_another_tenant(lab: EngineLab) -> None:
    token = lab.token("lab-globex")
    refused = [
        "/api/v1/namespaces/tenant-acme/secrets/hybrid-handover",
        "/api/v1/namespaces/tenant-globex/secrets",
        "/api/v1/namespaces/tenant-globex/secrets/hybrid-token",
        "/apis/infrastructure.cluster.x-k8s.io/v1alpha1/namespaces/tenant-acme/proxmoxmachinetemplates",
        "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
        "/apis/rbac.authorization.k8s.io/v1/namespaces/tenant-globex/roles",
        "/apis/proxmox.cozystack.io/v1alpha1/proxmoxnetworkzones",
    ]
    assert {path: lab.get(path, token)[0] for path in refused} == dict.fromkeys(refused, 403)
    assert lab.get("/api/v1/namespaces/tenant-globex/secrets/hybrid-handover", token)[0] == 200


def test_a_second_up_of_every_stack_changes_nothing(lab: EngineLab) -> None:
    for stack in ("lab", "lab-acme", "lab-globex"):
        assert lab.changes(stack) == {}
