from __future__ import annotations

import copy
import functools
from typing import Any

import pytest

from manifests.crd import crd, table_crd
from manifests.generations import CAPI_1_10, CAPI_1_12, KINDS, api_version
from tests.conftest import CRDS
from tests.manifests.examples import of_environment, of_tenant
from tests.manifests.strict import Definitions

pytestmark = pytest.mark.shared
OURS = ("ProxmoxNetworkTable", "ProxmoxNetworkZone")


@functools.cache
def definitions() -> Definitions:
    found = Definitions(CRDS)
    found.add(crd().body)
    found.add(table_crd().body)
    return found


def custom(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [item.body for item in found.values() if item.kind in KINDS]


@pytest.mark.parametrize("stack", ["lab", "acme", "globex"])
def test_every_custom_object_of_the_lab_is_accepted_strictly(stack: str) -> None:
    bodies = custom(of_environment() if stack == "lab" else of_tenant(stack))
    assert len(bodies) >= 3
    for body in bodies:
        assert definitions().errors(body) == [], body["kind"]


def test_objects_with_every_optional_part_are_accepted_too() -> None:
    around = {"locations.lab.uplink": {"vswitch": 4001, "mtu": 1400}, "locations.lab.dnsServers": ["10.0.0.53"]}
    pool = "clusters.prod.pools.lab"
    fixed = {f"{pool}.scale": None, f"{pool}.replicas": 0, f"{pool}.taints": ["a:NoSchedule"]}
    for body in custom(of_tenant("acme", fixed, around)):
        assert definitions().errors(body) == [], body["kind"]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("network", "default", "vlans"), 1, "unknown field"),
        (("network", "default", "vlan"), 4095, "out of bounds"),
        (("memoryMiB",), 8191, "no multiple"),
        (("memoryMiB",), "8Gi", "no integer"),
        (("tags",), ["a", "a"], "twice"),
        (("tags",), [], "0 items"),
        (("network", "default"), {"vlan": 201}, "missing"),
        (("disks", "bootVolume", "sizeGb"), None, "no integer"),
    ],
)
def test_the_strict_reading_itself_refuses(path: tuple[str, ...], value: object, message: str) -> None:
    body = next(item for item in custom(of_tenant("acme")) if item["kind"] == "ProxmoxMachineTemplate")
    wrong = copy.deepcopy(body)
    at = wrong["spec"]["template"]["spec"]
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    assert any(message in error for error in definitions().errors(wrong))


@pytest.mark.parametrize("generation", [CAPI_1_10, CAPI_1_12])
def test_every_version_is_served_by_the_upstream_definitions_of_its_generation(generation: Any) -> None:
    served = Definitions(CRDS.parent / generation)
    for kind in KINDS:
        if kind not in OURS:
            body = {"apiVersion": api_version(kind, generation), "kind": kind, "metadata": {"namespace": "x"}}
            assert not [error for error in served.errors(body) if "no definition" in error], kind
