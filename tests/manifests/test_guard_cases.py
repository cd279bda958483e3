"""The guard's cases: each refusal has its twin, every policy has both, and a real API server says what they say."""

from __future__ import annotations

import functools
import json
import ssl
import time
import urllib.error
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings

from lab import cluster as lab_cluster
from lab import conversion
from lab import crds as lab_crds
from manifests.common import SERVICE_ACCOUNT, tenant_namespaces
from manifests.crd import crd, table_crd
from manifests.generations import CAPI_1_10, CAPI_1_12, KINDS
from manifests.guard_cases import Case, cases
from manifests.isolation import policies
from manifests.render_guard import guard
from settings.environment import Environment
from tests.conftest import CRDS
from tests.manifests.examples import environment
from tests.manifests.strict import Definitions
from tests.strategies import environments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.cluster import Cluster
    from settings.environment import Generation
    from settings.stack import EnvironmentSettings

GENERATIONS: tuple[Generation, ...] = (CAPI_1_10, CAPI_1_12)
MORE: dict[str, Any] = {
    "management.openBridges": ["vmbr7"],
    "tenants.initech": {"namespace": "tenant-initech", "clusters": ["prod", "dev"]},
    "locations.lab.tenants.initech": {"vmIds": "2200-2299", "isoStorage": "iso-initech"},
    "zones.storage": {
        "bridge": "vmbr2",
        "locations": ["lab"],
        "networks": {
            "initech-lab": {
                "tenant": "initech",
                "location": "lab",
                "vlan": 201,
                "cidr": "10.203.0.0/24",
                "gateway": "10.203.0.1",
                "range": ["10.203.0.20-10.203.0.99", "10.203.0.120-10.203.0.199"],
            },
            "acme-storage": {
                "tenant": "acme",
                "location": "lab",
                "vlan": 202,
                "cidr": "10.204.0.0/24",
                "gateway": "10.204.0.1",
                "range": "10.204.0.20-10.204.0.199",
            },
        },
    },
}
"""Two zones, a tenant in both and two in one each, a network of two ranges, an open bridge."""


def settings(generation: Generation, **more: Any) -> EnvironmentSettings:
    return environment({**MORE, "management.generation": generation, **more})


@functools.cache
def known(generation: Generation) -> list[Case]:
    return cases(settings(generation).environment, "lab")


@pytest.mark.parametrize("generation", GENERATIONS)
def test_each_case_has_a_name_of_its_own_and_a_twin_of_the_other_verdict(generation: Generation) -> None:
    _check(known(generation))


def _check(found: list[Case]) -> None:
    by_name = {case.name: case for case in found}
    assert len(by_name) == len(found)
    for case in found:
        twin = by_name[case.twin]
        assert {case.verdict, twin.verdict} == {"admit", "deny"}
        assert (case.policy, case.generation) == (twin.policy, twin.generation)
        assert (case.operation == "update") == (case.old is not None)
        assert case.body["metadata"]["namespace"] == case.namespace
        assert len(case.body["metadata"]["name"]) <= 63
        if case.verdict == "admit":
            assert case.message is None
            assert case.also == ()
        if case.old is not None:
            assert case.old["metadata"]["name"] == case.body["metadata"]["name"]
            assert case.old["kind"] == case.body["kind"]
    made = [case.body["metadata"]["name"] for case in found if case.old and case.body["kind"] != "InClusterIPPool"]
    assert [name for name, times in Counter(made).items() if times > 1] == []


@pytest.mark.parametrize("generation", GENERATIONS)
def test_every_policy_has_cases_of_both_verdicts(generation: Generation) -> None:
    assert {case.policy for case in known(generation)} == set(policies(generation))
    assert {name for case in known(generation) for name in case.policies} == set(policies(generation))


