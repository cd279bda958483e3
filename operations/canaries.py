"""Requests that tell whether the API server judges by the new table yet, and waiting until it does.

A canary is a dry-run create: one that must be refused by a policy of that name, and its twin that this policy must let
pass. The API server sees a changed policy, binding or table a moment after it was written, and after its own start up
to half a minute later.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from manifests.common import ADMISSION, SERVICE_ACCOUNT
from manifests.generations import version
from manifests.guard_cases import cases
from manifests.guard_cases.bodies import machine, machine_spec, own_nic, pool, ref
from manifests.guard_cases.world import NOBODY, World
from manifests.isolation import ZONE_POLICIES
from manifests.policies import machines, pools
from manifests.policies.parts import BINDING
from manifests.zone import has_row_pools
from operations.api import UnreadableError, collection
from operations.asking import NO_IMPERSONATION, NO_NAMESPACE, ask
from operations.live import rows_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from manifests.guard_cases import Case
    from operations.api import Api
    from operations.asking import Verdict
    from operations.live import LiveRow
    from settings.stack import EnvironmentSettings
    from settings.table import Row

LIMIT, PAUSE = 90.0, 0.5
"""Seconds: how long to wait, and between two looks."""

ROWS = 8
"""Changed rows of a zone that are asked about."""

_TEMPLATE = "ProxmoxMachineTemplate"


class NotInForceError(RuntimeError):
    """The API server does not judge by the new table within the time limit."""


@dataclass(frozen=True)
class Canary:
    """One request: whether the binding must refuse it (one in audit mode: must warn of it), or must let it pass."""

    text: str
    policies: tuple[str, ...]
    binding: str
    refused: bool
    body: Mapping[str, Any]
    user: str | None = None
    others: frozenset[str] = frozenset()
    """Policies whose refusal hides this one's for now: the API server names one of several."""

    def answered(self, verdict: Verdict, *, enforced: bool = True) -> bool:
        """Say whether the answer is the one that must come from a binding that is `enforced`, or only warns."""
        if not verdict.ready:
            return False
        if verdict.other == NO_NAMESPACE or (self.user and verdict.other == NO_IMPERSONATION):
            return True  # nothing can be made there, or nothing be asked; the audit says which was not checked
        if self.refused and verdict.refusing(self.others):
            return True
        if self.refused:
            return verdict.refusing(self.policies) if enforced else verdict.warning(self.policies)
        return not (verdict.refusing(self.policies) or verdict.warning(self.policies))


def user_of(case: Case, settings: EnvironmentSettings) -> str | None:
    """Name whom a case's request comes from, None for the administrator who asks."""
    if case.user == "controller":
        return settings.environment.management.controllers.capmox
    if case.user == "tenant":
        return f"system:serviceaccount:{case.namespace}:{SERVICE_ACCOUNT}"
    return None


def policy_canaries(settings: EnvironmentSettings, policies: Iterable[str]) -> list[Canary]:
    """Give a refusal and its twin for each policy that has no binding per zone."""
    wanted = set(policies) - set(ZONE_POLICIES)
    if not wanted:
        return []
    every = sorted(cases(settings.environment, settings.stack), key=lambda case: case.user != "admin")
    known = {case.name: case for case in every}
    found: dict[str, list[Canary]] = {}
    for case in known.values():
        twin = known.get(case.twin)
        if case.policy not in wanted or case.policy in found or case.verdict != "deny":
            continue
        if twin is None or "update" in (case.operation, twin.operation):
            continue
        found[case.policy] = [
            Canary(each.name, case.policies, case.policy, each is case, each.body, user_of(each, settings))
            for each in (case, twin)
        ]
    return [canary for pair in found.values() for canary in pair]


