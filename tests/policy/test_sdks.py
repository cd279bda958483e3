"""The installed SDKs and the upstream CRDs hold no field or type that the pack has not been told about."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pulumi
import pulumi_hcloud
import pulumi_proxmoxve
import pytest
import yaml
from pulumi import _types
from tenant_isolation import kubernetes, proxmox
from tenant_isolation.judgement import HCLOUD_TYPES, problems
from tenant_isolation.table import table
from tenant_isolation.verdicts import Case, Provider, Resource

from tests.policy.examples import CONFIG, HCLOUD, PROXMOX

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

CRDS = Path(__file__).parents[3] / "shared" / "crds"
GUEST_INPUTS = {"network_devices", "network_interfaces", "networks", "network", "clone", "vm_id", "cpu"}


def fields(args: type) -> set[str]:
    return set(_types.input_type_py_to_pulumi_names(args).values())


def resources(package: ModuleType) -> Iterator[tuple[str, type[pulumi.CustomResource]]]:
    """Give every resource of an SDK by its type token."""
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(found.name)
        for _, cls in inspect.getmembers(module, inspect.isclass):
            if issubclass(cls, pulumi.CustomResource) and cls.__module__ == found.name and hasattr(cls, "pulumi_type"):
                yield cls.pulumi_type, cls


ALL = {**dict(resources(pulumi_proxmoxve)), **dict(resources(pulumi_hcloud))}


def refused(token: str, stack: str) -> bool:
    known = table(CONFIG)
    type_, props = HCLOUD if token.startswith("hcloud") else PROXMOX
    resource = Resource(token, "x", {"contentType": "iso"}, Provider(type_, "explicit", props))
    return bool(problems(Case(resource, known.stacks[stack], known)))


def test_every_input_of_a_vm_is_classified() -> None:
    classified = [proxmox.JUDGED_FIELDS, proxmox.OTHER_FIELDS, proxmox.REFUSED_FIELDS.keys()]
    assert set().union(*classified) == fields(pulumi_proxmoxve.VmLegacyArgs)
    assert sum(map(len, classified)) == len(set().union(*classified))
    assert fields(pulumi_proxmoxve.VmLegacyNetworkDeviceArgs) == proxmox.NIC_FIELDS
    assert fields(pulumi_proxmoxve.VmLegacyCloneArgs) == proxmox.CLONE_FIELDS


def test_every_type_of_the_sdks_is_refused_in_a_tenants_stack_but_those_named() -> None:
    assert len(ALL) > 100
    named = {proxmox.FILE, *HCLOUD_TYPES}  # a VmLegacy without inputs is refused for what it lacks
    assert {token for token in ALL if not refused(token, "lab-globex")} == named


def test_every_type_with_the_inputs_of_a_guest_is_refused_in_an_environments_stack() -> None:
    known = {token for token in ALL if refused(token, "lab")}
    like_guests = {
        token
        for token, cls in ALL.items()
        if len(GUEST_INPUTS & inspect.signature(cls._internal_init).parameters.keys()) > 1  # type: ignore[attr-defined]  # every generated resource has it
        or "server_type" in inspect.signature(cls._internal_init).parameters  # type: ignore[attr-defined]  # likewise
    }
    assert proxmox.VM in like_guests
    assert "hcloud:index/server:Server" in like_guests
    assert like_guests <= known


def crd_networks() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Give the schema of the `network` of every kind that carries NICs, as (kind, version, schema)."""
    for path in sorted(CRDS.glob("*/proxmoxmachine*.yaml")):
        for crd in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            kind = crd["spec"]["names"]["kind"]
            for version in crd["spec"]["versions"]:
                schema = version["schema"]["openAPIV3Schema"]
                for step in (*kubernetes.SPEC_OF[kind], "network"):
                    schema = schema["properties"][step]
                yield kind, version["name"], schema["properties"]


@pytest.mark.shared
def test_every_field_of_a_nic_in_the_crds_is_known() -> None:
    seen = list(crd_networks())
    assert {(kind, version) for kind, version, _ in seen} == {
        (kind, version) for kind in kubernetes.SPEC_OF for version in kubernetes.VERSIONS
    }
    for _, _, network in seen:
        assert network.keys() <= set(kubernetes.NETWORK_FIELDS)
        nics = [network[field] for field in ("default", *kubernetes.LISTS) if field in network]
        for nic in nics:
            assert nic.get("items", nic)["properties"].keys() <= kubernetes.NIC_FIELDS
