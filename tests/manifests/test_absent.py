"""What must not be in any object of the lab's stacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.manifests.examples import of_environment, of_tenant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from manifests.manifest import Manifest

ALL = {"lab": of_environment(), "lab-acme": of_tenant("acme"), "lab-globex": of_tenant("globex")}


def leaves(data: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(data, dict):
        for key, value in data.items():
            yield from leaves(value, f"{path}.{key}")
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from leaves(value, f"{path}[{index}]")
    else:
        yield path, data


@pytest.mark.parametrize("stack", ALL)
def test_no_value_is_null_and_all_are_plain_data(stack: str) -> None:
    for name, item in ALL[stack].items():
        for path, value in leaves(item.body):
            assert isinstance(value, str | int | bool), f"{name}{path} is {value!r}"


def words(found: dict[str, Manifest]) -> str:
    return "\n".join(str(value) for item in found.values() for _, value in leaves(item.body))


def test_a_tenants_objects_say_nothing_of_other_tenants() -> None:
    assert "globex" not in words(ALL["lab-acme"])
    assert "10.202." not in words(ALL["lab-acme"])
    assert "202" not in [str(value) for item in ALL["lab-acme"].values() for _, value in leaves(item.body)]
    assert "acme" not in words(ALL["lab-globex"])


def test_a_tenants_objects_are_all_in_its_own_namespace() -> None:
    assert {item.namespace for item in ALL["lab-acme"].values()} == {"tenant-acme"}


def test_a_tenants_stack_makes_no_secret_and_nothing_that_the_environment_owns() -> None:
    kinds = {item.kind for item in ALL["lab-acme"].values()}
    assert kinds == {
        "Cluster",
        "KamajiControlPlane",
        "MachineDeployment",
        "MachineHealthCheck",
        "ProxmoxCluster",
        "ProxmoxMachineTemplate",
        "TalosConfigTemplate",
    }


def test_every_reference_between_a_tenants_objects_names_one_of_them() -> None:
    found = ALL["lab-acme"]
    references = [
        value
        for item in found.values()
        for key, value in (*item.body["spec"].items(), *_inner(item.body["spec"]))
        if key in ("controlPlaneRef", "infrastructureRef", "configRef")
    ]
    assert len(references) == 4
    versions = {(item.kind, item.body["metadata"]["name"]): item.body["apiVersion"] for item in found.values()}
    for reference in references:
        assert versions[reference["kind"], reference["name"]] == reference["apiVersion"]


def _inner(spec: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    inner = spec.get("template", {}).get("spec", {})
    yield from inner.items()
    yield from inner.get("bootstrap", {}).items()
