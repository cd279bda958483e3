"""All errors of a file in one run, none of them twice, and none that only follows from another."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from settings.load import load
from settings.problems import SettingsError
from tests.settings.files import GONE, edit, edited, of_environment, problems, said, settings_of, write, write_edited

if TYPE_CHECKING:
    from pathlib import Path

    from tests.settings.files import Edits


def test_a_file_with_many_faults_names_each_of_them_once() -> None:
    environment = edited(
        "lab",
        {
            "management.guard": "warn",
            "tenants.globex.namespace": "tenant-acme",
            "locations.lab.endpoint": "http://pve",
            "locations.dc.uplink.vswitch": 100,
            "locations.fsn1.tenants.acme.subnet": "10.101.0.0/24",
            "zones.workers.brdge": "vmbr1",
            "zones.workers.bridge": GONE,
            "zones.workers.reserved.fsn1": [3],
            "zones.workers.networks.acme-lab.vlan": 4095,
            "zones.workers.networks.acme-dc.gateway": "10.231.0.25",
            "zones.workers.networks.globex-lab.cidr": "10.202.0.0/33",
            "zone": {},
        },
    )["lab"]

    assert [(problem.path, problem.code) for problem in sorted(of_environment(environment), key=lambda p: p.path)] == [
        ("locations.dc.uplink.vswitch", "VSWITCH_VLAN"),
        ("locations.fsn1.tenants.acme.subnet", "SUBNET_OUTSIDE"),
        ("locations.lab.endpoint", "BAD_ENDPOINT"),
        ("management.guard", "NOT_ONE_OF"),
        ("tenants.globex.namespace", "NAMESPACE_TAKEN"),
        ("zone", "UNKNOWN_KEY"),
        ("zones.workers.brdge", "UNKNOWN_KEY"),
        ("zones.workers.networks.acme-dc.gateway", "GATEWAY_IN_RANGE"),
        ("zones.workers.networks.acme-lab.vlan", "VLAN_OUT_OF_BOUNDS"),
        ("zones.workers.networks.globex-lab.cidr", "BAD_CIDR"),
        ("zones.workers.reserved.fsn1", "LOCATION_NOT_IN_ZONE"),
    ]


def test_a_tenant_with_many_faults_names_each_of_them_once(tmp_path: Path) -> None:
    pools = "clusters.prod.pools"
    write_edited(
        tmp_path,
        "lab-acme",
        {
            "environment": "live",
            "clusters.prod.kubernetes": "v1.20.0",
            "clusters.prod.connectivity": "vpn",
            f"{pools}.lab.network": "globex-lab",
            f"{pools}.dc.vmIds": "2000-2009",
            f"{pools}.cloud.location": "fsn2",
            f"{pools}.burst": {"backend": "hetzner-autoscaler"},
            f"{pools}.raw": {
                "backend": "proxmox-vm",
                "bridge": "vmbr1",
                "vlan": 5,
                "vmIds": "3050-3059",
                "replicas": 1,
            },
            "cluster": {},
        },
    )

    assert said(tmp_path, "lab-acme") == [
        ("UNKNOWN_KEY", "cluster"),
        ("NOT_ONE_OF", "clusters.prod.connectivity"),
        ("KUBERNETES_UNSUPPORTED", "clusters.prod.kubernetes"),
        ("NOT_AVAILABLE", f"{pools}.burst.backend"),
        ("UNKNOWN_LOCATION", f"{pools}.cloud.location"),
        ("IDS_OUTSIDE", f"{pools}.dc.vmIds"),
        ("NOT_YOURS", f"{pools}.lab.network"),
        ("PLATFORM_OWNS", f"{pools}.raw.bridge"),
        ("MISSING_KEY", f"{pools}.raw.size"),
        ("PLATFORM_OWNS", f"{pools}.raw.vlan"),
        ("ENVIRONMENT_MISMATCH", "environment"),
    ]


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("tenants.acme.namespace", "UPPER"),
        ("locations.lab.storage", None),
        ("locations.lab.tenants.acme.vmIds", "x"),
        ("locations.lab.tenants", []),
        ("locations.fsn1.tenants.acme.cidr", "x"),
        ("zones.workers.bridge", "vm-br"),
        ("zones.workers.locations", "lab"),
        ("zones.workers.networks.acme-lab.range", "x"),
    ],
)
def test_a_reference_to_something_faulty_is_no_second_error(place: str, value: object, tmp_path: Path) -> None:
    write_edited(tmp_path, "lab-acme", {f"lab:{place}": value})

    assert [found.path for found in problems(tmp_path, "lab")] == [place]
    assert said(tmp_path, "lab-acme") == [("ENVIRONMENT_REFUSED", "environment")]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("management", "managment"),
        ("tenants", "tenant"),
        ("zones.workers.networks", "zones.workers.network"),
        ("zones.workers.networks.acme-lab.vlan", "zones.workers.networks.acme-lab.vlanId"),
        ("locations.lab.nodes", "locations.lab.node"),
        ("locations.lab.template.node", "locations.lab.template.Node"),
    ],
)
def test_a_misspelt_key_is_one_problem_that_names_the_right_one(right: str, wrong: str) -> None:
    environment = settings_of("lab")
    here = environment
    *parents, last = right.split(".")
    for step in parents:
        here = here[step]
    here[wrong.rpartition(".")[2]] = here.pop(last)

    (found,) = of_environment(environment)

    assert (found.code, found.path) == ("UNKNOWN_KEY", wrong)
    assert f"did you mean {last}?" in found.fix


def test_what_stands_below_a_misspelt_key_is_checked_and_named_as_it_is_written() -> None:
    environment = settings_of("lab")
    environment["zone"] = environment.pop("zones")
    edit(environment, "zone.workers.networks.acme-lab.vlan", 1)
    edit(environment, "zone.workers.networks.acme-dc.cidr", "x")

    assert sorted((found.path, found.code) for found in of_environment(environment)) == [
        ("zone", "UNKNOWN_KEY"),
        ("zone.workers.networks.acme-dc.cidr", "BAD_CIDR"),
        ("zone.workers.networks.acme-lab.vlan", "VLAN_OUT_OF_BOUNDS"),
    ]


def test_a_misspelt_optional_key_does_not_let_its_rule_sleep(tmp_path: Path) -> None:
    write_edited(
        tmp_path,
        "lab-globex",
        {"clusters.prod.pools.small.nodes": GONE, "clusters.prod.pools.small.node": ["pve1", "pve2"]},
    )

    assert said(tmp_path, "lab-globex") == [("UNKNOWN_KEY", "clusters.prod.pools.small.node")]


def test_a_faulty_text_and_a_faulty_value_are_told_in_one_run(tmp_path: Path) -> None:
    write(tmp_path, "lab", settings_of("lab"), imports=["x"])
    text = (tmp_path / "Pulumi.lab.yaml").read_text().replace('"vlan": 201', '"vlan": 0201').replace("vmbr1", "vm-br1")
    (tmp_path / "Pulumi.lab.yaml").write_text(text)

    assert said(tmp_path, "lab") == [
        ("UNKNOWN_KEY", "imports"),
        ("BAD_BRIDGE", "zones.workers.bridge"),
        ("ODD_NUMBER", "zones.workers.networks.acme-lab.vlan"),
    ]


def test_the_order_of_the_errors_is_that_of_their_paths_and_the_text_has_one_for_each(tmp_path: Path) -> None:
    write_edited(tmp_path, "lab", {"zones.workers.bridge": "vm-br", "management.guard": 3})
    with pytest.raises(SettingsError) as refused:
        load("lab", tmp_path)

    lines = str(refused.value).splitlines()
    assert lines[0] == "stack lab: 2 problems in its settings"
    assert lines[1].startswith("  management.guard: 3: guard is one of enforce, audit [NOT_ONE_OF]")
    assert lines[3].startswith('  zones.workers.bridge: "vm-br": ')
    assert [line.startswith("      fix: ") for line in lines] == [False, False, True, False, True]


def test_every_problem_can_be_written_as_json(tmp_path: Path) -> None:
    write(tmp_path, "lab", settings_of("lab"))
    plain = (tmp_path / "Pulumi.lab.yaml").read_text()
    text = plain.replace('"vmbr1"', "2026-01-01").replace('"protect": false', "").replace('"10.201.0.1"', ".inf")
    (tmp_path / "Pulumi.lab.yaml").write_text(text)

    found = problems(tmp_path, "lab")

    assert [(problem.code, problem.value and str(problem.value)) for problem in found] == [
        ("NOT_TEXT", "2026-01-01"),
        ("NOT_TEXT", ".inf"),
    ]
    assert [json.loads(json.dumps(problem.as_json(), allow_nan=False))["value"] for problem in found] == [
        "2026-01-01",
        ".inf",
    ]
    assert all("quotes" in problem.fix for problem in found)


def test_faults_of_shape_and_of_meaning_in_one_pool_are_told_together(tmp_path: Path) -> None:
    pool = "clusters.prod.pools.small"
    write_edited(
        tmp_path,
        "lab-globex",
        {f"{pool}.size.memory": "4G", f"{pool}.vlan": 201, f"{pool}.network": "acme-lab", f"{pool}.replicas": 9},
    )
    assert said(tmp_path, "lab-globex") == [
        ("NOT_YOURS", f"{pool}.network"),
        ("BAD_MEMORY", f"{pool}.size.memory"),
        ("PLATFORM_OWNS", f"{pool}.vlan"),
        ("IDS_TOO_FEW", f"{pool}.vmIds"),
    ]


def test_faults_of_shape_and_of_meaning_in_one_row_are_told_together(tmp_path: Path) -> None:
    row = "zones.workers.networks.globex-lab"
    write_edited(tmp_path, "lab", {f"{row}.vlan": "202", f"{row}.gateway": "10.202.0.30", f"{row}.tenant": "nobody"})
    found = {path: code for code, path in said(tmp_path, "lab")}
    assert found.keys() == {f"{row}.vlan", f"{row}.gateway", f"{row}.tenant"}
    assert found[f"{row}.gateway"] == "GATEWAY_IN_RANGE"


@pytest.mark.parametrize("key", ["vlan", "gateway", "range"])
def test_nothing_is_said_of_what_stands_in_for_a_faulty_part_of_a_row(key: str, tmp_path: Path) -> None:
    rows: Edits = {f"zones.workers.networks.{row}.{key}": "x" for row in ("acme-lab", "acme-dc", "globex-lab")}
    write_edited(tmp_path, "lab", rows)
    assert sorted(path for _, path in said(tmp_path, "lab")) == sorted(map(str, rows))


def test_every_fault_of_labels_and_taints_is_told_together(tmp_path: Path) -> None:
    pool = "clusters.prod.pools.dc"
    labels = {"a b": "x", "x/y/z": "x", "kubernetes.io/role": "w", "ok": True, "num": 1, "fine": "x"}
    taints = [5, "tier=db", "spot:NoExecute", "spot:NoExecute", None]
    write_edited(tmp_path, "lab-acme", {f"{pool}.labels": labels, f"{pool}.taints": taints})
    assert said(tmp_path, "lab-acme") == [
        ("BAD_KEY", f"{pool}.labels.a b"),
        ("LABEL_RESERVED", f"{pool}.labels.kubernetes.io/role"),
        ("NOT_TEXT", f"{pool}.labels.num"),
        ("NOT_TEXT", f"{pool}.labels.ok"),
        ("BAD_KEY", f"{pool}.labels.x/y/z"),
        ("NOT_TEXT", f"{pool}.taints.0"),
        ("BAD_TAINT", f"{pool}.taints.1"),
        ("DUPLICATE_NAME", f"{pool}.taints.3"),
        ("NOT_TEXT", f"{pool}.taints.4"),
    ]


def test_every_fault_of_a_pools_nodes_is_told_together(tmp_path: Path) -> None:
    nodes = "clusters.prod.pools.small.nodes"
    write_edited(tmp_path, "lab-globex", {nodes: [1, "pve3", "pve1", "pve1"]})
    assert said(tmp_path, "lab-globex") == [
        ("NOT_TEXT", f"{nodes}.0"),
        ("UNKNOWN_NODE", f"{nodes}.1"),
        ("DUPLICATE_NAME", f"{nodes}.3"),
    ]


@pytest.mark.parametrize("name", ["Lab", "lab-1", "lab "])
def test_a_badly_named_location_is_told_where_it_stands_and_once_where_the_zone_names_it(
    name: str, tmp_path: Path
) -> None:
    environment = settings_of("lab")
    environment["locations"][name] = environment["locations"].pop("lab")
    write(tmp_path, "lab", environment)

    found = problems(tmp_path, "lab")

    assert [(problem.code, problem.path) for problem in found] == [
        ("BAD_NAME", f"locations.{name}"),
        ("UNKNOWN_LOCATION", "zones.workers.locations.0"),
    ]
    assert "did you mean" not in found[1].fix
