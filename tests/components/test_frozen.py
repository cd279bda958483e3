"""What the example stacks register, as a whole."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from pulumi.runtime.rpc import UNKNOWN

from tests.components.engine import contains_unknown
from tests.components.examples import example, run_environment, run_tenant, tenant_settings
from tests.components.frozen import ACME, ENVIRONMENT, GLOBEX, Frozen

if TYPE_CHECKING:
    from tests.components.engine import Run

HASHED = {
    "ProxmoxMachineTemplate": (r"-[0-9a-f]{8}$", "-<hash8>"),
    "TalosConfigTemplate": (r"-[0-9a-f]{8}$", "-<hash8>"),
    "FileLegacy": (r"-[0-9a-f]{16}$", "-<hash16>"),
}


def _registered(run: Run) -> set[tuple[str, str, str]]:
    found = set()
    for item in run:
        pattern, placeholder = HASHED.get(item.type.rpartition(":")[2], (r"$^", ""))
        found.add((item.type, re.sub(pattern, placeholder, item.name), item.parent))
    assert len(found) == len(run.registrations)
    return found


def _expected(frozen: Frozen) -> set[tuple[str, str, str]]:
    return {(kind, name, parent) for parent, kinds in frozen.items() for kind, names in kinds.items() for name in names}


def test_an_environment_registers_exactly_these_types_names_and_parents(lab: Run) -> None:
    assert lab.error is None
    assert _registered(lab) == _expected(ENVIRONMENT)


def test_tenant_acme_registers_exactly_these_types_names_and_parents(acme: Run) -> None:
    assert acme.error is None
    assert _registered(acme) == _expected(ACME)


def test_tenant_globex_registers_exactly_these_types_names_and_parents(globex: Run) -> None:
    assert globex.error is None
    assert _registered(globex) == _expected(GLOBEX)


def test_components_have_tokens_that_a_component_host_takes(lab: Run, acme: Run) -> None:
    for run in (lab, acme):
        for item in run:
            if not item.custom:
                assert re.fullmatch(r"hybrid:index:[A-Z][A-Za-z]+", item.type)


def test_every_component_registers_its_outputs(lab: Run, acme: Run, globex: Run) -> None:
    for run in (lab, acme, globex):
        components = {item.name for item in run if not item.custom}
        assert components
        assert components <= run.registered_outputs.keys()


def test_no_logical_name_contains_an_output(lab: Run, acme: Run, globex: Run) -> None:
    for run in (lab, acme, globex):
        for item in run:
            assert UNKNOWN not in item.name
            assert "Output" not in item.name


def test_in_the_run_without_known_outputs_there_really_are_unknown_inputs() -> None:
    assert any(contains_unknown(dict(item.inputs)) for item in example("lab", unknown=True))
    assert not any(contains_unknown(dict(item.inputs)) for item in example("lab"))


def test_a_first_preview_registers_the_same_where_only_inputs_are_known_of_what_is_to_be() -> None:
    assert run_environment(preview=True).keys == example("lab").keys
    assert run_tenant(tenant_settings("acme"), preview=True).keys == example("lab-acme").keys


def test_an_environment_exports_its_tenants_namespaces_and_nothing_secret(lab: Run) -> None:
    assert lab.outputs == {"tenants": {"acme": "tenant-acme", "globex": "tenant-globex"}}


@pytest.mark.parametrize(("zone", "expected"), [("workers", {"acme-lab": 201, "acme-dc": 301, "globex-lab": 202})])
def test_a_zone_gives_its_bridge_and_vlans(lab: Run, zone: str, expected: dict[str, int]) -> None:
    assert lab.registered_outputs[zone] == {"bridge": "vmbr1", "vlans": expected}


def test_a_tenant_cluster_gives_its_endpoint(acme: Run) -> None:
    assert acme.registered_outputs["prod"] == {"endpoint": "https://203.0.113.10:6443"}


def test_a_tenant_exports_what_its_direct_machines_are() -> None:
    run = example("lab-globex")
    assert run.outputs["machines"] == {
        "prod-small": [
            {
                "name": f"prod-small-{index}",
                "location": "lab",
                "node": f"pve{index + 1}",
                "vmId": 2100 + index,
                "vlan": 202,
                "address": f"10.202.0.{20 + index}",
            }
            for index in range(2)
        ]
    }
    assert run.registered_outputs["prod-small"] == {"machines": run.outputs["machines"]["prod-small"]}
