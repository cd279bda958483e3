from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from settings.__main__ import main
from tests.settings.files import STACKS, write_edited

if TYPE_CHECKING:
    from pathlib import Path


def test_a_stack_that_is_accepted_ends_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "lab-acme"]) == 0
    assert capsys.readouterr().out == "stack lab-acme: settings are fine\n"


def test_a_stack_that_is_refused_ends_with_1_and_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_edited(tmp_path, "lab", {"zones.workers.networks.acme-lab.vlan": 202})

    assert main(["check", "lab", "--stacks", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "zones.workers.networks.globex-lab.vlan: 202" in out
    assert "[VLAN_TAKEN]" in out
    assert "fix: the next free VLAN is 203" in out


def test_errors_as_json_are_a_list_of_code_path_value_why_and_fix(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_edited(tmp_path, "lab", {"zones.workers.networks.acme-lab.vlan": 202, "locations.lab.storage.shared": "yes"})

    assert main(["check", "lab", "--stacks", str(tmp_path), "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [set(problem) for problem in found] == [{"code", "path", "value", "why", "fix"}] * 2
    assert [(problem["code"], problem["path"], problem["value"]) for problem in found] == [
        ("NOT_TRUE_OR_FALSE", "locations.lab.storage.shared", "yes"),
        ("VLAN_TAKEN", "zones.workers.networks.globex-lab.vlan", 202),
    ]


def test_a_warning_goes_to_stderr_and_leaves_the_list_empty(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_edited(tmp_path, "lab-acme", {"clusters.prod.talos": "v1.14.0"})

    assert main(["check", "lab-acme", "--stacks", str(tmp_path), "--format", "json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out) == []
    assert said.err.startswith("warning: clusters.prod.talos: ")


def test_a_check_needs_neither_the_engine_nor_a_providers_package() -> None:
    code = (
        "import sys, settings.__main__ as command\n"
        f"command.main(['check', 'lab-acme', '--stacks', {str(STACKS)!r}])\n"
        "sys.exit(','.join(name for name in sys.modules if name.startswith(('pulumi', 'kubernetes', 'grpc'))))"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=STACKS.parent, capture_output=True, text=True, check=False)

    assert ended.stderr.strip() == ""
    assert ended.stdout == "stack lab-acme: settings are fine\n"


@pytest.mark.parametrize("kind", ["environment", "tenant"])
def test_a_schema_names_the_keys_of_the_whole_file(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", kind]) == 0
    found = json.loads(capsys.readouterr().out)

    assert set(found["properties"]) == {"config", "encryptionsalt", "encryptedkey", "secretsprovider"}
    assert set(found["properties"]["config"]["properties"]) == {f"hybrid:{kind}", "hybrid:credentials"}
    assert "nativeVlan" in json.dumps(found) or kind == "tenant"
    assert "native_vlan" not in json.dumps(found)


@pytest.mark.parametrize("kind", ["environment", "tenant"])
def test_the_schema_beside_the_stack_files_is_that_of_the_models(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["schema", kind])

    assert (STACKS / f"{kind}.schema.json").read_text(encoding="utf-8") == capsys.readouterr().out
