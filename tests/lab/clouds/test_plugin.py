from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc  # type: ignore[import-untyped]  # grpcio ships no types
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

from lab.clouds import install
from lab.clouds.plugin import load
from lab.clouds.values import to_wire
from tests.lab.clouds.conftest import ACME, ADMIN, ENDPOINT, POOL, VM, vm
from tests.lab.clouds.engine import UNKNOWN, Engine, Refused
from tests.lab.clouds.test_hcloud import SERVER, server

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.mark.parametrize("cloud", ["proxmoxve", "hcloud"])
def test_every_type_is_one_that_the_sdk_registers(cloud: str, tmp_path: Path) -> None:
    found = load(cloud, {"HYBRID_LAB_CLOUDS": str(tmp_path)})
    for name, kind in found.resources().items():
        module = importlib.import_module(kind.sdk_module)
        resource = getattr(module, kind.sdk_args.removesuffix("Args").removesuffix("Init"))
        source = Path(importlib.import_module(resource.__module__).__file__ or "").read_text()
        assert f"'{name}'" in source


@pytest.mark.parametrize(
    ("inputs", "path", "reason"),
    [
        (vm(colour="red"), "colour", "Invalid or unknown key"),
        (vm(node_name="pve1"), "node_name", "did you mean nodeName?"),
        (vm(nodeName=None), "nodeName", "Missing required argument"),
        (vm(clone={"nodeName": "pve1"}), "clone.vmId", "Missing required argument"),
        (vm(networkDevices=[{"vlan": 201}]), "networkDevices[0].vlan", "Invalid or unknown key"),
        (vm(networkDevices=[{"vlanId": "201"}]), "networkDevices[0].vlanId", "expected number type, got string"),
        (vm(networkDevices={"vlanId": 201}), "networkDevices", "expected array type, got object"),
        (vm(tags=[1]), "tags[0]", "expected string type, got number"),
        (vm(started="yes"), "started", "expected boolean type, got string"),
        (vm(cpu=[4]), "cpu", "expected object type, got array"),
        (vm(memory={"dedicated": True}), "memory.dedicated", "expected number type, got boolean"),
    ],
)
def test_an_input_that_the_sdk_does_not_have_is_refused_with_its_path(
    pve: Engine, inputs: dict[str, Any], path: str, reason: str
) -> None:
    (failure,) = pve.failures(VM, inputs)
    assert failure[0] == path
    assert reason in failure[1]


def test_good_inputs_are_accepted_and_all_failures_are_told_at_once(pve: Engine) -> None:
    assert pve.failures(VM, vm()) == []
    assert len(pve.failures(VM, vm(colour="red", nodeName=None, tags=[1, 2]))) == 4


def test_unknown_values_pass_everywhere(pve: Engine) -> None:
    assert pve.failures(VM, vm(networkDevices=[{"vlanId": UNKNOWN, "bridge": UNKNOWN}], tags=[UNKNOWN])) == []
    assert pve.failures(VM, vm(networkDevices=[UNKNOWN], memory=UNKNOWN)) == []


@pytest.mark.parametrize("kind", ["proxmoxve:index/containerLegacy:ContainerLegacy", "proxmoxve:index/vm:Vm"])
def test_a_type_that_the_lab_does_not_have_is_refused_plainly(pve: Engine, kind: str) -> None:
    with pytest.raises(Refused, match=f"the lab's stand-in does not know {kind}"):
        pve.up("x", kind, {})


@pytest.mark.parametrize("token", ["root@pam!lab", "lab=11111111-2222-3333-4444-555555555555", "root@pam!lab=secret"])
def test_a_malformed_token_is_refused_when_the_provider_is_configured(folder: Path, token: str) -> None:
    with pytest.raises(Refused, match="must be in the format 'USER@REALM!TOKENID=UUID'"):
        Engine("proxmoxve", folder, endpoint=ENDPOINT, apiToken=token)
    assert Engine("proxmoxve", folder, endpoint=ENDPOINT, apiToken=ADMIN)


@pytest.mark.parametrize("length", [0, 63, 65])
def test_a_hetzner_token_of_another_length_is_refused_when_the_provider_is_configured(
    folder: Path, length: int
) -> None:
    with pytest.raises(Refused, match="exactly 64 characters"):
        Engine("hcloud", folder, token="x" * length)
    assert Engine("hcloud", folder, token="x" * 64)


def test_an_endpoint_that_was_never_seeded_refuses_the_first_call_of_up_not_the_preview(folder: Path) -> None:
    nowhere = Engine("proxmoxve", folder, endpoint="https://pve.none.example:8006", apiToken=ADMIN)
    nowhere.preview("pool", POOL, {"poolId": "acme"})
    with pytest.raises(Refused, match="connection refused"):
        nowhere.up("pool", POOL, {"poolId": "acme"})
    assert list(folder.glob("*.json")) == []


