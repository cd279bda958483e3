"""Each resource goes to the provider of its own place, and each provider has the token of its own tenant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.components.engine import Secret
from tests.components.examples import CREDENTIALS, HCLOUD_TOKEN, proxmox_token, run_tenant, tenant_settings

if TYPE_CHECKING:
    from tests.components.engine import Run

PACKAGES = {"kubernetes": "kubernetes", "proxmoxve": "proxmoxve", "hcloud": "hcloud"}


def test_no_resource_uses_a_default_provider(lab: Run, acme: Run, globex: Run) -> None:
    for run in (lab, acme, globex):
        kinds = {item.name: item.type for item in run if item.is_provider}
        for item in run:
            if item.custom and not item.is_provider:
                package = item.type.partition(":")[0]
                assert kinds[item.provider] == f"pulumi:providers:{PACKAGES[package]}", item.name


def test_every_read_and_invoke_names_its_provider_and_only_the_stack_itself_has_none(acme: Run, globex: Run) -> None:
    for run in (acme, globex):
        without = {read.type for read in run.reads if not read.provider}
        assert without == {"pulumi:pulumi:StackReference"}
        assert "default" not in "".join(read.provider for read in run.reads)


def test_an_environments_resources_go_to_the_location_that_is_their_parent(lab: Run) -> None:
    for item in lab:
        if item.type.startswith("proxmoxve:"):
            assert item.provider == f"proxmox-{item.parent}"
        if item.type.startswith("hcloud:"):
            assert item.provider == f"hcloud-{item.parent}-acme"
        if item.type.startswith("kubernetes:"):
            assert item.provider == "management"


def test_a_tenants_machines_go_to_the_location_of_their_network(acme: Run, globex: Run) -> None:
    assert {item.provider for item in acme if item.type.startswith("proxmoxve:")} == {"proxmox-dc"}
    assert {item.provider for item in acme if item.type.startswith("hcloud:")} == {"hcloud-fsn1"}
    assert {item.provider for item in globex if item.type.startswith("proxmoxve:")} == {"proxmox-lab"}
    (image,) = [read for read in acme.reads if read.type == "hcloud:index/getImage:getImage"]
    assert image.provider == "hcloud-fsn1"
    assert image.id == {"withSelector": "os=talos,version=v1.13.6", "mostRecent": True}


def test_a_tenant_has_providers_only_where_it_has_direct_machines(acme: Run, globex: Run) -> None:
    assert {item.name for item in acme if item.is_provider} == {"management", "proxmox-dc", "hcloud-fsn1"}
    assert {item.name for item in globex if item.is_provider} == {"management", "proxmox-lab"}


def test_an_environments_providers_have_its_own_credentials_as_secrets(lab: Run) -> None:
    assert lab["proxmox-lab"].inputs == {
        "endpoint": "https://pve.lab.example:8006",
        "apiToken": Secret(CREDENTIALS["lab"]["token"]),
    }
    assert lab["proxmox-dc"].inputs["apiToken"] == Secret(CREDENTIALS["dc"]["token"])
    assert lab["hcloud-fsn1-acme"].inputs == {"token": Secret(HCLOUD_TOKEN)}


def test_a_tenants_providers_have_the_tokens_of_its_handover_as_secrets(acme: Run, globex: Run) -> None:
    assert acme["proxmox-dc"].inputs == {
        "endpoint": "https://pve.dc.example:8006",
        "apiToken": Secret(proxmox_token("lab-acme", "dc")),
    }
    assert acme["hcloud-fsn1"].inputs == {"token": Secret(HCLOUD_TOKEN)}
    assert globex["proxmox-lab"].inputs["apiToken"] == Secret(proxmox_token("lab-globex", "lab"))


def test_kubernetes_providers_name_a_context_and_what_the_cluster_is_whatever_its_address(lab: Run, acme: Run) -> None:
    assert lab["management"].inputs == {
        "context": "cozystack-lab",
        "clusterIdentifier": "lab",
        "enableSecretMutable": "true",
    }
    assert acme["management"].inputs == {
        "context": "lab-acme",
        "clusterIdentifier": "lab",
        "enableSecretMutable": "true",
    }


def test_a_tenants_stack_holds_nothing_of_another_tenant() -> None:
    for own, other in (("acme", "globex"), ("globex", "acme")):
        run = run_tenant(tenant_settings(own))
        everything = "".join(run.texts.values()) + str(run.outputs) + str(run.reads)
        assert f"tenant-{own}" in everything
        for word in (other, "201" if own == "globex" else "202"):
            assert word not in everything.replace("203.0.113", "")


def test_no_secret_is_plain_in_any_request(lab: Run, acme: Run, globex: Run) -> None:
    secrets = [HCLOUD_TOKEN, "00000000-0000-4000-8000-", "11111111-1111-4111-", "22222222-2222-", "33333333-3333-"]
    for run in (lab, acme, globex):
        assert len(run.raw) == len(run.registrations)
        for request in [*run.raw, str(run.outputs)]:
            assert not [secret for secret in secrets if secret in request]


def test_no_provider_of_any_stack_gives_up_on_a_servers_certificate(lab: Run, acme: Run, globex: Run) -> None:
    found = [item for run in (lab, acme, globex) for item in run if item.is_provider]
    assert len(found) > 6
    assert not [item.name for item in found if "insecure" in item.inputs]
