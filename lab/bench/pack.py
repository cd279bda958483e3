"""Figure (e): what the policy pack costs over 1,000 resources, beyond a pack that judges nothing.

Both packs run in the SDK's analyzer, as the engine starts it, and are asked in turn about the same VMs, the kind that
takes the most judging. The engine itself is left out: its own work is the same in both, and on a busy machine varies by
more than the pack costs.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import grpc  # type: ignore[import-untyped]  # it ships no types
from google.protobuf import struct_pb2
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc

from manifests.policy_config import PACK, policy_config

if TYPE_CHECKING:
    from collections.abc import Iterator

RESOURCES = 1000
PAIRS = 7
TARGET = 0.8
TOKEN = "proxmoxve:index/vmLegacy:VmLegacy"  # noqa: S105 - a type
API_TOKEN = "lab-acme@pve!hybrid=00000000-0000-0000-0000-000000000000"  # noqa: S105 - nobody's
EMPTY = """
from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy

nothing = ResourceValidationPolicy(name="nothing", description="Judges nothing.", validate=lambda args, report: None)
PolicyPack("empty", policies=[nothing], enforcement_level=EnforcementLevel.MANDATORY)
"""


def pack_cost(root: Path, resources: int = RESOURCES, pairs: int = PAIRS) -> str:
    """Ask both packs about each of the VMs, pair by pair."""
    asked = [_request(number) for number in range(resources)]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "__main__.py").write_text(EMPTY)
        (Path(folder) / "PulumiPolicy.yaml").write_text("runtime: python\n")
        with _analyzer(root / "policy") as ours, _analyzer(Path(folder)) as theirs:
            config = policy_config(root / "stacks", "lab")[PACK]
            del config["enforcementLevel"]
            entry = analyzer_pb2.PolicyConfig(enforcementLevel=analyzer_pb2.MANDATORY, properties=_struct(config))
            ours.Configure(analyzer_pb2.ConfigureAnalyzerRequest(policyConfig={PACK: entry}))
            times = [(_time(ours, asked), _time(theirs, asked)) for _ in range(pairs + 1)][1:]  # the first warms up
    costs = [round(a - b, 2) for a, b in times]
    return (
        f"(e) the policy pack over {resources} resources: {median(costs):.2f} s beyond an empty pack"
        f" ({', '.join(map(str, costs))} in {pairs} pairs; target <= {TARGET})"
    )


@contextmanager
def _analyzer(pack: Path) -> Iterator[Any]:
    command = [sys.executable, "-u", "-m", "pulumi.policy", "127.0.0.1:9", "."]
    with subprocess.Popen(command, cwd=pack, stdout=subprocess.PIPE, text=True) as process:
        try:
            port = int(process.stdout.readline()) if process.stdout else 0
            with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
                yield analyzer_pb2_grpc.AnalyzerStub(channel)
        finally:
            process.kill()


def _request(number: int) -> analyzer_pb2.AnalyzeRequest:
    props = {
        "name": f"vm{number}",
        "nodeName": "pve1",
        "vmId": 2000,
        "poolId": "lab-acme",
        "clone": {"vmId": 9000, "nodeName": "pve1", "full": True, "retries": 1},
        "cpu": {"cores": 4, "type": "x86-64-v2-AES"},
        "memory": {"dedicated": 8192},
        "disks": [{"interface": "scsi0", "datastoreId": "ceph-vm", "size": 40}],
        "cdrom": {"fileId": f"iso-acme:iso/vm{number}.iso", "interface": "ide2"},
        "networkDevices": [{"bridge": "vmbr1", "vlanId": 201, "model": "virtio"}],
    }
    provider = "pulumi:providers:proxmoxve"
    return analyzer_pb2.AnalyzeRequest(
        type=TOKEN,
        urn=f"urn:pulumi:lab-acme::hybrid::hybrid:index:WorkerPool${TOKEN}::vm{number}",
        name=f"vm{number}",
        properties=_struct(props),
        options=analyzer_pb2.AnalyzerResourceOptions(),
        provider=analyzer_pb2.AnalyzerProviderResource(
            type=provider,
            urn=f"urn:pulumi:lab-acme::hybrid::{provider}::lab",
            name="lab",
            properties=_struct({"endpoint": "https://pve.lab.example:8006", "apiToken": API_TOKEN}),
        ),
    )


def _struct(values: dict[str, Any]) -> struct_pb2.Struct:
    made = struct_pb2.Struct()
    made.update(json.loads(json.dumps(values)))
    return made


def _time(analyzer: Any, asked: list[analyzer_pb2.AnalyzeRequest]) -> float:
    began = time.perf_counter()
    for request in asked:
        answer = analyzer.Analyze(request)
        if answer.diagnostics:
            message = f"the pack refused what it should let pass: {answer.diagnostics[0].message}"
            raise RuntimeError(message)
    return time.perf_counter() - began
