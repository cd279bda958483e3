"""What holds for the objects of every legal environment."""

from __future__ import annotations

import time
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from manifests.crd import crd, table_crd
from manifests.generations import KINDS
from manifests.render import files, manifests
from settings.environment import Environment
from settings.stack import EnvironmentSettings, TenantSettings
from settings.tenant import CapiProxmoxPool, TenantStack
from tests.conftest import CRDS
from tests.manifests.examples import tenant
from tests.manifests.strict import Definitions
from tests.strategies import ENVIRONMENT, Settings, environments

if TYPE_CHECKING:
    from random import Random

    from manifests.manifest import Manifest

Drawn = tuple[Settings, dict[str, Settings]]


def stacks(drawn: Drawn) -> dict[str, EnvironmentSettings | TenantSettings]:
    environment = Environment.model_validate(drawn[0])
    found: dict[str, EnvironmentSettings | TenantSettings] = {
        ENVIRONMENT: EnvironmentSettings(ENVIRONMENT, environment)
    }
    for stack, body in drawn[1].items():
        clusters = TenantStack.model_validate(body).clusters
        name = stack.partition("-")[2]
        found[stack] = TenantSettings(stack, ENVIRONMENT, name, environment, clusters)
    return found


def rendered(drawn: Drawn) -> dict[str, dict[str, str]]:
    return {stack: files(stack, manifests(found)) for stack, found in stacks(drawn).items()}


def objects(drawn: Drawn) -> list[Manifest]:
    return [item for found in stacks(drawn).values() for item in manifests(found)]


def shuffled(value: Any, random: Random) -> Any:
    if not isinstance(value, dict):
        return value
    keys = list(value)
    random.shuffle(keys)
    return {key: shuffled(value[key], random) for key in keys}


@settings(max_examples=30)
@given(environments(), st.randoms(use_true_random=False))
def test_the_order_of_maps_changes_no_byte(drawn: Drawn, random: Random) -> None:
    other = (shuffled(drawn[0], random), {stack: shuffled(body, random) for stack, body in drawn[1].items()})
    assert rendered(drawn) == rendered(other)


@settings(max_examples=30)
@given(environments())
def test_every_nic_is_on_a_row_of_its_own_namespace_and_every_pool_is_a_row(drawn: Drawn) -> None:
    found = objects(drawn)
    rows = {
        (item.body["spec"]["bridge"], row["vlan"], row["pool"]): row
        for item in found
        if item.kind == "ProxmoxNetworkZone"
        for row in item.body["spec"]["networks"]
    }
    for item in found:
        if item.kind == "ProxmoxMachineTemplate":
            nic = item.body["spec"]["template"]["spec"]["network"]["default"]
            assert rows[nic["bridge"], nic["vlan"], nic["ipv4PoolRef"]["name"]]["namespace"] == item.namespace
    pools = {(item.namespace, item.body["metadata"]["name"]) for item in found if item.kind == "InClusterIPPool"}
    assert pools == {(row["namespace"], row["pool"]) for row in rows.values()}
    assert len(pools) == len(rows)


@settings(max_examples=30)
@given(environments())
def test_replicas_are_absent_exactly_where_an_autoscaler_decides(drawn: Drawn) -> None:
    for item in objects(drawn):
        if item.kind == "MachineDeployment":
            annotations = item.body["metadata"].get("annotations", {})
            limits = [key for key in annotations if key.endswith(("-min-size", "-max-size"))]
            assert len(limits) == (0 if "replicas" in item.body["spec"] else 2)
            capacity = [key for key in annotations if key.startswith("capacity.")]
            assert bool(capacity) == bool(limits)


@settings(max_examples=30)
@given(environments(), st.data())
def test_removing_a_pool_removes_its_own_objects_and_changes_no_other(drawn: Drawn, data: st.DataObject) -> None:
    pools = [
        (stack, cluster, pool)
        for stack, body in drawn[1].items()
        for cluster, chosen in body["clusters"].items()
        for pool in chosen["pools"]
    ]
    assume(pools)
    stack, cluster, pool = data.draw(st.sampled_from(pools))
    fewer = deepcopy(drawn)
    backend = fewer[1][stack]["clusters"][cluster]["pools"].pop(pool)["backend"]
    before, after = rendered(drawn), rendered(fewer)
    assert all(before[other] == after[other] for other in before if other != stack)
    assert after[stack].items() <= before[stack].items()
    assert len(before[stack]) - len(after[stack]) == (4 if backend == "capi-proxmox" else 0)


@pytest.mark.shared
@settings(max_examples=30)
@given(environments())
def test_every_object_is_accepted_by_the_upstream_definitions_strictly(drawn: Drawn) -> None:
    for item in objects(drawn):
        if item.kind in KINDS:
            assert _definitions().errors(item.body) == [], item.name


_FOUND: list[Definitions] = []


def _definitions() -> Definitions:
    if not _FOUND:
        _FOUND.append(Definitions(CRDS))
        _FOUND[0].add(crd().body)
        _FOUND[0].add(table_crd().body)
    return _FOUND[0]


def test_a_thousand_pools_are_rendered_within_three_seconds() -> None:
    settings_ = tenant("acme")
    chosen = settings_.clusters["prod"]
    lab = chosen.pools["lab"]
    assert isinstance(lab, CapiProxmoxPool)
    many = chosen.model_copy(update={"pools": {f"p{index}": lab for index in range(1024)}})
    stack = TenantSettings("lab-acme", "lab", "acme", settings_.environment, {"prod": many})
    begin = time.process_time()
    texts = files("lab-acme", manifests(stack))
    taken = time.process_time() - begin
    assert len(texts) == 3 + 4 * 1024
    assert taken < 3
