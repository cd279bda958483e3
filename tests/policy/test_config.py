"""The pack's config: required, whole, and for this stack."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
from google.protobuf import json_format
from tenant_isolation.config import ConfigError, table
from tenant_isolation.endpoints import normal
from tenant_isolation.policy import stack_of

from tests.policy.examples import CONFIG, PROXMOX, VM, row, vm

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.policy.analyzer import Analyzer


def changed(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    config = copy.deepcopy(CONFIG)
    change(config)
    return config


def test_the_engine_is_told_that_the_config_is_required(running: Analyzer) -> None:
    (policy,) = running.info().policies
    assert policy.name == "tenant-isolation"
    assert policy.enforcementLevel == 1  # mandatory
    assert sorted(policy.configSchema.required) == ["locations", "networks", "stacks"]
    schema = json_format.MessageToDict(policy.configSchema.properties)
    row_schema = schema["networks"]["items"]
    assert sorted(row_schema["properties"]) == sorted([*CONFIG["networks"][0]])
    assert set(row_schema["properties"]) - set(row_schema["required"]) == {"zone"}
    assert row_schema["properties"]["vlan"] == {"type": "integer", "minimum": 1, "maximum": 4094}
    assert schema["stacks"]["minProperties"] == 1
    assert schema["stacks"]["additionalProperties"]["properties"]["kind"] == {"enum": ["environment", "tenant"]}
    assert schema["locations"]["additionalProperties"]["properties"]["type"] == {"enum": ["proxmox", "hcloud"]}
    assert schema["openBridges"]["items"]["required"] == ["bridge"]
    for part, item in (("stacks", "lab"), ("locations", "lab"), ("locations", "fsn1")):
        assert CONFIG[part][item].keys() <= schema[part]["additionalProperties"]["properties"].keys()


@pytest.mark.parametrize("stack", ["lab-globex", "lab"])
def test_without_config_nothing_may_be_made(running: Analyzer, stack: str) -> None:
    running.configure({})
    for token in (VM, "pulumi:pulumi:Stack", "hybrid:index:WorkerPool"):
        (message,) = running.analyze(token, vm(), PROXMOX, stack=stack)
        assert "The pack's config is not usable: it has no `stacks`." in message
    running.configure(CONFIG)
    assert running.analyze(VM, vm(), PROXMOX) == []


def test_a_stack_that_is_not_in_the_map_may_make_nothing(analyzer: Analyzer) -> None:
    for stack in ("lab-unheard", "lab-globex-2", "stack", "LAB"):
        for token in (VM, "pulumi:pulumi:Stack"):
            (message,) = analyzer.analyze(token, vm(), PROXMOX, stack=stack)
            assert f"Stack {stack} is not in the pack's config" in message


def test_a_urn_that_names_no_stack_is_refused(analyzer: Analyzer) -> None:
    (message,) = analyzer.analyze(VM, vm(), PROXMOX, stack="")
    assert "Stack urn:pulumi:::hybrid::" in message


def test_a_new_config_is_read(running: Analyzer) -> None:
    running.configure(CONFIG)
    assert running.analyze(VM, vm(), PROXMOX) == []
    running.configure(changed(lambda config: config.update(networks=[row("x", "globex", "lab", 203)])))
    (message,) = running.analyze(VM, vm(), PROXMOX)
    assert "vmbr1 VLAN 203 (x)" in message


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda config: config.pop("stacks"), "it has no `stacks`"),
        (lambda config: config.pop("locations"), "it has no `locations`"),
        (lambda config: config.pop("networks"), "it has no `networks`"),
        (lambda config: config["stacks"]["lab"].update(kind="admin"), "neither an environment nor a tenant"),
        (lambda config: config["stacks"]["lab-acme"].pop("tenant"), "KeyError: 'tenant'"),
        (lambda config: config["stacks"]["lab-acme"].update(namespace=""), "'' is not a text"),
        (lambda config: config["stacks"].update({"lab-acme": None}), "TypeError"),
        (lambda config: config.update(stacks=["lab"]), "AttributeError"),
        (lambda config: config["locations"]["lab"].pop("endpoint"), "KeyError: 'endpoint'"),
        (lambda config: config["locations"]["lab"].update(endpoint="pve"), "has no endpoint that can be read"),
        (
            lambda config: config["locations"]["lab"].update(endpoint="https://PVE.dc.example:8006/"),
            "locations lab and dc have one endpoint",
        ),
        (lambda config: config["networks"][0].update(vlan=0), "network acme-lab has no VLAN"),
        (lambda config: config["networks"][0].update(vlan=4095), "network acme-lab has no VLAN"),
        (lambda config: config["networks"][0].update(vlan="201"), "network acme-lab has no VLAN"),
        (lambda config: config["networks"][0].update(vlan=201.5), "network acme-lab has no VLAN"),
        (lambda config: config["networks"][0].update(vlan=float("inf")), "network acme-lab has no VLAN"),
        (lambda config: config["networks"][0].update(bridge=None), "None is not a text"),
        (lambda config: config["networks"][0].update(prefix="24"), "'24' is not a whole number"),
        (lambda config: config["networks"][0].update(addresses=[1]), "1 is not a text"),
        (lambda config: config["networks"][0].pop("gateway"), "KeyError: 'gateway'"),
        (lambda config: config["networks"][0].update(tenant="initech"), "where its tenant initech has nothing"),
        (lambda config: config["stacks"]["lab"].pop("context"), "KeyError: 'context'"),
        (lambda config: config["locations"]["lab"]["tenants"]["acme"].update(vmIds=[2000]), "ValueError"),
        (lambda config: config["locations"]["lab"]["tenants"]["acme"].update(vmIds=[2010, 2000]), "2010 to 2000 is no"),
        (lambda config: config["locations"]["lab"]["tenants"]["acme"].update(vmIds=[2000, 2100]), "share VM ids"),
        (
            lambda config: config["locations"]["lab"]["tenants"]["acme"].update(vmIds=[8000, 9000]),
            "has a VM id of tenant",
        ),
        (
            lambda config: config["locations"]["lab"]["tenants"]["acme"].update(vmIds=[8999, 8999]),
            "has a VM id of tenant",
        ),
        (
            lambda config: config["locations"]["lab"]["tenants"]["acme"].update(isoStorage="iso-globex"),
            "one ISO storage",
        ),
        (lambda config: config["locations"]["lab"]["tenants"]["acme"].update(pool="lab-globex"), "one resource pool"),
        (lambda config: config["locations"]["lab"]["tenants"]["acme"].update(pool="templates"), "one resource pool"),
        (lambda config: config["locations"]["lab"]["tenants"]["acme"].pop("isoStorage"), "KeyError: 'isoStorage'"),
        (lambda config: config["locations"]["lab"].pop("storage"), "KeyError: 'storage'"),
        (lambda config: config["locations"]["lab"].pop("templatePool"), "KeyError: 'templatePool'"),
        (lambda config: config["locations"]["lab"]["templates"][0].update(id="9000"), "'9000' is not a whole number"),
        (lambda config: config["locations"]["lab"]["templates"][0].update(tags=[7]), "7 is not a text"),
        (lambda config: config["locations"]["fsn1"].pop("region"), "KeyError: 'region'"),
        (lambda config: config["locations"]["fsn1"]["tenants"]["acme"].pop("subnet"), "KeyError: 'subnet'"),
        (
            lambda config: config["openBridges"][0].update(bridge="vmbr1"),
            "bridge vmbr1 is open, but network acme-lab is",
        ),
        (lambda config: config["openBridges"][0].update(vlans=[[5, 4]]), "5 to 4 is no range"),
        (lambda config: config["openBridges"][0].update(vlans=[["5", 6]]), "'5' is not a whole number"),
        (lambda config: config["networks"][0].update(location="fsn1"), "which is no Proxmox VE location"),
        (lambda config: config["networks"][0].update(location="mars"), "which is no Proxmox VE location"),
        (lambda config: config["networks"][0].update(name="acme-dc"), "two networks are called acme-dc"),
        (
            lambda config: config["networks"][0].update(vlan=202),
            "networks acme-lab and globex-lab are both vmbr1 VLAN 202",
        ),
        (
            lambda config: config["networks"][0].update(vlan=301),
            "networks acme-lab and acme-dc are both vmbr1 VLAN 301",
        ),
        (lambda config: config["networks"][0].update(namespace="tenant-globex"), "do not belong to each other alone"),
        (lambda config: config["networks"][0].update(tenant="globex"), "do not belong to each other alone"),
        (
            lambda config: config["stacks"]["lab-initech"].update(namespace="tenant-acme"),
            "tenant initech and namespace tenant-acme do not belong to each other alone",
        ),
        (lambda config: config["stacks"]["lab-acme"].update(namespace="x"), "do not belong to each other alone"),
    ],
)
def test_a_config_that_is_not_whole_is_refused(change: Callable[[dict[str, Any]], object], says: str) -> None:
    assert table(CONFIG)
    with pytest.raises(ConfigError) as caught:
        table(changed(change))
    assert says in str(caught.value)


def test_an_environment_without_networks_is_a_config_too() -> None:
    assert table({**CONFIG, "networks": []}).rows == ()


def test_without_open_bridges_none_is_open() -> None:
    assert table({key: value for key, value in CONFIG.items() if key != "openBridges"}).open_bridges == ()
    assert len(table(CONFIG).open_bridges) == 2


def test_ids_that_meet_at_their_ends_only_are_nobodys_but_their_owners() -> None:
    assert table(changed(lambda config: config["locations"]["lab"]["tenants"]["acme"].update(vmIds=[2000, 2099])))
    assert table(changed(lambda config: config["locations"]["lab"]["tenants"]["acme"].update(vmIds=[9001, 9002])))


def test_the_stack_comes_from_the_urn() -> None:
    assert stack_of("urn:pulumi:lab-acme::hybrid::pulumi:pulumi:Stack::hybrid-lab-acme") == "lab-acme"
    for urn in ("", "lab-acme", "urn:pulumi:lab-acme", "urn:pulumi:::x", "urn:other:lab-acme::x::y::z"):
        assert stack_of(urn) is None


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("https://a.example", "https://a.example:443"),
        ("http://a.example/", "http://a.example:80"),
        ("https://[FD00::1]:8006", "https://[fd00::1]:8006"),
        (" https://a.example.:8006 ", "https://a.example:8006"),
        ("https://a.example:8006?x", None),
        ("https://a.example:8006#x", None),
        ("https://u:p@a.example:8006", None),
        ("https://a.example:8006\\@b.example", None),
        ("https://a.example:8006\n", "https://a.example:8006"),
        ("https://a.exämple:8006", None),
        ("ftp://a.example", None),
        ("a.example:8006", None),
        (None, None),
    ],
)
def test_endpoints_are_compared_in_one_form(written: object, read: str | None) -> None:
    assert normal(written) == read
