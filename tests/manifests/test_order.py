from __future__ import annotations

import pytest

from manifests.manifest import Manifest
from manifests.order import ordered
from tests.manifests.examples import of_environment, of_tenant


def thing(name: str, *after: str) -> Manifest:
    return Manifest(
        {"kind": "Thing", "metadata": {"name": name}}, "isolation", tuple(f"Thing/{item}" for item in after)
    )


def test_each_object_stands_behind_those_it_comes_after_and_else_as_it_came() -> None:
    found = ordered([thing("c", "a"), thing("b"), thing("a"), thing("d", "c", "b")])
    assert [item.name for item in found] == ["Thing/b", "Thing/a", "Thing/c", "Thing/d"]


def test_an_object_that_nothing_makes_is_named() -> None:
    with pytest.raises(ValueError, match="Thing/a comes after Thing/b"):
        ordered([thing("a", "b")])


def test_a_circle_is_named() -> None:
    with pytest.raises(ValueError, match="Thing/a, Thing/b"):
        ordered([thing("a", "b"), thing("b", "a"), thing("c")])


def test_an_object_that_is_there_twice_is_named() -> None:
    with pytest.raises(ValueError, match="twice: Thing/a"):
        ordered([thing("a"), thing("a"), thing("b")])


def test_every_object_of_the_lab_stands_behind_all_that_it_comes_after() -> None:
    for found in (of_environment(), of_tenant("acme"), of_tenant("globex")):
        seen: set[str] = set()
        for name, item in found.items():
            assert set(item.after) <= seen
            seen.add(name)


def test_logical_names_tell_namespaces_apart() -> None:
    found = of_environment()
    assert "Role/tenant-acme/hybrid" in found
    assert "ClusterRole/hybrid-lab-acme" in found
    assert found["ClusterRole/hybrid-lab-acme"].namespace is None


def test_every_object_belongs_to_a_part_of_the_program() -> None:
    assert {item.part for item in of_environment().values()} == {
        "isolation",
        "zone/workers",
        "tenant/acme",
        "tenant/globex",
    }
    assert {item.part for item in of_tenant("acme").values()} == {"cluster/prod", "pool/prod-lab"}
