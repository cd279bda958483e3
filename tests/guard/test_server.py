"""A real API server says what the promise says of drawn requests, and judges by the largest tables in its budget."""

from __future__ import annotations

import copy
import functools
import json
from collections import Counter
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from lab import cluster as lab_cluster
from lab import crds as lab_crds
from manifests.generations import CAPI_1_12, GENERATIONS
from tests.guard.draws import Draw
from tests.guard.environments import full, objects
from tests.guard.promise import Promise
from tests.manifests.live import OK, UPSTREAM, Api, path_of, until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from settings.environment import Generation
    from tests.guard.offline import Request

pytestmark = [pytest.mark.lab, pytest.mark.shared]
Body = dict[str, Any]
CREATES, UPDATES = 240, 120
UPDATED = (
    "ProxmoxMachine",
    "ProxmoxMachineTemplate",
    "ProxmoxCluster",
    "ProxmoxClusterTemplate",
    "KamajiControlPlane",
    "Cluster",
    "MachineDeployment",
)
"""Kinds whose objects may have any name: the ones of before are made before the guard is there."""

ROWS = 512
NICS = 10


class Server:
    """An API server with the environment of a generation, and the drawn updates whose objects it took."""

    def __init__(self, api: Api, environment: Body, updates: list[tuple[Request, str]]) -> None:
        """Take what was made."""
        self.api = api
        self.environment = environment
        self.updates = updates

    def verdict(self, request: Request, version: str | None = None) -> tuple[str, str]:
        """Ask with a dry run: "admitted", "refused" or, for another reason than the guard's, "unsuitable"; and why."""
        body = copy.deepcopy(request.body)
        path, method = path_of(body), "PUT"
        if version is None:
            path, method = path.rpartition("/")[0], "POST"
        else:
            body["metadata"]["resourceVersion"] = version
        path += "?dryRun=All&fieldValidation=Strict"
        user = None if request.user == "admin" else request.user
        status, said = self.api.cluster.request(method, path, body, as_user=user)
        if status in (*OK, 409):  # a conflict of names is found after the guard was asked
            return "admitted", ""
        text = str(said["message"])
        return ("refused" if "ValidatingAdmissionPolicy '" in text else "unsuitable"), text


@pytest.fixture(scope="module", params=GENERATIONS)
def server(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    tools: None,  # noqa: ARG001 - built first
) -> Iterator[Server]:
    generation: Generation = request.param
    environment = full(generation)
    folder = tmp_path_factory.mktemp("guard")
    cluster = lab_cluster.start(folder)
    try:
        lab_crds.load(cluster, UPSTREAM / generation, lambda _: None)
        found = {item.name: item for item in objects(environment)}
        lab_crds.namespaces(
            cluster, sorted({item.namespace for item in found.values() if item.namespace} | {"platform"})
        )
        updates = []
        for index, drawn in enumerate(_drawn(environment, UPDATES, UPDATED, update=True)):
            named = _named(drawn, f"old-{index}")
            status, made = cluster.request("POST", path_of(named.body).rpartition("/")[0], named.old)
            if status == 201:
                updates.append((named, made["metadata"]["resourceVersion"]))
        api = Api(cluster, found, generation)
        api.give_tenants_secrets()
        server = Server(api, environment, updates)
        # Bindings become effective a moment after they were made; the one of the closed bridges was made last.
        until(functools.partial(api.refusal, _machine(server, {"bridge": "vmbr0"})), bool)
        until(functools.partial(api.refusal, _machine(server, {"vlan": 4000})), lambda said: "zone-machines" in said)
        yield server
    finally:
        lab_cluster.stop(folder)


def _drawn(environment: Body, count: int, kinds: tuple[str, ...], *, update: bool) -> list[Request]:
    """Draw requests of users whom the API server lets ask: of a tenant's own identity only Secrets."""
    draw = Draw(Random(7), environment)  # noqa: S311 - not for secrets
    found: list[Request] = []
    while len(found) < count:
        request = draw.request(kinds)
        of_tenant = request.user.endswith(":hybrid")
        if bool(request.old) == update and (not of_tenant or request.body["kind"] == "Secret"):
            found.append(replace(request, dry_run=True))
    return found


def _named(request: Request, name: str) -> Request:
    bodies = []
    for each in (request.body, request.old or {}):
        body = copy.deepcopy(each)
        body["metadata"]["name"] = name
        bodies.append(body)
    return replace(request, body=bodies[0], old=bodies[1])


