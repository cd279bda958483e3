"""The pack against the guard: on the same drawn table and object, promise, policies and pack say the same.

The pack judges what a tenant's stack registers, so each drawn request is one of the tenant's own stack that creates.
It is stricter in a few things, all listed in `STRICTER`; a drawn object is first given what these ask for, so that
what is left is what all three judge. Direct VMs are no objects of the cluster: they are compared with the plainest
reading of the table.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tenant_isolation.policy import tenant_isolation

from manifests.policy_config import environment_config
from settings.environment import Environment
from settings.stack import EnvironmentSettings
from tests.guard.draws import Draw
from tests.guard.environments import drawn, full, guard
from tests.guard.offline import Request
from tests.guard.promise import Promise, nics
from tests.policy.analyzer import POLICY, UNKNOWN
from tests.policy.cases import Example
from tests.policy.examples import VM, kubernetes, nic, provider, vm
from tests.policy.offline import arguments, judged
from tests.strategies import ENVIRONMENT

if TYPE_CHECKING:
    from random import Random

    from tests.guard.offline import Worker

Body = dict[str, Any]
VALIDATE = tenant_isolation().validate
KINDS = ("ProxmoxMachine", "ProxmoxMachineTemplate", "ProxmoxCluster")
"""Kinds that a tenant's stack may register and the guard judges."""

REQUESTS = 12
LOOSE = settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])

STRICTER = {
    "vmIDRange": "the pack asks for ids of the tenant's; the guard does not judge ids",
    "allowedNodes": "the pack asks for nodes of the credentials' location; the guard does not know the location",
    "credentialsRef": "the pack wants those of one of the tenant's own locations, the guard those of any location",
    "location": "the pack wants NICs, storage and template of one location; the guard takes each for itself",
}
"""What the pack refuses and the guard does not, and so no part of the comparison."""


def config(environment: Body) -> Body:
    """Give the pack's config of a drawn environment."""
    found = environment_config(EnvironmentSettings(ENVIRONMENT, Environment.model_validate(environment)))
    rule: Body = found[POLICY]
    return rule


def comparable(promise: Promise, request: Request) -> Request | None:
    """Give the request as the tenant's stack makes it; None where only one of the two judges it."""
    owner = request.namespace
    places = [place for place in promise.places if place.namespace == owner]
    if owner not in promise.tenants or not places:
        return None
    body = copy.deepcopy(request.body)
    body["metadata"] = {key: value for key, value in body["metadata"].items() if key in ("name", "namespace")}
    user = f"system:serviceaccount:{owner}:hybrid"
    asked = Request(owner, "create", body, None, user)
    spec = body["spec"]["template"]["spec"] if body["kind"].endswith("Template") else body["spec"]
    if body["kind"] == "ProxmoxCluster":
        own = {f"pve-{place.location}" for place in places}
        name = spec.get("credentialsRef", {}).get("name")
        if name in promise.secrets and name not in own:
            spec["credentialsRef"]["name"] = min(own)
        return asked
    locations = {row.location for row in promise.rows for found in nics(spec) if _on(row, found, owner)}
    if len(locations) > 1:
        return None
    if locations:
        # The machine's other parts may be of any of the tenant's locations to the guard: give it the NIC's.
        (there,) = locations
        mine = [place for place in places if place.location == there]
        if not _is_of(promise, asked, mine) and _is_of(promise, asked, places):
            return None
    return asked


def _on(row: Any, found: Any, namespace: str) -> bool:
    return (row.namespace, row.bridge, row.vlan) == (namespace, found.bridge, found.vlan)


def _is_of(promise: Promise, request: Request, places: list[Any]) -> bool:
    """Say whether a machine is made of what one of these places has."""
    only = copy.copy(promise)
    only.places = places
    return not any("of no location" in item.why for item in only.broken(request))


def with_ids(request: Request, rule: Body, tenant: str, promise: Promise) -> Body:
    """Give the object with ids and nodes of the location that it is in, which the guard does not judge."""
    body = copy.deepcopy(request.body)
    spec = body["spec"]["template"]["spec"] if body["kind"].endswith("Template") else body["spec"]
    proxmox = {
        name: item
        for name, item in rule["locations"].items()
        if item["type"] == "proxmox" and tenant in item["tenants"]
    }
    if body["kind"] == "ProxmoxCluster":
        name = spec.get("credentialsRef", {}).get("name", "").removeprefix("pve-")
        spec["allowedNodes"] = proxmox.get(name, {"nodes": ["none"]})["nodes"]
        return body
    locations = {row.location for row in promise.rows for found in nics(spec) if _on(row, found, request.namespace)}
    mine = [
        place
        for place in promise.places
        if place.namespace == request.namespace
        and (not locations or place.location in locations)
        and _is_of(promise, request, [place])
    ]
    name = mine[0].location if mine else min(locations or proxmox)
    first, last = proxmox[name]["tenants"][tenant]["vmIds"]
    spec["vmIDRange"] = {"start": first, "end": last}
    return body


