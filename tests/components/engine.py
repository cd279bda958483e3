"""A recording engine: runs a program as the real one does, answers it, and keeps every whole request.

`run` runs a program to its end: an `up`, a `preview` before the first one (what a resource was given is known of it,
and nothing else), or with `unknown=True` a preview in which no output of any resource is known. Reads, whose answers
exist already, are always answered.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import zlib
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from unittest import mock

import pulumi
from google.protobuf import empty_pb2, json_format, struct_pb2
from pulumi.runtime import mocks, resource, settings, stack
from pulumi.runtime.config import set_all_config
from pulumi.runtime.proto import engine_pb2, resource_pb2, source_pb2
from pulumi.runtime.rpc import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

PROJECT = "hybrid"
ORGANIZATION = "organization"

_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"


@dataclass(frozen=True)
class Secret:
    """A value that the program marked as secret."""

    value: Any


@dataclass(frozen=True)
class Registration:
    """One resource as the program registered it. Names of other resources are their logical names.

    Inputs are the provider's own (camelCase); a secret one is a `Secret`, an unknown one `UNKNOWN`.
    """

    type: str
    name: str
    parent: str
    inputs: Mapping[str, Any]
    custom: bool
    provider: str
    depends_on: frozenset[str]
    aliases: frozenset[str]
    """Types under which the resource may have been registered before."""
    protect: bool
    ignore_changes: tuple[str, ...]
    secret_outputs: frozenset[str]
    delete_timeout: str
    deleted_with: str

    @property
    def key(self) -> tuple[str, str, str]:
        """Give type, logical name and parent's logical name."""
        return self.type, self.name, self.parent

    @property
    def is_provider(self) -> bool:
        """Say whether it is a provider."""
        return self.type.startswith("pulumi:providers:")

    @property
    def text(self) -> str:
        """Give everything about it, as text that is equal exactly when all of it is."""
        return json.dumps(self.__dict__, sort_keys=True, default=_in_text)


@dataclass(frozen=True)
class Read:
    """One read of something that exists, or one invoke (then `id` holds its arguments)."""

    type: str
    name: str
    id: Any
    provider: str


@dataclass
class Run:
    """Everything that a program said to the engine."""

    registrations: list[Registration] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    """Types of registrations and reads, in the order in which they came."""
    registered_outputs: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    """By logical name of the component; of the stack by its own."""
    warnings: list[str] = field(default_factory=list)
    error: pulumi.RunError | None = None
    raw: list[str] = field(default_factory=list)
    """Every request as it went over the wire, without what is marked as secret."""

    def __iter__(self) -> Iterator[Registration]:
        """Go through all registrations."""
        return iter(self.registrations)

    def __getitem__(self, name: str) -> Registration:
        """Give the one registration of a logical name."""
        (found,) = [item for item in self.registrations if item.name == name]
        return found

    def of(self, kind: str) -> list[Registration]:
        """Give the registrations whose type's last part is `kind`, sorted by name."""
        found = [item for item in self.registrations if item.type.rpartition(":")[2] == kind]
        return sorted(found, key=lambda item: item.name)

    @property
    def keys(self) -> set[tuple[str, str, str]]:
        """Give type, name and parent of every registration."""
        return {item.key for item in self.registrations}

    @property
    def texts(self) -> dict[str, str]:
        """Give every registration as text, by type and name."""
        return {f"{item.type} {item.name}": item.text for item in self.registrations}

    @property
    def outputs(self) -> Mapping[str, Any]:
        """Give the stack's outputs."""
        return next(value for name, value in self.registered_outputs.items() if name.startswith(f"{PROJECT}-"))