def zone_canaries(settings: EnvironmentSettings, zone: str, before: Mapping[str, Any] | None = None) -> list[Canary]:
    """Give refusals and twins on the rows of a zone that differ from those of the zone object `before`.

    Without it, or where no row differs, the zone's first row is asked about.
    """
    old = {row.vlan: row for row in rows_of({"metadata": {"name": zone}, **before})} if before else {}
    own = {row.vlan: row for row in settings.rows.values() if row.zone == zone}
    changed = [row for vlan, row in sorted(own.items()) if not _same(row, old.get(vlan))] if old else []
    gone = [row for vlan, row in sorted(old.items()) if vlan not in own or own[vlan].namespace != row.namespace]
    world = World(
        settings.environment, settings.stack, version("ProxmoxMachine", settings.environment.management.generation)
    )
    asked = changed[:ROWS] or ([] if gone else [own[vlan] for vlan in sorted(own)][:1])
    return [
        *(canary for row in asked for canary in _row_canaries(world, row, old.get(row.vlan))),
        *(_gone_canary(world, row) for row in gone[:ROWS] if world.rows),
    ]


def wait(api: Api, canaries: Iterable[Canary], pause: Callable[[float], None] = time.sleep) -> float:
    """Ask until every canary is answered as it must be, and give the seconds that it took.

    Canaries of bindings that are not in the cluster are left out: nothing is enforced by them yet. Raises
    NotInForceError after the time limit.
    """
    began = time.monotonic()
    found = api.items(collection(ADMISSION, BINDING)) or ()
    live = {body["metadata"]["name"]: "Deny" in body["spec"].get("validationActions", ()) for body in found}
    waiting = [canary for canary in canaries if canary.binding in live]
    said = ""
    while waiting:
        try:
            verdicts: list[tuple[Canary, Verdict | None]] = [
                (canary, ask(api, canary.body, canary.user)) for canary in waiting
            ]
        except UnreadableError as error:
            verdicts, said = [(canary, None) for canary in waiting], str(error)
        left = [
            (canary, verdict)
            for canary, verdict in verdicts
            if verdict is None or not canary.answered(verdict, enforced=live[canary.binding])
        ]
        waiting = [canary for canary, _ in left]
        if waiting and time.monotonic() - began > LIMIT:
            canary, verdict = left[0]
            must = "refuse" if canary.refused else "let pass"
            what = said if verdict is None else (verdict.text or "it passes")
            message = (
                f"the API server does not judge by the new table after {LIMIT:.0f} s: {canary.binding} must {must} "
                f"“{canary.text}”; its answer: {what}. See docs/guard.md; `make audit` shows what is in force"
            )
            raise NotInForceError(message)
        if waiting:
            pause(PAUSE)
    return time.monotonic() - began


def _row_canaries(world: World, row: Row, old: LiveRow | None) -> list[Canary]:
    binding = f"{machines.NAME}-{row.zone}"
    spec = machine_spec(world, row, [own_nic(world, row)])
    where = f"VLAN {row.vlan} on {row.bridge}"
    name = f"canary-{row.name}"[:63]
    found = [
        Canary(
            f"{where} in namespace {namespace}",
            (machines.NAME,),
            binding,
            namespace != row.namespace,
            machine(world, _TEMPLATE, namespace, spec, name=name),
        )
        for namespace in (row.namespace, NOBODY)
    ]
    if has_row_pools(world.generation):
        pools_binding = f"{pools.NAME}-{row.zone}"
        wrong = list(old.addresses) if old and list(old.addresses) != row.addresses else [str(row.gateway)]
        found += [
            Canary(
                f"pool {row.namespace}/{row.name} with addresses {', '.join(addresses)}",
                (pools.NAME,),
                pools_binding,
                addresses != row.addresses,
                pool(world, row.namespace, row.name, addresses, row),
            )
            for addresses in (row.addresses, wrong)
        ]
    return found


def _gone_canary(world: World, row: LiveRow) -> Canary:
    some = next((each for each in world.rows if each.namespace == row.namespace), world.rows[0])
    nic = own_nic(world, some).but(bridge=row.bridge, vlan=row.vlan, v4=ref(row.pool))
    body = machine(world, _TEMPLATE, row.namespace, machine_spec(world, some, [nic]), name=f"canary-{row.name}"[:63])
    text = f"VLAN {row.vlan} on {row.bridge} in namespace {row.namespace}, which no longer has it"
    return Canary(text, (machines.NAME,), f"{machines.NAME}-{row.zone}", refused=True, body=body)


def _same(row: Row, old: LiveRow | None) -> bool:
    return old is not None and (old.namespace, old.pool, list(old.addresses)) == (
        row.namespace,
        row.name,
        row.addresses,
    )