@pytest.mark.parametrize("generation", GENERATIONS)
def test_every_tenant_with_a_network_has_cases_of_every_policy(generation: Generation) -> None:
    for namespace in ("tenant-acme", "tenant-globex", "tenant-initech"):
        found = {case.policy for case in known(generation) if case.namespace == namespace}
        assert found == set(policies(generation))


def test_the_older_version_is_asked_for_where_the_generation_serves_it() -> None:
    versions = [Counter(case.body["apiVersion"] for case in known(generation)) for generation in GENERATIONS]
    infrastructure = "infrastructure.cluster.x-k8s.io"
    assert f"{infrastructure}/v1alpha2" not in versions[0]
    assert versions[1][f"{infrastructure}/v1alpha1"] > 100
    assert versions[1][f"{infrastructure}/v1alpha2"] > 100


@pytest.mark.shared
@pytest.mark.parametrize("generation", GENERATIONS)
def test_every_object_is_one_that_the_upstream_definitions_accept(generation: Generation) -> None:
    definitions = Definitions(CRDS.parent / generation)
    for case in known(generation):
        for body in (case.body, case.old):
            if body is not None and body["kind"] in KINDS:
                assert definitions.errors(body) == [], case.name


@given(environments())
@hypothesis_settings(max_examples=15)
def test_any_environment_has_cases_with_twins_in_both_generations(drawn: tuple[dict[str, Any], Any]) -> None:
    model = Environment.model_validate(drawn[0])
    for generation in GENERATIONS:
        changed = model.management.model_copy(update={"generation": generation})
        found = cases(model.model_copy(update={"management": changed}), "lab")
        _check(found)
        owners = {
            model.tenants[row.tenant].namespace for zone in model.zones.values() for row in zone.networks.values()
        }
        assert {case.namespace for case in found} == (owners | {"default"} if owners else set())


def test_a_control_plane_has_the_ports_that_the_platform_can_serve() -> None:
    for served in (True, False):
        changes = {"management.kamajiServicePorts": served}
        found = cases(environment(changes).environment)
        planes = [case.body["spec"]["network"] for case in found if case.policy == "hybrid-control-planes"]
        assert all(("additionalServicePorts" in network) == served for network in planes)


def test_an_environment_without_networks_has_no_cases() -> None:
    assert cases(environment({"tenants": {}, "zones": {}, "locations": {}}).environment) == []