class Engine(mocks.MockMonitor):
    """Answers a program's requests and records them."""

    def __init__(self, reads: Mapping[str, Any], *, preview: bool, unknown: bool) -> None:
        """Take what reads give, by id: the state of the resource."""
        self.run = Run()
        self._reads = reads
        self._preview = preview
        self._unknown = unknown

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 - the protocol's name
        """Record a resource and answer with its inputs and what its provider would add, or with nothing known."""
        urn = self.make_urn(request.parent, request.type, request.name)
        if request.type == "pulumi:pulumi:Stack":
            return resource_pb2.RegisterResourceResponse(urn=urn)
        raw = json_format.MessageToDict(request.object)
        self.run.order.append(request.type)
        self.run.raw.append(json.dumps(_without_secrets(raw), sort_keys=True))
        self.run.registrations.append(
            Registration(
                type=request.type,
                name=request.name,
                parent=_name(request.parent),
                inputs=_plain(raw),
                custom=request.custom,
                provider=_provider(request.provider),
                depends_on=frozenset(_name(urn) for urn in request.dependencies),
                aliases=frozenset(alias.spec.type for alias in request.aliases),
                protect=request.protect,
                ignore_changes=tuple(request.ignoreChanges),
                secret_outputs=frozenset(request.additionalSecretOutputs),
                delete_timeout=request.customTimeouts.delete,
                deleted_with=_name(request.deletedWith),
            )
        )
        if self._unknown or not request.custom:
            return resource_pb2.RegisterResourceResponse(urn=urn)
        known = struct_pb2.Struct()
        if self._preview:
            known.update(raw)
            return resource_pb2.RegisterResourceResponse(urn=urn, object=known)
        known.update({**raw, **_added(request.type, raw, urn)})
        return resource_pb2.RegisterResourceResponse(urn=urn, id=_id(request.type, raw, urn), object=known)

    def ReadResource(self, request: Any) -> Any:  # noqa: N802 - the protocol's name
        """Record a read and answer it; one that was not foreseen fails, as the engine's would."""
        self.run.order.append(f"read {request.type}")
        self.run.reads.append(Read(request.type, request.name, request.id, _provider(request.provider)))
        if request.id not in self._reads:
            message = f"there is no {request.type} {request.id}"
            raise RuntimeError(message)
        state = struct_pb2.Struct()
        state.update(self._reads[request.id])
        urn = self.make_urn(request.parent, request.type, request.name)
        return resource_pb2.ReadResourceResponse(urn=urn, properties=state)

    def Invoke(self, request: Any) -> Any:  # noqa: N802 - the protocol's name
        """Record an invoke and answer it with an image."""
        self.run.reads.append(
            Read(request.tok, "", json_format.MessageToDict(request.args), _provider(request.provider))
        )
        if self._unknown:
            return resource_pb2.ResourceInvokeResponse(unknown=True)
        answer = struct_pb2.Struct()
        answer.update({"id": 4711})
        response = resource_pb2.ResourceInvokeResponse()
        getattr(response, "return").CopyFrom(answer)
        return response

    def RegisterResourceOutputs(self, request: Any) -> Any:  # noqa: N802 - the protocol's name
        """Record a component's outputs, or the stack's."""
        self.run.registered_outputs[_name(request.urn)] = _plain(json_format.MessageToDict(request.outputs))
        return empty_pb2.Empty()


class _AtOnce(ThreadPoolExecutor):
    """Answers in the caller's thread: the SDK hands each request to a thread, which costs more than the answer."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001 - the future carries it, as a thread's would
            future.set_exception(error)
        return future


class _Log:
    """Takes what the program logs."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def Log(self, request: Any) -> Any:  # noqa: N802 - the protocol's name
        if request.severity == engine_pb2.WARNING:
            self._run.warnings.append(request.message)
        return empty_pb2.Empty()