def _machine(server: Server, nic: Body, count: int = 1) -> Body:
    """Give a template of acme with NICs on its first row of the zone `workers`, with something changed in the last."""
    newer = server.api.generation == CAPI_1_12
    row = {"bridge": "vmbr1", "vlan": 201, "model": "virtio"}
    ref = {"apiGroup": "ipam.cluster.x-k8s.io", "kind": "InClusterIPPool", "name": "acme-lab"}
    nics: list[Body] = [
        {"name": f"net{index}", **row, **({"ipPoolRef": [ref]} if newer else {"ipv4PoolRef": ref})}
        for index in range(count)
    ]
    if newer:
        del nics[0]["ipPoolRef"]
    nics[-1] |= nic
    network: Body = {"networkDevices": nics}
    if not newer:
        default = {key: value for key, value in nics[0].items() if key != "name"}
        network = {"default": default, **({"additionalDevices": nics[1:]} if nics[1:] else {})}
    spec = {
        "templateSelector": {"matchTags": ["talos", "v1.13.6"]},
        "storage": "ceph-vm",
        "pool": "lab-acme",
        "network": network,
    }
    return {
        "apiVersion": f"infrastructure.cluster.x-k8s.io/{'v1alpha2' if newer else 'v1alpha1'}",
        "kind": "ProxmoxMachineTemplate",
        "metadata": {"name": "large", "namespace": "tenant-acme"},
        "spec": {"template": {"spec": spec}},
    }


def test_a_real_server_says_what_the_promise_says(server: Server) -> None:
    promise = Promise(server.environment)
    creates: list[tuple[Request, str | None]] = [
        (request, None) for request in _drawn(server.environment, CREATES, (), update=False)
    ]
    seen: Counter[str] = Counter()
    for request, version in [*creates, *server.updates]:
        verdict, said = server.verdict(request, version)
        seen[f"{'update' if version else 'create'} {verdict}"] += 1
        if verdict != "unsuitable":
            assert (verdict == "refused") == bool(promise.broken(request)), (request, said)
            assert "resulted in error" not in said, said
    assert all(seen[f"{what} {verdict}"] >= 15 for what in ("create", "update") for verdict in ("admitted", "refused"))


def test_the_largest_tables_stay_within_the_servers_cost_limits(server: Server) -> None:
    api = server.api
    bodies = [item.body for item in api.environment.values()]
    tables = {}
    for kind, name in (("ProxmoxNetworkZone", "workers"), ("ProxmoxNetworkTable", "all")):
        tables[name] = next(body for body in bodies if body["kind"] == kind and body["metadata"]["name"] == name)
    large = copy.deepcopy(tables)
    free = ROWS - len(tables["workers"]["spec"]["networks"])
    for table in large.values():
        networks = table["spec"]["networks"]
        row = next(item for item in networks if item["name"] == "acme-lab")
        networks += [{**row, "name": f"n{vlan}", "vlan": vlan} for vlan in range(1000, 1000 + free)]
        if "pool" in row:
            for item in networks[-free:]:
                item["pool"] = item["name"]
    places = large["all"]["spec"]["places"]
    place = next(item for item in places if item["namespace"] == "tenant-acme")
    places += [{**place, "location": f"l{index}", "storage": "other"} for index in range(ROWS - len(places))]
    last = large["workers"]["spec"]["networks"][-1]
    nic: Body = {"vlan": last["vlan"]}
    ref = {"apiGroup": "ipam.cluster.x-k8s.io", "kind": "InClusterIPPool", "name": last["pool"]}
    nic |= {"ipPoolRef": [ref]} if api.generation == CAPI_1_12 else {"ipv4PoolRef": ref}
    own, foreign = _machine(server, nic, NICS), _machine(server, {**nic, "vlan": 202}, NICS)
    cluster = json.loads(json.dumps(own).replace("ProxmoxMachineTemplate", "ProxmoxCluster"))
    cluster["spec"] = {
        "dnsServers": ["10.0.0.1"],
        "credentialsRef": {"name": "pve-lab"},
        "ipv4Config": {"addresses": [last["addresses"][-1]], "gateway": last["gateway"], "prefix": last["prefix"]},
    }
    if api.generation != CAPI_1_12:
        cluster["spec"]["ipv4Config"]["addresses"] = [last["gateway"]]
    pool: dict[str, Any] = {
        "apiVersion": "ipam.cluster.x-k8s.io/v1alpha2",
        "kind": "InClusterIPPool",
        "metadata": {"name": last["pool"], "namespace": "tenant-acme"},
        "spec": {"addresses": last["addresses"], "gateway": last["gateway"], "prefix": last["prefix"]},
    }
    closed = {**pool, "metadata": {**pool["metadata"], "name": "unknown"}}
    try:
        for table in large.values():
            status, answer = api.apply(table)
            assert status == 200, answer
        # Naming all the allowed networks is more than a message may hold: the fixed text takes its place.
        until(functools.partial(api.refusal, own), lambda said: not said)
        said = api.refusal(foreign)
        assert "did not give this namespace" in said
        assert api.refusal(cluster) == ""
        until(functools.partial(api.refusal, pool), lambda said: not said)
        assert "'hybrid-pool-names'" in api.refusal(closed)
        wide = copy.deepcopy(own)
        wide["spec"]["template"]["spec"]["pool"] = "lab-globex"
        said = api.refusal(wide)
        assert "must be those that the platform gave" in said
    finally:
        for table in tables.values():
            assert api.apply(table)[0] == 200
