"""A small engine: what the real one asks of a plugin for one resource, in its order, over the real service class."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from google.protobuf import any_pb2
from google.rpc import status_pb2  # type: ignore[import-untyped]  # googleapis-common-protos ships no types
from pulumi.runtime.proto import provider_pb2

from lab.clouds.plugin import Plugin, load
from lab.clouds.values import UNKNOWN, from_wire, to_wire

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["UNKNOWN", "Engine", "Refused"]


class Refused(Exception):  # noqa: N818 - it is the outcome that tests ask for
    """The plugin refused; `kept` is what an error left in the state."""

    def __init__(self, message: str, kept: Any = None) -> None:
        """Take the message and what the engine would keep."""
        super().__init__(message)
        self.kept = kept


class _Context:
    def abort(self, _code: Any, details: str) -> NoReturn:
        raise Refused(details)

    def abort_with_status(self, status: Any) -> NoReturn:
        ((_, encoded),) = status.trailing_metadata
        detail = any_pb2.Any()
        detail.CopyFrom(status_pb2.Status.FromString(encoded).details[0])
        kept = provider_pb2.ErrorResourceInitFailed()
        assert detail.Unpack(kept)
        raise Refused(status.details, kept)


@dataclass
class Kept:
    """A resource in the state."""

    kind: str
    identity: str
    inputs: dict[str, Any]
    outputs: dict[str, Any]
    failed: bool = False


@dataclass
class Plan:
    """What a diff says."""

    step: str
    paths: dict[str, str] = field(default_factory=dict)
    delete_first: bool = False


class Engine:
    """One provider and the resources made with it."""

    def __init__(self, cloud: str, folder: Path, **arguments: Any) -> None:
        """Configure the plugin with the provider's arguments."""
        self.plugin = Plugin(load(cloud, {"HYBRID_LAB_CLOUDS": str(folder)}), None)
        self.folder = folder
        self.state: dict[str, Kept] = {}
        self.context = _Context()
        self.plugin.Configure(provider_pb2.ConfigureRequest(args=to_wire(arguments)), self.context)

    @staticmethod
    def urn(name: str, kind: str) -> str:
        """Return a resource's URN."""
        return f"urn:pulumi:dev::project::{kind}::{name}"

    def failures(self, kind: str, inputs: dict[str, Any]) -> list[tuple[str, str]]:
        """Return what the plugin's check refuses, as (path, reason)."""
        request = provider_pb2.CheckRequest(urn=self.urn("x", kind), news=to_wire(inputs))
        return [(failure.property, failure.reason) for failure in self.plugin.Check(request, self.context).failures]

    def _checked(self, name: str, kind: str, inputs: dict[str, Any]) -> dict[str, Any]:
        old = self.state[name].inputs if name in self.state else {}
        request = provider_pb2.CheckRequest(
            urn=self.urn(name, kind), olds=to_wire(old), news=to_wire(inputs), randomSeed=name.encode()
        )
        answer = self.plugin.Check(request, self.context)
        if answer.failures:
            raise Refused("; ".join(f"{failure.property}: {failure.reason}" for failure in answer.failures))
        return from_wire(answer.inputs)

    def plan(self, name: str, kind: str, inputs: dict[str, Any], ignore: Sequence[str] = ()) -> Plan:
        """Return what an `up` would do."""
        return self._plan(name, kind, self._checked(name, kind, inputs), ignore)

    def _plan(self, name: str, kind: str, inputs: dict[str, Any], ignore: Sequence[str]) -> Plan:
        kept = self.state.get(name)
        if kept is None:
            return Plan("create")
        request = provider_pb2.DiffRequest(
            id=kept.identity,
            urn=self.urn(name, kind),
            olds=to_wire(kept.outputs),
            news=to_wire(inputs),
            old_inputs=to_wire(kept.inputs),
            ignoreChanges=ignore,
        )
        diff = self.plugin.Diff(request, self.context)
        kinds = provider_pb2.PropertyDiff.Kind
        paths = {path: kinds.Name(each.kind) for path, each in diff.detailedDiff.items()}
        if diff.replaces:
            return Plan("replace", paths, diff.deleteBeforeReplace)
        return Plan("update" if kept.failed or diff.changes == diff.DIFF_SOME else "same", paths)

    def preview(self, name: str, kind: str, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the outputs that a preview of a creation shows."""
        request = provider_pb2.CreateRequest(
            urn=self.urn(name, kind), properties=to_wire(self._checked(name, kind, inputs)), preview=True
        )
        return from_wire(self.plugin.Create(request, self.context).properties)

    def up(self, name: str, kind: str, inputs: dict[str, Any], ignore: Sequence[str] = ()) -> str:
        """Do what the plan says; return its step (`create`, `same`, `update`, `replace`)."""
        checked = self._checked(name, kind, inputs)
        kept = self.state.get(name)
        if kept is not None:
            for top in ignore:  # the engine keeps the old inputs at ignored paths; here for whole properties only
                if top in kept.inputs:
                    checked[top] = kept.inputs[top]
        plan = self._plan(name, kind, checked, ignore)
        if plan.step == "create":
            self._create(name, kind, checked)
        elif plan.step == "update":
            self._update(name, kind, checked, ignore)
        elif plan.step == "replace" and plan.delete_first:
            self.destroy(name)
            self._create(name, kind, checked)
        elif plan.step == "replace":
            assert kept is not None
            self._create(name, kind, checked)
            self._delete(name, kept)
        return plan.step

    def _create(self, name: str, kind: str, inputs: dict[str, Any]) -> None:
        request = provider_pb2.CreateRequest(urn=self.urn(name, kind), properties=to_wire(inputs))
        try:
            answer = self.plugin.Create(request, self.context)
        except Refused as refusal:
            if refusal.kept is not None:
                outputs = from_wire(refusal.kept.properties)
                self.state[name] = Kept(kind, refusal.kept.id, inputs, outputs, failed=True)
            raise
        self.state[name] = Kept(kind, answer.id, inputs, from_wire(answer.properties))

    def _update(self, name: str, kind: str, inputs: dict[str, Any], ignore: Sequence[str]) -> None:
        kept = self.state[name]
        request = provider_pb2.UpdateRequest(
            id=kept.identity,
            urn=self.urn(name, kind),
            olds=to_wire(kept.outputs),
            news=to_wire(inputs),
            old_inputs=to_wire(kept.inputs),
            ignoreChanges=ignore,
        )
        try:
            answer = self.plugin.Update(request, self.context)
        except Refused as refusal:
            if refusal.kept is not None:
                outputs = from_wire(refusal.kept.properties)
                self.state[name] = Kept(kind, kept.identity, inputs, outputs, failed=True)
            raise
        self.state[name] = Kept(kind, kept.identity, inputs, from_wire(answer.properties))

    def refresh(self, name: str) -> bool:
        """Read; return whether the resource is still there."""
        kept = self.state[name]
        request = provider_pb2.ReadRequest(
            id=kept.identity,
            urn=self.urn(name, kept.kind),
            properties=to_wire(kept.outputs),
            inputs=to_wire(kept.inputs),
        )
        answer = self.plugin.Read(request, self.context)
        if not answer.id:
            del self.state[name]
            return False
        self.state[name] = Kept(kept.kind, answer.id, from_wire(answer.inputs), from_wire(answer.properties))
        return True

    def import_(self, name: str, kind: str, identity: str) -> bool:
        """Take over what is there; return whether something was found."""
        answer = self.plugin.Read(provider_pb2.ReadRequest(id=identity, urn=self.urn(name, kind)), self.context)
        if not answer.id:
            return False
        self.state[name] = Kept(kind, answer.id, from_wire(answer.inputs), from_wire(answer.properties))
        return True

    def destroy(self, name: str) -> None:
        """Delete a resource and forget it."""
        self._delete(name, self.state[name])
        del self.state[name]

    def _delete(self, name: str, kept: Kept) -> None:
        request = provider_pb2.DeleteRequest(
            id=kept.identity, urn=self.urn(name, kept.kind), properties=to_wire(kept.outputs)
        )
        self.plugin.Delete(request, self.context)