class Server:
    """An API server with the guard in mode `audit`: it lets everything pass, and says who would have refused it."""

    def __init__(self, cluster: Cluster, chosen: EnvironmentSettings) -> None:
        """Apply the guard."""
        self.cluster, self.chosen = cluster, chosen
        context = ssl.create_default_context(cadata=cluster.ca.decode())
        handlers = (urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
        self.opener = urllib.request.build_opener(*handlers)
        for item in guard(chosen):
            path = f"{_path(item.body)}?fieldManager=tests&force=true&fieldValidation=Strict"
            deadline = time.monotonic() + 30
            while (answer := cluster.request("PATCH", path, item.body, content_type="application/apply-patch+yaml"))[
                0
            ] == 404:
                assert time.monotonic() < deadline, answer
                time.sleep(0.1)
            assert answer[0] in (200, 201), answer

    def warnings(self, case: Case) -> str:
        """Send a case; give what the server warns of."""
        body = case.body
        if case.old is None:
            return self._send("POST", f"{_collection(body)}?dryRun=All&fieldValidation=Strict", body, case)
        status, there = self.cluster.request("GET", _path(body))
        if status == 404:
            status, there = self.cluster.request("POST", f"{_collection(body)}?fieldValidation=Strict", case.old)
            assert status == 201, there
            if case.deleting:
                there = self.cluster.request("DELETE", _path(body))[1]
                assert there["metadata"]["deletionTimestamp"]
        meta = {**body["metadata"], "resourceVersion": there["metadata"]["resourceVersion"]}
        meta.pop("deletionTimestamp", None)  # the server keeps its own
        return self._send("PUT", f"{_path(body)}?dryRun=All&fieldValidation=Strict", {**body, "metadata": meta}, case)

    def _send(self, method: str, path: str, body: dict[str, Any], case: Case) -> str:
        users = {
            "admin": "",
            "controller": self.chosen.environment.management.controllers.capmox,
            "tenant": f"system:serviceaccount:{case.namespace}:{SERVICE_ACCOUNT}",
        }
        headers = {"Authorization": f"Bearer {self.cluster.admin_token}", "Content-Type": "application/json"}
        if case.user != "admin":
            headers |= {"Impersonate-User": users[case.user], "Impersonate-Group": "system:masters"}
        asked = urllib.request.Request(  # noqa: S310 - the lab's own https address
            self.cluster.server + path, method=method, data=json.dumps(body).encode(), headers=headers
        )
        try:
            answer = self.opener.open(asked, timeout=30)
        except urllib.error.HTTPError as error:
            # One policy refuses in any mode.
            said: str = json.load(error)["message"]
            if "ValidatingAdmissionPolicy 'hybrid-tenant-secrets'" not in said:
                raise
            return said
        with answer:
            return "\n".join(answer.headers.get_all("Warning") or []).replace('\\"', '"')


def _collection(body: dict[str, Any]) -> str:
    version, kind = body["apiVersion"], body["kind"]
    plural = KINDS[kind].plural if kind in KINDS else f"{kind.lower()}s".replace("policys", "policies")
    meta = body["metadata"]
    below = f"/namespaces/{meta['namespace']}" if "namespace" in meta else ""
    return f"{'/api' if version == 'v1' else '/apis'}/{version}{below}/{plural}"


def _path(body: dict[str, Any]) -> str:
    return f"{_collection(body)}/{body['metadata']['name']}"


@pytest.fixture(scope="module", params=GENERATIONS)
def server(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    tools: None,  # noqa: ARG001 - built first
) -> Iterator[Server]:
    audit = {f"zones.{zone}.mode": "audit" for zone in ("workers", "storage")}
    chosen = settings(request.param, **{"management.guard": "audit", **audit})
    folder = tmp_path_factory.mktemp("cases")
    cluster = lab_cluster.start(folder)
    try:
        lab_crds.load(cluster, CRDS.parent / request.param, lambda _: None)
        lab_crds.namespaces(cluster, tenant_namespaces(chosen.environment))
        with ExitStack() as stack:
            if request.param == CAPI_1_12:
                conversion.install(cluster, stack.enter_context(conversion.serving(folder, cluster.ca)))
            yield Server(cluster, chosen)
    finally:
        lab_cluster.stop(folder)


@pytest.mark.lab
@pytest.mark.shared
def test_exactly_the_named_policies_would_refuse_a_request(server: Server) -> None:
    generation = server.chosen.environment.management.generation
    found = cases(server.chosen.environment, "lab")
    last = next(case for case in reversed(found) if "hybrid-closed-bridges" in case.policies and not case.old)
    probes = {case.policy: case for case in found if case.verdict == "deny" and not case.old} | {last.policy: last}
    deadline = time.monotonic() + 40
    while not all(server.warnings(case) for case in probes.values() if case.verdict == "deny"):
        assert time.monotonic() < deadline, "a binding does not come into effect"
        time.sleep(0.5)
    wrong = []
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(server.warnings, found))
    for case, said in zip(found, answers, strict=True):
        named = {policy for policy in policies(generation) if f"'{policy}'" in said}
        if named != (set(case.policies) if case.verdict == "deny" else set()):
            wrong.append(f"{case.name}: {sorted(named)}\n  {said}")
        elif case.message and case.message not in said:
            wrong.append(f"{case.name}: does not say {case.message}\n  {said}")
    assert wrong == []


def test_the_definitions_of_the_tables_are_there() -> None:
    names = {item.name for item in guard(settings(CAPI_1_10))}
    assert {f"CustomResourceDefinition/{each.body['metadata']['name']}" for each in (crd(), table_crd())} <= names