def run(  # noqa: PLR0913 - what a run depends on, each by keyword
    program: Callable[[], Any],
    *,
    stack_name: str,
    preview: bool = False,
    unknown: bool = False,
    reads: Mapping[str, Any] | None = None,
    config: Mapping[str, str] | None = None,
    secret_keys: list[str] | None = None,
) -> Run:
    """Run a program (its result, awaited if need be, is the stack's outputs) until nothing is left to do.

    A `pulumi.RunError`, which the engine prints without a trace, ends up in `Run.error`; any other is raised.
    """
    engine = Engine(reads or {}, preview=preview, unknown=unknown)

    async def entry() -> None:
        result = program()
        if inspect.isawaitable(result):
            result = await result
        for name, value in (result if isinstance(result, dict) else {}).items():
            pulumi.export(name, value)

    async def everything() -> None:
        asyncio.get_running_loop().set_default_executor(_AtOnce())
        set_all_config(dict(config or {}), secret_keys or [])
        settings.configure(
            mocks.MockSettings(  # type: ignore[no-untyped-call]  # the SDK's mocks are half typed
                monitor=engine,
                engine=_Log(engine.run),
                project=PROJECT,
                stack=stack_name,
                organization=ORGANIZATION,
                dry_run=preview or unknown,
                callbacks=None,
            )
        )
        await stack.run_in_stack(entry)

    # A task of its own is a context of its own: nothing of the SDK's settings outlives it. Source positions, which the
    # SDK takes from the whole stack for each resource, are a third of a run's time and nobody looks at them here.
    try:
        with mock.patch.object(resource, "_get_stack_trace", return_value=source_pb2.StackTrace()):
            asyncio.run(everything())
    except pulumi.RunError as error:
        engine.run.error = error
    return engine.run


def _name(urn: str) -> str:
    return urn.rpartition("::")[2]


def _provider(reference: str) -> str:
    """Give the logical name of a provider from `urn::id`."""
    return reference.split("::")[3] if reference else ""


def _id(kind: str, raw: Mapping[str, Any], urn: str) -> str:
    number = zlib.crc32(urn.encode()) % 1_000_000 + 1
    if kind.startswith("hcloud:index/networkSubnet:"):
        return f"{int(raw['networkId'])}-{raw['ipRange']}"
    if kind.startswith("proxmoxve:index/fileLegacy:"):
        return f"{raw['datastoreId']}:iso/{raw['sourceFile']['fileName']}"
    if kind.startswith("proxmoxve:user/token:"):
        return f"{raw['userId']}!{raw['tokenName']}"
    return str(number)


def _added(kind: str, raw: Mapping[str, Any], urn: str) -> dict[str, Any]:
    """Give what a provider adds to the inputs."""
    if kind.startswith("proxmoxve:user/token:"):
        uuid = f"00000000-0000-4000-8000-{zlib.crc32(urn.encode()):012x}"
        return {"value": _wrapped(f"{_id(kind, raw, urn)}={uuid}")}
    if kind.startswith("kubernetes:") and "metadata" in raw:
        return {"metadata": {**raw["metadata"], "uid": f"uid-{zlib.crc32(urn.encode()):08x}"}}
    return {}


def _wrapped(value: Any) -> dict[str, Any]:
    return {_SIGNATURE: _SECRET, "value": value}


def _is_secret(value: Any) -> bool:
    return isinstance(value, dict) and value.get(_SIGNATURE) == _SECRET


def _plain(value: Any) -> Any:
    if _is_secret(value):
        return Secret(_plain(value["value"]))
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def _without_secrets(value: Any) -> Any:
    if _is_secret(value):
        return "(secret)"
    if isinstance(value, dict):
        return {key: _without_secrets(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_secrets(item) for item in value]
    return value


def _in_text(value: Any) -> Any:
    if isinstance(value, Secret):
        return {"secret": value.value}
    return sorted(value)


def contains_unknown(value: Any) -> bool:
    """Say whether anything within a value is unknown."""
    if isinstance(value, Secret):
        return contains_unknown(value.value)
    if isinstance(value, dict):
        return any(contains_unknown(item) for item in value.values())
    if isinstance(value, list):
        return any(contains_unknown(item) for item in value)
    return bool(value == UNKNOWN)
