"""The gRPC service of a stand-in plugin: `pulumirpc.ResourceProvider` in front of the simulated resource types."""

import functools
import importlib
import json
import os
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import grpc  # type: ignore[import-untyped]  # grpcio ships no types
from google.protobuf import any_pb2, empty_pb2
from google.rpc import status_pb2  # type: ignore[import-untyped]  # googleapis-common-protos ships no types
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc, plugin_pb2, provider_pb2, provider_pb2_grpc

from lab.clouds import schema
from lab.clouds.changes import Change, without_ignored
from lab.clouds.cloud import Cloud
from lab.clouds.errors import CloudError, HalfDoneError
from lab.clouds.resource import Resource
from lab.clouds.state import ENVIRONMENT
from lab.clouds.values import from_wire, plain_secrets, to_wire
from lab.serving import OPTIONS, serve

_THREADS = 64
_KINDS = {"add": "ADD", "delete": "DELETE", "update": "UPDATE"}


class _Status(NamedTuple):
    """A gRPC status with details, as `ServicerContext.abort_with_status` takes it."""

    code: grpc.StatusCode
    details: str
    trailing_metadata: tuple[tuple[str, bytes], ...] = ()


def _refusals(method: Callable[..., Any]) -> Callable[..., Any]:
    """Turn a cloud's refusal into the error that the engine shows (or keeps, when something was made)."""

    @functools.wraps(method)
    def wrapped(self: "Plugin", request: Any, context: Any) -> Any:
        try:
            return method(self, request, context)
        except HalfDoneError as error:
            context.abort_with_status(_half_done(error))
        except CloudError as error:
            context.abort(grpc.StatusCode.UNKNOWN, str(error))

    return wrapped


def _half_done(error: HalfDoneError) -> _Status:
    detail = any_pb2.Any()
    detail.Pack(
        provider_pb2.ErrorResourceInitFailed(id=error.identity, properties=to_wire(error.outputs), reasons=[str(error)])
    )
    status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=str(error), details=[detail])
    trailer = (("grpc-status-details-bin", status.SerializeToString()),)
    return _Status(grpc.StatusCode.UNKNOWN, str(error), trailer)


