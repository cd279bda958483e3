"""What is accepted, and said all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from settings.load import load
from tests.settings.cases import NEW_DC, SECOND_ZONE
from tests.settings.files import write_edited

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("stack", "edits", "code", "path"),
    [
        ("lab", {"locations.dc.nodes.dc2": {"memory": "512Gi"}}, "VSWITCH_NODES", "locations.dc.uplink"),
        ("lab", {"locations.third": {**NEW_DC, "tenants": {}}}, "UNUSED", "locations.third"),
        ("lab", {"zones.second": SECOND_ZONE}, "UNUSED", "zones.second"),
        ("lab-acme", {"clusters.prod.talos": "v1.14.0"}, "TALOS_UNKNOWN", "clusters.prod.talos"),
    ],
)
def test_what_is_only_strange_is_accepted_with_a_warning(
    stack: str, edits: dict[str | tuple[str, ...], Any], code: str, path: str, tmp_path: Path
) -> None:
    write_edited(tmp_path, stack, edits)

    (found,) = load(stack, tmp_path).warnings

    assert (found.code, found.path, found.severity) == (code, path, "warning")


def test_a_talos_that_is_not_known_is_not_held_against_its_kubernetes(tmp_path: Path) -> None:
    write_edited(tmp_path, "lab-acme", {"clusters.prod.talos": "v1.14.0", "clusters.prod.kubernetes": "v1.99.0"})

    assert [found.code for found in load("lab-acme", tmp_path).warnings] == ["TALOS_UNKNOWN"]


def test_a_patch_of_a_known_talos_is_as_known_as_its_minor(tmp_path: Path) -> None:
    write_edited(tmp_path, "lab-acme", {"clusters.prod.talos": "v1.13.99"})

    assert load("lab-acme", tmp_path).warnings == ()