@pytest.mark.parametrize("spelling", [f"{ENDPOINT}/", f"{ENDPOINT}/api2/json", ENDPOINT])
def test_an_endpoint_is_the_same_however_its_url_is_spelled(pve: Engine, folder: Path, spelling: str) -> None:
    pve.up("pool", POOL, {"poolId": "acme"})
    other = Engine("proxmoxve", folder, endpoint=spelling, apiToken=ADMIN)
    other.state = dict(pve.state)
    assert other.refresh("pool")


@pytest.mark.usefixtures("acme")
def test_an_unknown_hetzner_token_or_endpoint_is_refused_at_the_first_call(folder: Path) -> None:
    with pytest.raises(Refused, match="401"):
        Engine("hcloud", folder, token="z" * 64).up("server", SERVER, server())
    with pytest.raises(Refused, match="connection refused"):
        Engine("hcloud", folder, token=ACME, endpoint="https://other.example").up("server", SERVER, server())
    official = Engine("hcloud", folder, token=ACME, endpoint="https://api.hetzner.cloud/v1")
    assert official.up("server", SERVER, server()) == "create"


def test_the_providers_arguments_are_checked_as_the_sdk_sends_them(pve: Engine) -> None:
    def failures(**arguments: Any) -> list[str]:
        request = provider_pb2.CheckRequest(urn="x", news=to_wire(arguments))
        return [failure.property for failure in pve.plugin.CheckConfig(request, pve.context).failures]

    assert failures(endpoint=ENDPOINT, apiToken=ADMIN, insecure="true", version="8.6.0") == []
    assert failures(endpoint=ENDPOINT, apiToken=UNKNOWN) == []
    assert failures(endpoint=ENDPOINT, token=ADMIN) == ["token"]


def test_changed_arguments_update_the_provider_and_replace_nothing(pve: Engine) -> None:
    request = provider_pb2.DiffRequest(old_inputs=to_wire({"apiToken": "a"}), news=to_wire({"apiToken": "b"}))
    diff = pve.plugin.DiffConfig(request, pve.context)
    assert (list(diff.diffs), list(diff.replaces)) == (["apiToken"], [])
    same = provider_pb2.DiffRequest(old_inputs=to_wire({"apiToken": "a"}), news=to_wire({"apiToken": "a"}))
    assert pve.plugin.DiffConfig(same, pve.context).changes == provider_pb2.DiffResponse.DIFF_NONE


@pytest.mark.parametrize("name", ["proxmoxve", "hcloud"])
def test_without_the_labs_state_folder_a_stand_in_says_what_it_is_and_ends(name: str, tmp_path: Path) -> None:
    install(tmp_path)
    env = {key: value for key, value in os.environ.items() if key != "HYBRID_LAB_CLOUDS"}
    done = subprocess.run(
        [tmp_path / f"pulumi-resource-{name}"], env=env, capture_output=True, text=True, check=False, timeout=30
    )
    assert done.returncode != 0
    assert done.stdout == ""
    assert "the lab's stand-in" in done.stderr
    assert "HYBRID_LAB_CLOUDS" in done.stderr


def test_a_stand_in_ends_with_the_engine_that_started_it(tmp_path: Path) -> None:
    install(tmp_path)
    env = {**os.environ, "HYBRID_LAB_CLOUDS": str(tmp_path / "clouds")}
    code = (
        "import subprocess, sys\n"
        "plugin = subprocess.Popen([sys.argv[1]], stdout=subprocess.PIPE)\n"
        "plugin.stdout.readline()\n"
        "print(plugin.pid)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "pulumi-resource-hcloud")]
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True, timeout=60)
    stat = Path(f"/proc/{int(done.stdout)}/stat")
    end = time.monotonic() + 15
    while stat.exists() and time.monotonic() < end:
        time.sleep(0.1)
    assert not stat.exists()


@pytest.fixture
def process(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], int, float]]:
    """Start a stand-in as the engine does; give the process, its port, and the seconds until it had one."""
    install(tmp_path)
    env = {**os.environ, "HYBRID_LAB_CLOUDS": str(tmp_path / "clouds")}
    begin = time.monotonic()
    started = subprocess.Popen(
        [tmp_path / "pulumi-resource-proxmoxve"], env=env, cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    assert started.stdout is not None
    port = int(started.stdout.readline())
    yield started, port, time.monotonic() - begin
    started.terminate()
    assert started.wait(timeout=10) == 0
    started.stdout.close()


def test_a_stand_in_starts_fast_reports_the_sdks_version_and_ends_when_told(
    process: tuple[subprocess.Popen[str], int, float],
) -> None:
    _, port, seconds = process
    assert seconds < 3  # about 0.3 on a quiet machine
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        stub = provider_pb2_grpc.ResourceProviderStub(channel)
        assert stub.GetPluginInfo(empty_pb2.Empty()).version == version("pulumi_proxmoxve")
        named = json.loads(stub.GetSchema(provider_pb2.GetSchemaRequest()).schema)
        assert named["name"] == "proxmoxve"
        with pytest.raises(grpc.RpcError) as refused:
            stub.Create(provider_pb2.CreateRequest(urn="urn:pulumi:s::p::a:b:C::x"))
        assert "does not know a:b:C" in refused.value.details()
