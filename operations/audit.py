"""The audit: whether the cluster refuses and admits what it must, and what stands in it that it would refuse today.

Reads, and asks by dry-run creates; nothing is changed.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from manifests.guard_cases import cases
from manifests.policies.parts import BINDING, POLICY
from operations.answers import answers, zone_answers
from operations.api import place
from operations.asking import ask, copy_of
from operations.controllers import controllers
from operations.finding import ANSWER, Finding
from operations.handed_over import handed_over
from operations.in_the_way import in_the_way
from operations.live import DEFINITIONS, read_live, served_and_stored
from operations.opening import opening
from operations.projects import projects
from operations.rendered import differing, guard_objects, of_kind, plain
from operations.secrets_left import secrets
from operations.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from operations.api import Api
    from operations.https import Servers
    from settings.stack import EnvironmentSettings

_TABLES = ("ProxmoxNetworkZone", "ProxmoxNetworkTable")


def audit(api: Api, settings: EnvironmentSettings, servers: Servers) -> list[Finding]:
    """Give the whole table; raises UnreadableError where the cluster can not be read at all.

    `servers` is where the infrastructure's own APIs are found.
    """
    live = read_live(api, settings.environment.zones)
    problems = in_the_way(live, settings)
    given = handed_over(api, settings)
    return [
        *(Finding("table", f"{item.code} {item.path}", "WRONG", f"{item.why}; fix: {item.fix}") for item in problems),
        *([] if problems else [Finding("table", "nothing is in the way of the environment's table", "ok")]),
        *_objects(api, settings),
        *bindings(settings, live.bindings, datetime.now(UTC)),
        *(Finding("capmox", *line) for line in controllers(api, settings.environment.management.controllers.capmox)),
        *answers(api, settings),
        *zone_answers(api, settings),
        *(Finding("secrets", *line) for line in secrets(api, settings)),
        *(Finding("token", *line) for line in tokens(settings, given, servers)),
        *(Finding("token", *line) for line in projects(settings, given, servers)),
        *unasked(settings, live.definitions),
        *_violations(api, settings, live.definitions),
    ]


def failed(findings: Iterable[Finding]) -> bool:
    """Say whether something goes the wrong way."""
    return any(item.outcome == "WRONG" for item in findings)


def bindings(settings: EnvironmentSettings, live: Mapping[str, Mapping[str, Any]], now: datetime) -> Iterator[Finding]:
    """Judge the bindings: each in place as the program writes it, none open."""
    wanted = of_kind(guard_objects(settings), BINDING)
    for name, manifest in sorted(wanted.items()):
        found = live.get(name)
        how = opening(found)
        if found is None:
            yield Finding("binding", name, "WRONG", "not in the cluster: nothing is enforced by it")
        elif how:
            late = ", and that is over" if how.overdue(now) else ""
            yield Finding("binding", name, "WRONG", f"{how}{late}")
        elif plain(found["spec"]) != plain(manifest.body["spec"]):
            detail = f"changed by hand: {differing(manifest.body['spec'], found['spec'])}"
            yield Finding("binding", name, "WRONG", detail)
        else:
            yield Finding("binding", name, "ok", ", ".join(found["spec"]["validationActions"]))


def _objects(api: Api, settings: EnvironmentSettings) -> Iterator[Finding]:
    """Compare definitions' owners, policies, tables with what the program writes."""
    for manifest in guard_objects(settings):
        if manifest.kind not in (POLICY, *_TABLES):
            continue
        name = manifest.body["metadata"]["name"]
        found = api.read(place(manifest.body))
        part = "policy" if manifest.kind == POLICY else "table"
        if found is None:
            yield Finding(part, name, "WRONG", "not in the cluster: run `pulumi up`")
        elif plain(found["spec"]) != plain(manifest.body["spec"]):
            detail = f"differs from the environment: {differing(manifest.body['spec'], found['spec'])}"
            yield Finding(part, name, "WRONG", detail)
        else:
            yield Finding(part, name, "ok")


def unasked(settings: EnvironmentSettings, definitions: Mapping[str, Mapping[str, Any] | None]) -> Iterator[Finding]:
    """Name the served versions of judged kinds in which no case is written: the API server converts them to another."""
    known = {case.body["apiVersion"] for case in cases(settings.environment, settings.stack)}
    for group, plural in sorted(_judged_kinds(settings)):
        definition = definitions.get(f"{plural}.{group}")
        if definition is None:
            continue
        served, _ = served_and_stored(dict(definition))
        for version in sorted(served):
            if f"{group}/{version}" not in known:
                detail = "no request is written in this version; the API server converts it before it judges"
                yield Finding("versions", f"{plural} {group}/{version}", "not checked", detail)


def _violations(
    api: Api, settings: EnvironmentSettings, definitions: Mapping[str, Mapping[str, Any] | None]
) -> Iterator[Finding]:
    """List what stands in the cluster and would be refused if it were made today."""
    policies = set(of_kind(guard_objects(settings), POLICY))
    judged = 0
    wrong = 0
    for group, plural in sorted(_judged_kinds(settings)):
        definition = definitions.get(f"{plural}.{group}") or api.read(f"{DEFINITIONS}/{plural}.{group}")
        if definition is None:
            continue
        served, stored = served_and_stored(dict(definition))
        version = stored if stored in served else max(served)
        for body in api.items(f"/apis/{group}/{version}/{plural}") or ():
            body.setdefault("apiVersion", f"{group}/{version}")
            body.setdefault("kind", definition["spec"]["names"]["kind"])
            verdict = ask(api, copy_of(body))
            judged += 1
            by = {policy for policy, _ in verdict.refused_by | verdict.warned_by} & policies
            what = f"{body['kind']} {body['metadata'].get('namespace', '')}/{body['metadata']['name']}"
            if by:
                wrong += 1
                detail = f"would be refused today, by {', '.join(sorted(by))}{ANSWER}{verdict.text}"
                yield Finding("in the cluster", what, "WRONG", detail)
            elif verdict.other:
                why = f"something else than the guard answered first, {verdict.other}"
                alike = f"{body['kind']} {body['metadata'].get('namespace', '')}: {why}"
                yield Finding("in the cluster", what, "not checked", f"{why}{ANSWER}{verdict.text}", alike)
    yield Finding("in the cluster", f"{judged} objects asked about", "ok", f"{wrong} would be refused today")


def _judged_kinds(settings: EnvironmentSettings) -> set[tuple[str, str]]:
    """Give group and plural of every custom kind that a policy judges."""
    return {
        (group, plural)
        for item in of_kind(guard_objects(settings), POLICY).values()
        for rule in item.body["spec"]["matchConstraints"]["resourceRules"]
        for group in rule["apiGroups"]
        for plural in rule["resources"]
        if group and "/" not in plural
    }
