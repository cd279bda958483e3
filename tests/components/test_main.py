"""The program itself, as the engine starts it: `__main__.py` with a stack's configuration."""

from __future__ import annotations

import json
import runpy
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tests.components.engine import Run, run
from tests.components.examples import CREDENTIALS, ROOT, STACKS, example, raw, reads, tenant_settings

if TYPE_CHECKING:
    from pathlib import Path

SECRETS = ["hybrid:credentials"]


def _config(stack: str, settings: Any = None, credentials: Any = None) -> dict[str, str]:
    """Give the configuration as the engine hands it to a program: what Pulumi.yaml has as default, and the stack's."""
    own = "hybrid:tenant" if "-" in stack else "hybrid:environment"
    given = {"hybrid:environment": {}, "hybrid:tenant": {}, own: raw(stack) if settings is None else settings}
    config = {key: json.dumps(value) for key, value in given.items()}
    if credentials is not None:
        config["hybrid:credentials"] = credentials if isinstance(credentials, str) else json.dumps(credentials)
    return config


def _main(stack: str, config: dict[str, str], program: Path = ROOT, **how: Any) -> Run:
    known = reads(tenant_settings(stack.partition("-")[2])) if "-" in stack else {}
    return run(
        lambda: runpy.run_path(str(program / "__main__.py"), run_name="__main__") and None,
        stack_name=stack,
        config=config,
        secret_keys=SECRETS,
        reads=known,
        **how,
    )


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """Copy the program's entry and its stack files, to change them."""
    shutil.copy(ROOT / "__main__.py", tmp_path)
    shutil.copytree(STACKS, tmp_path / "stacks")
    return tmp_path


def _write(program: Path, stack: str, settings: Any) -> None:
    """Let a stack's file say what its configuration says."""
    own = "hybrid:tenant" if "-" in stack else "hybrid:environment"
    text = json.dumps({"config": {own: settings}})  # JSON is YAML
    (program / "stacks" / f"Pulumi.{stack}.yaml").write_text(text, encoding="utf-8")


def test_an_environments_stack_registers_what_its_program_does(*, unknown: bool) -> None:
    found = _main("lab", _config("lab", credentials=CREDENTIALS), unknown=unknown)
    assert found.error is None
    assert found.warnings == []
    assert found.texts == example("lab", unknown=unknown).texts
    assert found.outputs == example("lab", unknown=unknown).outputs


@pytest.mark.parametrize("stack", ["lab-acme", "lab-globex"])
def test_a_tenants_stack_registers_what_its_program_does(stack: str, *, unknown: bool) -> None:
    found = _main(stack, _config(stack), unknown=unknown)
    assert found.error is None
    assert found.warnings == []
    assert found.texts == example(stack, unknown=unknown).texts
    assert found.outputs == example(stack, unknown=unknown).outputs


def test_a_warning_of_the_settings_is_one_of_the_run_and_stops_nothing(copied: Path) -> None:
    settings = raw("lab-globex")
    settings["clusters"]["prod"]["talos"] = "v1.99.0"
    _write(copied, "lab-globex", settings)
    found = _main("lab-globex", _config("lab-globex", settings), copied)
    assert found.error is None
    assert [warning.startswith("clusters.prod.talos: ") for warning in found.warnings] == [True, True]
    assert "[TALOS_TEMPLATE]" in found.warnings[0] + found.warnings[1]
    assert found.keys >= {
        item.key for item in example("lab-globex") if item.type != "proxmoxve:index/fileLegacy:FileLegacy"
    }


def test_wrong_settings_stop_with_everything_at_once_and_nothing_registered(copied: Path) -> None:
    settings = raw("lab")
    settings["zones"]["workers"]["networks"]["globex-lab"]["vlan"] = 201
    settings["locations"]["lab"]["endpoint"] = "http://pve.lab.example"
    _write(copied, "lab", settings)
    found = _main("lab", _config("lab", settings, CREDENTIALS), copied)
    assert found.order == []
    assert "zones.workers.networks" in str(found.error)
    assert "locations.lab.endpoint" in str(found.error)
    assert str(found.error).startswith("stack lab: 2 problems in its settings\n")


def test_a_tenant_that_asks_for_anothers_network_is_stopped_before_the_handover_is_read(copied: Path) -> None:
    settings = raw("lab-globex")
    settings["clusters"]["prod"]["pools"]["small"]["network"] = "acme-lab"
    _write(copied, "lab-globex", settings)
    found = _main("lab-globex", _config("lab-globex", settings), copied)
    assert found.order == []
    assert "clusters.prod.pools.small.network" in str(found.error)


def test_a_configuration_that_says_something_else_than_the_stacks_file_is_refused() -> None:
    settings = raw("lab-globex")
    settings["clusters"]["prod"]["pools"]["small"]["replicas"] = 3
    found = _main("lab-globex", _config("lab-globex", settings))
    assert found.order == []
    assert "[READ_OTHERWISE]" in str(found.error)


def test_an_environment_without_credentials_says_which_are_missing_and_how_to_set_them() -> None:
    found = _main("lab", _config("lab"))
    assert found.order == []
    assert str(found.error).count("[MISSING_CREDENTIALS]") == 3
    assert "pulumi config set --secret hybrid:credentials" in str(found.error)


@pytest.mark.parametrize("text", ["root@pam!x=11111111-1111-4111-8111-111111111111", "{'lab': 'h'}", '"h"', "[]", ""])
def test_credentials_that_are_no_map_in_json_are_refused_without_being_shown(text: str) -> None:
    found = _main("lab", _config("lab", credentials=text))
    assert found.order == []
    assert "[NOT_A_MAP]" in str(found.error)
    assert len(text) < 3 or text not in str(found.error)


def test_a_credential_of_the_wrong_shape_is_refused_without_being_shown() -> None:
    found = _main("lab", _config("lab", credentials={**CREDENTIALS, "lab": {"token": "swordfish"}}))
    assert found.order == []
    assert "credentials.lab.token" in str(found.error)
    assert "swordfish" not in str(found.error)


def test_a_stacks_name_alone_says_what_it_is() -> None:
    config = {**_config("lab-globex"), "hybrid:environment": json.dumps(raw("lab"))}
    found = _main("lab-globex", config)
    assert {item.type for item in found} == {item.type for item in example("lab-globex")}


def test_a_misspelt_key_that_the_engine_does_not_pass_on_is_refused(copied: Path) -> None:
    path = copied / "stacks" / "Pulumi.lab-globex.yaml"
    path.write_text(path.read_text() + "  hybrid:tenannt: {}\n")
    found = _main("lab-globex", _config("lab-globex"), copied)
    assert found.order == []
    assert "hybrid:tenannt" in str(found.error)


def test_a_tenants_run_reads_its_environment_from_the_file_beside_its_own(copied: Path) -> None:
    path = copied / "stacks" / "Pulumi.lab.yaml"
    path.write_text(path.read_text().replace("vlan: 202", "vlan: 222"))
    found = _main("lab-globex", _config("lab-globex"), copied, preview=True)
    assert {vm.inputs["networkDevices"][0]["vlanId"] for vm in found.of("VmLegacy")} == {222}
    assert len(found.warnings) == 1
    assert _main("lab-globex", _config("lab-globex"), copied).of("VmLegacy") == []
