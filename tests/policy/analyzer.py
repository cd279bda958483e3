"""The SDK's real analyzer, started as the engine starts it, and spoken to as the engine speaks to it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any, Self

import grpc  # type: ignore[import-untyped]  # it ships no types
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc
from pulumi_policy.deserialize import SPECIAL_SECRET_SIG, SPECIAL_SIG_KEY
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

POLICY = "tenant-isolation"
PROJECT = "hybrid"
UNKNOWN = UNKNOWN_STRING_VALUE
"""How the engine sends what it does not know yet."""


def secret(value: Any) -> dict[str, Any]:
    """Wrap a value as the engine sends a secret."""
    return {SPECIAL_SIG_KEY: SPECIAL_SECRET_SIG, "value": value}


class Analyzer:
    """One process `python -m pulumi.policy ENGINE .` in the pack's folder."""

    def __init__(self, pack: Path, python: Path | None = None) -> None:
        """Name the pack's folder, and the interpreter if it is not this one."""
        self._pack = pack
        self._python = str(python or sys.executable)
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        """Start the process and connect to the port that it prints."""
        nowhere = "127.0.0.1:9"  # the engine's own address: a pack speaks to it only to log
        command = [self._python, "-u", "-m", "pulumi.policy", nowhere, "."]
        self._process = subprocess.Popen(command, cwd=self._pack, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        port = int(self._process.stdout.readline())
        self._channel = grpc.insecure_channel(f"127.0.0.1:{port}")
        self._stub = analyzer_pb2_grpc.AnalyzerStub(self._channel)
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._channel.close()
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def info(self) -> analyzer_pb2.AnalyzerInfo:
        """Give what the pack says of itself."""
        found: analyzer_pb2.AnalyzerInfo = self._stub.GetAnalyzerInfo(empty_pb2.Empty())
        return found

    def configure(self, config: Mapping[str, Any]) -> None:
        """Give the policy its config, as the engine does once at the start of a run."""
        entry = analyzer_pb2.PolicyConfig(enforcementLevel=analyzer_pb2.MANDATORY, properties=struct(config))
        self._stub.Configure(analyzer_pb2.ConfigureAnalyzerRequest(policyConfig={POLICY: entry}))

    def analyze(  # noqa: PLR0913 - what a request consists of
        self,
        type_: str,
        props: Mapping[str, Any],
        provider: tuple[str, Mapping[str, Any]] | None = None,
        *,
        stack: str = "lab-globex",
        name: str = "thing",
        provider_name: str = "explicit",
    ) -> list[str]:
        """Give the messages of mandatory violations; anything else that comes back fails the test."""
        request = analyzer_pb2.AnalyzeRequest(
            type=type_,
            urn=f"urn:pulumi:{stack}::{PROJECT}::hybrid:index:WorkerPool${type_}::{name}",
            name=name,
            properties=struct(props),
            options=analyzer_pb2.AnalyzerResourceOptions(),
        )
        if provider is not None:
            request.provider.CopyFrom(
                analyzer_pb2.AnalyzerProviderResource(
                    type=provider[0],
                    urn=f"urn:pulumi:{stack}::{PROJECT}::{provider[0]}::{provider_name}",
                    name=provider_name,
                    properties=struct(provider[1]),
                )
            )
        response = self._stub.Analyze(request)
        assert not response.not_applicable
        assert all(item.enforcementLevel == analyzer_pb2.MANDATORY for item in response.diagnostics)
        assert all(item.policyName == POLICY for item in response.diagnostics)
        return [item.message for item in response.diagnostics]


def struct(values: Mapping[str, Any]) -> struct_pb2.Struct:
    """Make the message: every number in it becomes a float."""
    made = struct_pb2.Struct()
    made.update(values)
    return made
