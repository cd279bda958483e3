"""The guard during an `up`: what is read before anything is registered, and what is waited for after a change.

Reading: the live zones, machines, addresses and definitions; what is in the way of the new table stops the run.
Waiting: a resource hook after each definition of the guard that was made or changed asks the API server, by dry runs,
until it judges by the new table; what depends on it comes only then.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pulumi

from manifests.isolation import isolation, policies
from manifests.policies import bridges
from manifests.policies.parts import BINDING, POLICY
from operations.api import Api, UnreadableError
from operations.canaries import policy_canaries, wait, zone_canaries
from operations.handing_out import draining
from operations.in_the_way import InTheWayError, in_the_way
from operations.live import read_live
from operations.opening import opened, opening
from operations.rendered import of_kind, plain
from settings.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from manifests.manifest import Manifest
    from operations.canaries import Canary
    from operations.live import Live
    from settings.stack import EnvironmentSettings

ZONE, TABLE = "ProxmoxNetworkZone", "ProxmoxNetworkTable"
AWAITED = (ZONE, TABLE, POLICY, BINDING)
"""Kinds whose change is waited for."""

LAST = bridges.NAME
"""The policy that comes after all others."""

THREADS = 4
"""Changes that are waited for at a time."""


class Guard:
    """The management cluster as it was before this run, and how to wait for what this run changes."""

    def __init__(self, settings: EnvironmentSettings, api: Api, live: Live) -> None:
        """Take the API server and what was there. `draining` names the rows whose pool must stay for now."""
        self._settings = settings
        self._api = api
        self._bindings = live.bindings
        self._policies = live.policies
        self._zones = {body["metadata"]["name"]: body for body in live.zones or ()}
        self.draining = draining(live, settings.environment)
        self._hook: pulumi.ResourceHook | None = None
        self._threads = ThreadPoolExecutor(THREADS, "guard")

    def kept(self, manifest: Manifest) -> dict[str, Any]:
        """Give a manifest's body; a binding that somebody opened stays open until it is closed by the same command."""
        how = opening(self._bindings.get(manifest.body["metadata"]["name"])) if manifest.kind == BINDING else None
        return opened(manifest.body, how) if how else manifest.body

    def hooks(self, manifest: Manifest) -> pulumi.ResourceHookBinding | None:
        """Give the hook that waits after this object's change; None for what nothing is waited for."""
        if manifest.kind not in AWAITED:
            return None
        if self._hook is None:
            self._hook = pulumi.ResourceHook("guard-in-force", self._wait)
        return pulumi.ResourceHookBinding(after_create=[self._hook], after_update=[self._hook])

    async def _wait(self, args: pulumi.ResourceHookArgs) -> None:
        # In threads of its own: those of the loop are all taken by registrations that wait for this very hook (seen).
        await asyncio.get_running_loop().run_in_executor(
            self._threads, lambda: wait(self._api, self.canaries(args.name, args.new_inputs, args.old_inputs))
        )

    def canaries(
        self, logical: str, new: Mapping[str, Any] | None, old: Mapping[str, Any] | None = None
    ) -> list[Canary]:
        """Give what is asked after a change of the object of that logical name, by its inputs.

        A policy that this run changes as well comes after the tables, and is asked about after its own change. Where
        this run changes all policies, as for another generation, those that still judge as before refuse some requests
        of the new kind; so the last policy asks about all of them once more.
        """
        kind, _, name = logical.partition("/")
        settings = self._settings
        if kind in (ZONE, TABLE):
            found = zone_canaries(settings, name, old) if kind == ZONE else self._of(self._by_table())
            return [canary for canary in found if not set(canary.policies) & self._changing]
        if kind == POLICY and name == LAST and name in self._changing:
            return self._of_policies(self._changing, sorted(settings.environment.zones))
        spec = (new or {}).get("spec") or {}
        policy = name if kind == POLICY else str(spec.get("policyName", ""))
        bound = str((spec.get("paramRef") or {}).get("name", ""))
        zones = [bound] if bound in settings.environment.zones else sorted(settings.environment.zones)
        others = frozenset(self._changing if LAST in self._changing else ())
        return [replace(canary, others=others) for canary in self._of_policies({policy}, zones)]

    def _of_policies(self, names: set[str], zones: list[str]) -> list[Canary]:
        """Give the canaries of policies; in zones those of the rows that this run changes, or of one of them."""
        zoned = (canary for zone in zones for canary in zone_canaries(self._settings, zone, self._zones.get(zone)))
        return [*self._of(names), *(canary for canary in zoned if names & set(canary.policies))]

    @cached_property
    def _changing(self) -> set[str]:
        """Name the policies that are there and that this run changes."""
        rendered = of_kind(isolation(self._settings), POLICY)
        live = {name: self._policies[name] for name in rendered if name in self._policies}
        return {name for name, body in live.items() if plain(body["spec"]) != plain(rendered[name].body["spec"])}

    @cached_property
    def _pairs(self) -> list[Canary]:
        """Every policy's canaries: those of a large environment take a second to write."""
        return policy_canaries(self._settings, policies(self._settings.environment.management.generation))

    def _of(self, names: Iterable[str]) -> list[Canary]:
        wanted = set(names)
        return [canary for canary in self._pairs if canary.binding in wanted]

    def _by_table(self) -> list[str]:
        """Name the policies whose parameter is the table of all rows."""
        return [
            str(body["spec"].get("policyName", ""))
            for body in self._bindings.values()
            if (body["spec"].get("paramRef") or {}).get("name") == "all"
        ]


async def prepare(settings: EnvironmentSettings) -> Guard | None:
    """Read the management cluster and stop where something is in the way of the environment's table.

    Raises InTheWayError with everything at once, at preview too: a pull request should show it. Only a cluster that can
    not be read is a mere warning there, since a preview may run where the cluster can't be reached.
    """
    context = settings.environment.management.context
    try:
        api = await asyncio.to_thread(Api, context)
        live = await asyncio.to_thread(read_live, api, settings.environment.zones)
    except UnreadableError as error:
        fix = "give this run the admin's kubeconfig, or find out why the API server does not answer; then run it again"
        problem = Problem("UNREADABLE", "management.context", context, str(error), fix)
        if not pulumi.runtime.is_dry_run():
            raise InTheWayError(settings.stack, [problem]) from None
        pulumi.warn(f"the live table was not compared: {problem}")
        return None
    problems = in_the_way(live, settings)
    if problems:
        raise InTheWayError(settings.stack, problems)
    for name, body in sorted(live.bindings.items()):
        how = opening(body)
        if how:
            overdue = "; its time is over" if how.overdue(datetime.now(UTC)) else ""
            pulumi.warn(f"binding {name} refuses nothing: {how}{overdue}. Close it: make break-glass … CLOSE=1")
    return Guard(settings, api, live)
