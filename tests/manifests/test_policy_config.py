from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from manifests.__main__ import main
from manifests.policy_config import policy_config
from tests.manifests.examples import STACKS

if TYPE_CHECKING:
    from pathlib import Path

TALOS = {"id": 9000, "tags": ["talos", "v1.13.6"]}
EXPECTED = {
    "all": "mandatory",
    "tenant-isolation": {
        "enforcementLevel": "mandatory",
        "stacks": {
            "lab": {"kind": "environment", "context": "cozystack-lab"},
            "lab-acme": {"kind": "tenant", "tenant": "acme", "namespace": "tenant-acme"},
            "lab-globex": {"kind": "tenant", "tenant": "globex", "namespace": "tenant-globex"},
        },
        "locations": {
            "dc": {
                "type": "proxmox",
                "endpoint": "https://pve.dc.example:8006",
                "nodes": ["dc1"],
                "storage": "tank",
                "templates": [{**TALOS, "node": "dc1"}],
                "templatePool": "templates",
                "tenants": {"acme": {"pool": "lab-acme", "vmIds": [3000, 3099], "isoStorage": "iso-acme"}},
            },
            "fsn1": {
                "type": "hcloud",
                "region": "fsn1",
                "tenants": {"acme": {"cidr": "10.100.0.0/16", "subnet": "10.100.1.0/24"}},
            },
            "lab": {
                "type": "proxmox",
                "endpoint": "https://pve.lab.example:8006",
                "nodes": ["pve1", "pve2"],
                "storage": "ceph-vm",
                "templates": [{**TALOS, "node": "pve1"}],
                "templatePool": "templates",
                "tenants": {
                    "acme": {"pool": "lab-acme", "vmIds": [2000, 2099], "isoStorage": "iso-acme"},
                    "globex": {"pool": "lab-globex", "vmIds": [2100, 2199], "isoStorage": "iso-globex"},
                },
            },
        },
        "networks": [
            {
                "name": name,
                "zone": "workers",
                "bridge": "vmbr1",
                "vlan": vlan,
                "tenant": tenant,
                "namespace": f"tenant-{tenant}",
                "location": location,
                "addresses": [f"10.{net}.0.20-10.{net}.0.199"],
                "gateway": f"10.{net}.0.1",
                "prefix": 24,
            }
            for name, vlan, tenant, location, net in (
                ("acme-dc", 301, "acme", "dc", 231),
                ("acme-lab", 201, "acme", "lab", 201),
                ("globex-lab", 202, "globex", "lab", 202),
            )
        ],
        "openBridges": [],
    },
}


def test_former_templates_and_open_bridges_are_in_it(tmp_path: Path) -> None:
    text = (STACKS / "Pulumi.lab.yaml").read_text()
    former = "formerTemplates: [{tags: [talos, v1.13.5], id: 8999, node: gone}]"
    text = text.replace("generation: capi-1.10", "generation: capi-1.10\n      openBridges: [vmbr9]")
    text = text.replace("storage: {name: tank", f"{former}\n        storage: {{name: tank")
    (tmp_path / "Pulumi.lab.yaml").write_text(text)
    found = policy_config(tmp_path, "lab")["tenant-isolation"]
    assert found["openBridges"] == [{"bridge": "vmbr9"}]
    assert found["locations"]["dc"]["templates"] == [
        {**TALOS, "node": "dc1"},
        {"id": 8999, "node": "gone", "tags": ["talos", "v1.13.5"]},
    ]


def test_the_pack_gets_the_whole_table_and_the_map_of_stacks() -> None:
    assert policy_config(STACKS, "lab") == EXPECTED


def test_the_packs_example_is_what_is_written_for_the_lab() -> None:
    written = json.loads((STACKS.parent / "policy" / "example-config.json").read_text())
    assert written == policy_config(STACKS, "lab")


def test_a_tenant_without_a_stack_file_is_in_the_map(tmp_path: Path) -> None:
    shutil.copy(STACKS / "Pulumi.lab.yaml", tmp_path)
    assert policy_config(tmp_path, "lab") == EXPECTED


def test_it_is_written_to_a_file_or_to_standard_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "pack.json"
    assert main(["policy-config", "lab", "--stacks", str(STACKS), "--out", str(file)]) == 0
    assert json.loads(file.read_text()) == EXPECTED
    assert main(["policy-config", "lab", "--stacks", str(STACKS)]) == 0
    assert capsys.readouterr().out == file.read_text()


def test_a_tenants_stack_has_no_configuration_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy-config", "lab-acme", "--stacks", str(STACKS)]) == 1
    assert "name its environment" in capsys.readouterr().err
    with pytest.raises(ValueError, match="lab-acme"):
        policy_config(STACKS, "lab-acme")
