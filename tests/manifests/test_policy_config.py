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

EXPECTED = {
    "all": "mandatory",
    "tenant-isolation": {
        "enforcementLevel": "mandatory",
        "stacks": {
            "lab": {"kind": "environment"},
            "lab-acme": {"kind": "tenant", "tenant": "acme", "namespace": "tenant-acme"},
            "lab-globex": {"kind": "tenant", "tenant": "globex", "namespace": "tenant-globex"},
        },
        "locations": {
            "dc": {"type": "proxmox", "endpoint": "https://pve.dc.example:8006"},
            "fsn1": {"type": "hcloud"},
            "lab": {"type": "proxmox", "endpoint": "https://pve.lab.example:8006"},
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
            }
            for name, vlan, tenant, location in (
                ("acme-dc", 301, "acme", "dc"),
                ("acme-lab", 201, "acme", "lab"),
                ("globex-lab", 202, "globex", "lab"),
            )
        ],
    },
}


def test_the_pack_gets_the_whole_table_and_the_map_of_stacks() -> None:
    assert policy_config(STACKS, "lab") == EXPECTED


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
