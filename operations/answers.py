"""What the API server answers to the requests that follow from the environment, and whether that is right."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from manifests.guard_cases import cases
from manifests.policies.parts import BINDING
from operations.asking import ask
from operations.canaries import user_of, zone_canaries
from operations.finding import ANSWER, Finding, Outcome
from operations.live import READERS
from operations.rendered import guard_objects, of_kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from manifests.guard_cases import Case
    from operations.api import Api
    from operations.asking import Verdict
    from settings.stack import EnvironmentSettings


def answers(api: Api, settings: EnvironmentSettings) -> Iterator[Finding]:
    """Ask the cases: counted by policy, namespace and version, with a row of its own for each that went wrong."""
    asked = [case for case in cases(settings.environment, settings.stack) if case.operation == "create"]
    enforced = {
        name: "Deny" in item.body["spec"]["validationActions"]
        for name, item in of_kind(guard_objects(settings), BINDING).items()
    }
    with ThreadPoolExecutor(READERS) as pool:
        verdicts = list(pool.map(lambda case: ask(api, case.body, user_of(case, settings)), asked))
    groups: dict[tuple[str, str, str], list[tuple[Case, Outcome, str]]] = {}
    for case, verdict in zip(asked, verdicts, strict=True):
        key = (case.policy, case.namespace, case.body["apiVersion"])
        groups.setdefault(key, []).append((case, *answered(case, verdict, enforced)))
    for (policy, namespace, version), judged in sorted(groups.items()):
        what = f"{namespace} {version}"
        good = [case.verdict for case, outcome, _ in judged if outcome == "ok"]
        if good:
            counted = f"{good.count('deny')} refused, {good.count('admit')} admitted as they must be"
            yield Finding(policy, what, "ok", counted)
        for case, outcome, detail in judged:
            if outcome != "ok":
                why = detail.partition(ANSWER)[0]
                yield Finding(policy, f"{what}: {case.name}", outcome, detail, f"{what}: {why}")


def zone_answers(api: Api, settings: EnvironmentSettings) -> Iterator[Finding]:
    """Ask about a row of each zone: its owner's NIC and somebody else's, its own pool and another of its name."""
    for zone in sorted(settings.environment.zones):
        enforced = settings.environment.zones[zone].mode == "enforce"
        for canary in zone_canaries(settings, zone):
            verdict = ask(api, canary.body, canary.user)
            must = f"must be {'refused' if canary.refused else 'admitted'}"
            what = f"zone {zone}: {canary.text}"
            if verdict.other:
                detail = f"{must}; something else than the guard answered first, {verdict.other}{ANSWER}{verdict.text}"
                yield Finding(canary.policies[0], what, "not checked", detail)
            elif canary.answered(verdict, enforced=enforced):
                yield Finding(
                    canary.policies[0], what, "ok", f"{must}{'' if enforced else ' (a warning, by its mode)'}"
                )
            else:
                was = "was refused" if verdict.refused_by else "was admitted"
                was += " with a warning" if verdict.warned_by and not verdict.refused_by else ""
                detail = f"{must}, {was}" + (f"{ANSWER}{verdict.text}" if verdict.text else "")
                yield Finding(canary.policies[0], what, "WRONG", detail)


def answered(case: Case, verdict: Verdict, enforced: Mapping[str, bool]) -> tuple[Outcome, str]:
    """Judge an answer to a case: `enforced` says of each binding whether the environment wants it to refuse."""
    refused = {binding for _, binding in verdict.refused_by}
    warned = {binding for policy, binding in verdict.warned_by if case.verdict == "admit" or policy in case.policies}
    outcome: Outcome = "WRONG"
    if not verdict.ready:
        why = "the API server can not judge yet"
    elif verdict.other:
        outcome, why = "not checked", f"something else than the guard answered first, {verdict.other}"
    elif case.verdict == "admit" and refused | warned:
        was = f"refused by {_names(refused)}" if refused else f"warned about by {_names(warned)}"
        why = f"must be admitted, was {was}"
    elif case.verdict == "admit" or refused:
        return "ok", ""  # several may refuse it, and the API server names one of them
    elif warned and not any(enforced.get(name, True) for name in warned):
        return "ok", "warned only, as the environment's mode says"
    else:
        return "WRONG", "must be refused, was admitted" + (f" with a warning by {_names(warned)}" if warned else "")
    return outcome, f"{why}{ANSWER}{verdict.text}"


def _names(bindings: Iterable[str]) -> str:
    return ", ".join(sorted(bindings))