class Plugin(provider_pb2_grpc.ResourceProviderServicer):
    """One plugin process: one cloud, configured once by one provider resource."""

    def __init__(self, cloud: Cloud, engine: str | None) -> None:
        """Take the cloud and the engine's address, where one was given."""
        self._cloud = cloud
        self._engine = engine
        self._api: Any = None

    # --- the plugin itself -------------------------------------------------------------------------------------

    def Handshake(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002 - gRPC's names, here and below
        """Take the engine's address; secrets are the engine's business, it marks outputs as it marked the inputs."""
        self._engine = request.engine_address or self._engine
        return provider_pb2.ProviderHandshakeResponse()

    def GetPluginInfo(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Report the installed SDK's version: another one makes the engine warn."""
        return plugin_pb2.PluginInfo(version=version(self._cloud.package))

    def GetSchema(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Return a schema with nothing in it: the SDK is installed and nothing is generated from it."""
        named = {"name": self._cloud.name, "version": version(self._cloud.package)}
        return provider_pb2.GetSchemaResponse(schema=json.dumps(named))

    def Cancel(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Every call here ends in milliseconds, so there is nothing to cancel."""
        return empty_pb2.Empty()

    # --- configuration -----------------------------------------------------------------------------------------

    def CheckConfig(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Check the provider's arguments as the SDK knows them."""
        inputs = from_wire(request.news)
        fields = schema.fields(self._cloud.package, "ProviderArgs")
        plain = schema.decode_configuration(fields, {k: v for k, v in inputs.items() if k != "version"})
        failures = schema.check(fields, plain)
        return provider_pb2.CheckResponse(inputs=request.news, failures=_failures(failures))

    def DiffConfig(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Report changed arguments as an update: no argument of these providers replaces resources."""
        old, new = from_wire(request.old_inputs), from_wire(request.news)
        changed = [key for key in {*old, *new} if old.get(key) != new.get(key)]
        return _diff_response([Change(key, "update") for key in sorted(changed)], set(), delete_first=False)

    @_refusals
    def Configure(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Take the credentials. What is malformed is refused here; what is wrong, at the first call."""
        fields = schema.fields(self._cloud.package, "ProviderArgs")
        arguments = schema.decode_configuration(fields, from_wire(request.args))
        self._api = self._cloud.configure(arguments)
        self._say(f"lab stand-in: {self._cloud.untouched} is touched ({self._cloud.place(arguments)})")
        return provider_pb2.ConfigureResponse(supportsPreview=True)

    def _say(self, message: str) -> None:
        if not self._engine:
            return
        with grpc.insecure_channel(self._engine, options=OPTIONS) as channel:
            engine_pb2_grpc.EngineStub(channel).Log(
                engine_pb2.LogRequest(severity=engine_pb2.INFO, message=message), timeout=5
            )

    def _resource(self, urn: str) -> Resource:
        token = urn.split("::")[2].rsplit("$", maxsplit=1)[-1]
        kind = self._cloud.resources().get(token)
        if kind is None:
            message = f"the lab's stand-in does not know {token}"
            raise CloudError(message)
        return kind(self._api)

    # --- resources ---------------------------------------------------------------------------------------------

    @_refusals
    def Check(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Refuse unknown, missing and mistyped inputs; fill in an automatic name."""
        resource = self._resource(request.urn)
        name = request.urn.split("::")[-1]
        inputs = resource.complete(name, from_wire(request.news), from_wire(request.olds), request.randomSeed)
        failures = list(schema.check(resource.fields(), inputs)) or list(resource.check(inputs))
        return provider_pb2.CheckResponse(inputs=to_wire(inputs), failures=_failures(failures))

    @_refusals
    def Diff(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Compare the state with what is wanted."""
        resource = self._resource(request.urn)
        inputs = from_wire(request.news)
        changes = without_ignored(
            resource.changes(from_wire(request.olds), inputs, from_wire(request.old_inputs)), request.ignoreChanges
        )
        replacing = {change.path for change in changes if resource.replaces(change, inputs)}
        return _diff_response(changes, replacing, delete_first=resource.delete_first)

    @_refusals
    def Create(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Create; at preview nothing is asked of the cloud."""
        resource = self._resource(request.urn)
        inputs = from_wire(request.properties)
        if request.preview:
            return provider_pb2.CreateResponse(properties=to_wire(resource.planned(inputs)))
        identity, outputs = resource.create(inputs)
        return provider_pb2.CreateResponse(id=identity, properties=to_wire(outputs))

    @_refusals
    def Read(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Report what is really there; an empty id says that it is gone."""
        resource = self._resource(request.urn)
        live = resource.read(request.id, from_wire(request.properties), from_wire(request.inputs))
        if live is None:
            return provider_pb2.ReadResponse()
        inputs = to_wire(plain_secrets(live.inputs))
        return provider_pb2.ReadResponse(id=live.identity, properties=to_wire(live.outputs), inputs=inputs)

    @_refusals
    def Update(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Change in place; at preview nothing is asked of the cloud."""
        resource = self._resource(request.urn)
        state, inputs = from_wire(request.olds), from_wire(request.news)
        if request.preview:
            return provider_pb2.UpdateResponse(properties=to_wire(resource.planned(inputs, state)))
        outputs = resource.update(request.id, state, inputs, from_wire(request.old_inputs), request.ignoreChanges)
        return provider_pb2.UpdateResponse(properties=to_wire(outputs))

    @_refusals
    def Delete(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Remove."""
        self._resource(request.urn).delete(request.id, from_wire(request.properties))
        return empty_pb2.Empty()

    @_refusals
    def Invoke(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Answer a function of the SDK."""
        function = self._cloud.functions().get(request.tok)
        if function is None:
            message = f"the lab's stand-in does not know {request.tok}"
            raise CloudError(message)
        arguments = from_wire(request.args)
        failures = list(schema.check(schema.function_fields(self._cloud.package, function.sdk_name), arguments))
        if failures:
            return provider_pb2.InvokeResponse(failures=_failures(failures))
        response = provider_pb2.InvokeResponse()
        # The field's name is a keyword of Python.
        getattr(response, "return").CopyFrom(to_wire(function.call(self._api, arguments)))
        return response


def _failures(failures: Any) -> list[Any]:
    return [provider_pb2.CheckFailure(property=failure.path, reason=failure.reason) for failure in failures]


def _diff_response(changes: list[Change], replacing: set[str], *, delete_first: bool) -> Any:
    detailed = {
        change.path: provider_pb2.PropertyDiff(
            kind=getattr(
                provider_pb2.PropertyDiff, _KINDS[change.kind] + ("_REPLACE" if change.path in replacing else "")
            )
        )
        for change in changes
    }
    response = provider_pb2.DiffResponse
    return response(
        changes=response.DIFF_SOME if changes else response.DIFF_NONE,
        diffs=sorted({change.top for change in changes}),
        replaces=sorted({change.top for change in changes if change.path in replacing}),
        detailedDiff=detailed,
        hasDetailedDiff=True,
        deleteBeforeReplace=delete_first and bool(replacing),
    )


def load(name: str, environment: Mapping[str, str]) -> Cloud:
    """Return the cloud of a plugin, `proxmoxve` or `hcloud`, with the state folder that the environment names."""
    folder = environment.get(ENVIRONMENT)
    if not folder:
        sys.exit(
            f"This pulumi-resource-{name} is the lab's stand-in: it simulates the cloud in files and touches no real "
            f"one. It runs only in the lab, where {ENVIRONMENT} names the folder of those files. For a real cloud take "
            "this program's folder off PATH; Pulumi then uses the official plugin."
        )
    module = importlib.import_module({"proxmoxve": "lab.clouds.proxmox", "hcloud": "lab.clouds.hcloud"}[name])
    cloud: Cloud = module.cloud(Path(folder))
    return cloud


def main() -> None:
    """`NAME [flags] [ENGINE_ADDRESS]`: serve one stand-in until the engine ends."""
    name, *rest = sys.argv[1:]
    cloud = load(name, os.environ)
    positional = [argument for argument in rest if not argument.startswith("-")]
    plugin = Plugin(cloud, positional[-1] if positional else None)
    serve(lambda server: provider_pb2_grpc.add_ResourceProviderServicer_to_server(plugin, server), threads=_THREADS)


if __name__ == "__main__":
    main()
