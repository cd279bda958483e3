"""The audit on real API servers of both generations, guarded and with holes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from manifests.guard_cases import cases
from manifests.isolation import policies
from operations.api import Api as Reader
from operations.audit import audit
from operations.https import Servers
from tests.manifests.examples import environment
from tests.manifests.live import until
from tests.manifests.shapes import CHANGES

if TYPE_CHECKING:
    from pathlib import Path

    from manifests.guard_cases import Case
    from operations.finding import Finding
    from settings.stack import EnvironmentSettings
    from tests.manifests.live import Api

pytestmark = [pytest.mark.lab, pytest.mark.shared]

STANDING = "in the cluster"  # what other tests of this server left there


@pytest.fixture
def settings(guarded: Api) -> EnvironmentSettings:
    return environment({**CHANGES, "management.generation": guarded.generation})


@pytest.fixture
def reader(guarded: Api, tmp_path: Path) -> Reader:
    file = tmp_path / "kubeconfig"
    file.write_text(json.dumps(guarded.cluster.kubeconfig("admin")))
    return Reader("admin", file)


def audited(guarded: Api, settings: EnvironmentSettings, reader: Reader) -> list[Finding]:
    """Audit, and leave out requests in the older version: these servers have no webhook that converts them."""
    older = "/v1alpha1: " if guarded.generation == "capi-1.12" else "nothing"
    left_out = (STANDING, "token")  # no environment was run here, so nobody has a token
    found = audit(reader, settings, Servers())
    return [item for item in found if item.part not in left_out and older not in item.what]


def wrong(findings: list[Finding]) -> list[Finding]:
    return [item for item in findings if item.outcome == "WRONG"]


def test_a_guarded_cluster_answers_every_case_as_it_must(
    guarded: Api, settings: EnvironmentSettings, reader: Reader
) -> None:
    findings = audited(guarded, settings, reader)
    assert wrong(findings) == []
    right = {item.part for item in findings if item.outcome == "ok"}
    own = set(policies(guarded.generation)) - ({"hybrid-pools"} if guarded.generation == "capi-1.12" else set())
    assert right >= {*own, "policy", "binding", "table"}
    assert {item.part for item in findings if item.outcome == "not checked"} <= {"capmox", "versions"}
    version = "v1alpha1" if guarded.generation == "capi-1.10" else "v1alpha2"
    asked = {item.what.split()[1] for item in findings if item.part == "hybrid-machines"}
    assert f"infrastructure.cluster.x-k8s.io/{version}" in asked


def test_a_binding_that_is_not_there_is_found_by_its_absence_and_by_what_passes(
    guarded: Api, settings: EnvironmentSettings, reader: Reader
) -> None:
    name = "hybrid-zone-machines-workers"
    body = guarded.environment[f"ValidatingAdmissionPolicyBinding/{name}"].body
    foreign = next(item for item in _cases(settings) if item.policy == "hybrid-zone-machines" and "vmbr1" in item.name)
    assert guarded.delete(body) == 200
    try:
        until(lambda: guarded.refusal(foreign.body), lambda said: not said)
        found = wrong(audited(guarded, settings, reader))
    finally:
        assert guarded.apply(body)[0] in (200, 201)
    until(lambda: guarded.refusal(foreign.body), lambda said: name in said)
    assert {item.part for item in found} == {"binding", "hybrid-zone-machines"}
    assert any(item.detail == "must be refused, was admitted" for item in found)


def test_an_audit_only_reads_and_asks_by_dry_runs(
    settings: EnvironmentSettings, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[str, object]] = []
    request = reader.request

    def recorded(method: str, path: str, *more: Any, query: Any = None, **how: Any) -> Any:
        sent.append((method, (query or {}).get("dryRun")))
        return request(method, path, *more, query=query, **how)

    monkeypatch.setattr(reader, "request", recorded)
    audit(reader, settings, Servers())
    assert set(sent) == {("GET", None), ("POST", "All")}


def _cases(settings: EnvironmentSettings) -> list[Case]:
    """Give requests that one policy alone refuses."""
    every = cases(settings.environment, "lab")
    return [item for item in every if item.operation == "create" and item.verdict == "deny" and not item.also]
