"""The guard's cases as tests of Chainsaw, a test runner for Kubernetes that needs nothing but an API server."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from manifests.common import SERVICE_ACCOUNT
from manifests.generations import KINDS, api_version
from manifests.manifest import named

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from manifests.guard_cases import Case
    from settings.environment import Environment

PLAIN, IDENTITIES, SCRATCH, CONVERTED = (
    "chainsaw",
    "chainsaw-identities",
    "chainsaw-scratch",
    "chainsaw-converted",
)
"""Suites: for any cluster with the guard; with requests of other users; with objects older than the guard; with
requests in an older version of the API, which a controller's webhook converts."""

CAPMOX = "capmox"
"""The name under which Chainsaw knows a kubeconfig of capmox's identity."""

_PAUSED = {"cluster.x-k8s.io/paused": "true"}
"""On objects that a test really makes: controllers leave them alone."""


def suites(cases: Iterable[Case], existing: Collection[str]) -> dict[str, list[dict[str, Any]]]:
    """Give the tests of each file by its path: "<suite>/<policy>/chainsaw-test.yaml".

    `existing` are the logical names of the guard's own objects: a test that changes one of them does not make it.
    In an older version only an administrator's requests are there, and none that needs an older object: conversion
    comes before all that those try. Objects that are being deleted are not tried: Chainsaw waits until one is gone.
    """
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for admitted, denied in _groups(cases):
        suite = _suite([admitted, *denied])
        if suite is None:
            continue
        found[f"{suite}/{admitted.policy}/chainsaw-test.yaml"].append(_test(admitted, denied, existing))
    return dict(found)


def objects_before(cases: Iterable[Case]) -> list[dict[str, Any]]:
    """Give the objects that must be made before the guard: it refuses them itself."""
    return [_paused(case.old) for case in cases if case.before and case.old and _suite([case]) == SCRATCH]


def users(cases: Iterable[Case], environment: Environment) -> dict[str, str]:
    """Give the users whose requests the suites send, by the name of the kubeconfig under which they do.

    A tenant's own identity is named like its namespace.
    """
    found = {}
    for case in cases:
        if case.user == "controller":
            found[CAPMOX] = environment.management.controllers.capmox
        elif case.user == "tenant":
            found[case.namespace] = f"system:serviceaccount:{case.namespace}:{SERVICE_ACCOUNT}"
    return found


def _groups(cases: Iterable[Case]) -> Iterator[tuple[Case, list[Case]]]:
    """Give each case that must pass with the refusals whose twin it is."""
    denied: dict[str, list[Case]] = defaultdict(list)
    by_name = {case.name: case for case in cases}
    for case in by_name.values():
        if case.verdict == "deny":
            denied[case.twin].append(case)
    for twin, group in denied.items():
        yield by_name[twin], group


def _suite(group: list[Case]) -> str | None:
    if any(case.deleting for case in group):
        return None
    first = group[0]
    if first.body["kind"] in KINDS and first.body["apiVersion"] != api_version(first.body["kind"], first.generation):
        return None if any(case.before or case.user != "admin" for case in group) else CONVERTED
    if any(case.before for case in group):
        return SCRATCH
    return IDENTITIES if any(case.user != "admin" for case in group) else PLAIN


def _test(admitted: Case, denied: list[Case], existing: Collection[str]) -> dict[str, Any]:
    digest = hashlib.sha256(admitted.name.encode()).hexdigest()[:10]
    steps = [
        {
            "name": "admitted" if case is admitted else "refused",
            "description": case.name,
            "try": list(_operations(case, existing)),
        }
        for case in (admitted, *denied)
    ]
    return {
        "apiVersion": "chainsaw.kyverno.io/v1alpha1",
        "kind": "Test",
        "metadata": {"name": f"{admitted.policy.removeprefix('hybrid-')}-{digest}"},
        "spec": {"description": admitted.name, "namespace": "default", "template": False, "steps": steps},
    }


def _operations(case: Case, existing: Collection[str]) -> Iterator[dict[str, Any]]:
    body = case.body
    if case.old is not None:
        made = named(body["kind"], body["metadata"]["name"], case.namespace) not in existing
        body = _paused(body) if made else body
        if made and not case.before:
            yield {"create": {"resource": _paused(case.old)}}
    operation: dict[str, Any] = {"dryRun": True, "resource": body}
    if case.user != "admin":
        operation["cluster"] = CAPMOX if case.user == "controller" else case.namespace
    if case.verdict == "deny":
        operation["expect"] = [{"check": _refusal(case)}]
    yield {case.operation: operation}


def _refusal(case: Case) -> dict[str, bool]:
    by = " || ".join(_said(f"ValidatingAdmissionPolicy '{policy}' ") for policy in case.policies)
    checks = {"($error != null)": True, f"({by})": True}
    if case.message:
        checks[f"({_said(case.message)})"] = True
    return checks


def _said(text: str) -> str:
    """Write the JMESPath expression that the error says a text."""
    quoted = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"contains($error, '{quoted}')"


def _paused(body: dict[str, Any]) -> dict[str, Any]:
    meta = body["metadata"]
    return {**body, "metadata": {**meta, "annotations": {**meta.get("annotations", {}), **_PAUSED}}}
