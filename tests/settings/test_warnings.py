"""What is accepted, and said all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from settings.load import load
from tests.settings.cases import NEW_DC, SECOND_ZONE
from tests.settings.files import GONE, said, settings_of, write, write_edited

if TYPE_CHECKING:
    from pathlib import Path

    from tests.settings.files import Edits

UNTAGGED: Edits = {f"lab:locations.{name}.template.tags": ["talos"] for name in ("lab", "dc")}
"""Templates that do not say which Talos they hold."""


@pytest.mark.parametrize(
    ("stack", "edits", "code", "path"),
    [
        ("lab", {"locations.dc.nodes.dc2": {"memory": "512Gi"}}, "VSWITCH_NODES", "locations.dc.uplink"),
        ("lab", {"locations.third": {**NEW_DC, "tenants": {}}}, "UNUSED", "locations.third"),
        ("lab", {"zones.second": SECOND_ZONE}, "UNUSED", "zones.second"),
        ("lab-acme", {**UNTAGGED, "clusters.prod.talos": "v1.14.0"}, "TALOS_UNKNOWN", "clusters.prod.talos"),
        ("lab-acme", {"clusters.prod.talos": "v1.13.7"}, "TALOS_TEMPLATE", "clusters.prod.talos"),
    ],
)
def test_what_is_only_strange_is_accepted_with_a_warning(
    stack: str, edits: dict[str | tuple[str, ...], Any], code: str, path: str, tmp_path: Path
) -> None:
    write_edited(tmp_path, stack, edits)

    (found,) = load(stack, tmp_path).warnings

    assert (found.code, found.path, found.severity) == (code, path, "warning")


def test_a_talos_that_is_not_known_is_not_held_against_its_kubernetes(tmp_path: Path) -> None:
    write_edited(
        tmp_path, "lab-acme", {**UNTAGGED, "clusters.prod.talos": "v1.14.0", "clusters.prod.kubernetes": "v1.99.0"}
    )

    assert [found.code for found in load("lab-acme", tmp_path).warnings] == ["TALOS_UNKNOWN"]


def test_a_patch_of_a_known_talos_is_as_known_as_its_minor(tmp_path: Path) -> None:
    write_edited(tmp_path, "lab-acme", {**UNTAGGED, "clusters.prod.talos": "v1.13.99"})

    assert load("lab-acme", tmp_path).warnings == ()


@pytest.mark.parametrize(
    ("tags", "named"),
    [
        ({"lab": ["talos", "v1.13.7"]}, ["dc"]),
        ({"lab": ["talos", "v1.13.7"], "dc": ["v1.13.7", "v1.13.6"]}, []),
        ({"dc": ["v1.13"]}, ["lab"]),
        ({}, ["dc", "lab"]),
    ],
)
def test_a_talos_that_a_template_does_not_hold_is_told_with_the_templates_place(
    tags: dict[str, list[str]], named: list[str], tmp_path: Path
) -> None:
    edits: Edits = {f"lab:locations.{name}.template.tags": value for name, value in tags.items()}
    write_edited(tmp_path, "lab-acme", {**edits, "clusters.prod.talos": "v1.13.7"})

    warnings = load("lab-acme", tmp_path).warnings

    assert [", ".join(named) in warning.why for warning in warnings] == [True] * bool(named)


def test_a_template_where_the_cluster_has_no_machines_is_nothing_to_it(tmp_path: Path) -> None:
    edits: Edits = {"lab:locations.dc.template.tags": ["v1.13.7"], "clusters.prod.pools.dc": GONE}
    write_edited(tmp_path, "lab-acme", edits)

    assert load("lab-acme", tmp_path).warnings == ()


def test_a_stack_whose_tenant_was_taken_out_is_to_be_destroyed_first(tmp_path: Path) -> None:
    write(tmp_path, "lab", settings_of("lab"))
    for stack in ("lab-acme", "lab-initech", "labx-initech"):
        write(tmp_path, stack, {})
    (tmp_path / "Pulumi.lab-old.yaml.bak").touch()
    (tmp_path / "Pulumi.lab-Old.yaml").touch()

    (found,) = load("lab", tmp_path).warnings

    assert (found.code, found.path, found.value) == ("STACK_LEFT", "tenants.initech", "lab-initech")
    assert "destroy that stack before its tenant is taken out" in found.fix


def test_a_tenants_own_stack_is_told_of_no_other_tenants_stack(tmp_path: Path) -> None:
    write_edited(tmp_path, "lab-acme", {})
    write(tmp_path, "lab-initech", {})

    assert load("lab-acme", tmp_path).warnings == ()


def test_a_stack_of_a_tenant_that_is_only_faulty_is_not_told_of(tmp_path: Path) -> None:
    write_edited(tmp_path, "lab", {"tenants.third": {"namespace": "T", "clusters": []}})
    write(tmp_path, "lab-third", {})

    assert said(tmp_path, "lab") == [("BAD_NAME", "tenants.third.namespace")]