def compare(worker: Worker, environment: Body, requests: list[Request]) -> int:
    """Demand one verdict of all three; give the number of requests that were compared."""
    promise, rule = Promise(environment), config(environment)
    tenants = {tenant["namespace"]: name for name, tenant in environment["tenants"].items()}
    asked = [found for found in (comparable(promise, request) for request in requests) if found]
    for request, refusals in zip(asked, worker.judge(guard(environment), asked), strict=True):
        tenant = tenants[request.namespace]
        body = with_ids(request, rule, tenant, promise)
        stack = f"{ENVIRONMENT}-{tenant}"
        token = f"kubernetes:{body['apiVersion']}:{body['kind']}"
        said = judged(VALIDATE, arguments(Example("drawn", token, body, kubernetes(stack), stack), rule))
        broken = promise.broken(request)
        assert (bool(said), bool(refusals)) == (bool(broken), bool(broken)), (body, said, refusals, broken)
    return len(asked)


@LOOSE
@given(drawn(), st.randoms(use_true_random=False))
def test_pack_and_policies_and_promise_say_the_same(worker: Worker, environment: Body, random: Random) -> None:
    draw = Draw(random, environment)
    if not draw.promise.places:
        return
    compare(worker, environment, [draw.request(KINDS) for _ in range(REQUESTS)])


def test_most_of_what_is_drawn_is_compared(worker: Worker) -> None:
    from random import Random as Drawn  # noqa: PLC0415 - the name above is for types alone

    for generation in ("capi-1.10", "capi-1.12"):
        environment = full(generation)
        draw = Draw(Drawn(7), environment)  # noqa: S311 - not for secrets
        requests = [draw.request(KINDS) for _ in range(400)]
        verdicts = [bool(draw.promise.broken(request)) for request in requests]
        assert 40 < sum(verdicts) < 360
        assert compare(worker, environment, requests) > 150


BRIDGES = ("vmbr1", "vmbr2")
VLANS = (2, 3, 4)
odd_vlans = st.sampled_from([*VLANS, 0, 2.5, "2", None, UNKNOWN])
odd_bridges = st.sampled_from([*BRIDGES, "", "vmbr1,tag=3", None, UNKNOWN])
pairs = st.lists(
    st.tuples(odd_bridges, odd_vlans) | st.tuples(st.sampled_from(BRIDGES), st.sampled_from(VLANS)), max_size=4
)


@LOOSE
@given(environment=drawn(), asked=st.data())
def test_a_vm_passes_exactly_if_each_nic_is_a_row_of_its_tenant_in_its_location(
    environment: Body, asked: st.DataObject
) -> None:
    promise, rule = Promise(environment), config(environment)
    if not promise.places:
        return
    place = asked.draw(st.sampled_from(promise.places))
    rows = [(row.bridge, row.vlan) for row in promise.rows]
    tenant = next(name for name, item in environment["tenants"].items() if item["namespace"] == place.namespace)
    chosen = asked.draw(st.lists(st.sampled_from(rows), max_size=3) | pairs if rows else pairs)
    there = rule["locations"][place.location]
    first, _ = there["tenants"][tenant]["vmIds"]
    props = vm(
        vmId=first,
        poolId=place.pool,
        clone={"vmId": place.template, "retries": 1},
        disks=[{"interface": "scsi0", "datastoreId": place.storage}],
        cdrom={"fileId": f"{there['tenants'][tenant]['isoStorage']}:iso/x.iso"},
        networkDevices=[nic(vlan, bridge) for bridge, vlan in chosen],
    )
    stack = f"{ENVIRONMENT}-{tenant}"
    said = judged(VALIDATE, arguments(Example("drawn", VM, props, provider(there["endpoint"], tenant), stack), rule))
    own = {
        (row.bridge, row.vlan)
        for row in promise.rows
        if (row.namespace, row.location) == (place.namespace, place.location)
    }
    assert (not said) == (bool(chosen) and all(pair in own for pair in chosen)), (chosen, said)
