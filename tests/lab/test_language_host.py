"""The lab's language host: alone over gRPC, then with the real engine and the stand-in plugins."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc  # type: ignore[import-untyped]  # grpcio ships no types
import pytest
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import (
    engine_pb2,
    engine_pb2_grpc,
    language_pb2,
    language_pb2_grpc,
    resource_pb2,
    resource_pb2_grpc,
)

from lab import clouds, language_host, toolchain
from lab.clouds.machines import machines
from lab.language_host.children import Children
from lab.language_host.python import NoVirtualenvError, environment, program_python
from tests.lab.clouds.conftest import ACME, ADMIN, ENDPOINT

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]


class FakeEngine(resource_pb2_grpc.ResourceMonitorServicer, engine_pb2_grpc.EngineServicer):
    """As much of an engine as a program needs to begin: it takes the stack and every log line."""

    def __init__(self) -> None:
        """Serve on a free port."""
        self.server = grpc.server(ThreadPoolExecutor(4))
        resource_pb2_grpc.add_ResourceMonitorServicer_to_server(self, self.server)
        engine_pb2_grpc.add_EngineServicer_to_server(self, self.server)
        self.address = f"127.0.0.1:{self.server.add_insecure_port('127.0.0.1:0')}"
        self.server.start()

    def SupportsFeature(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002 - gRPC's names, here and below
        """Support none."""
        return resource_pb2.SupportsFeatureResponse(hasSupport=False)

    def RegisterResource(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Take the stack."""
        return resource_pb2.RegisterResourceResponse(urn=f"urn:pulumi:s::p::{request.type}::{request.name}")

    def SetRootResource(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Take it as the root."""
        return engine_pb2.SetRootResourceResponse()

    def Log(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Take a line."""
        return empty_pb2.Empty()


@pytest.fixture(scope="module")
def engine() -> Iterator[FakeEngine]:
    served = FakeEngine()
    yield served
    served.server.stop(grace=0)


class Host:
    """A language host that runs, as the engine starts one."""

    def __init__(self, folder: Path, engine: FakeEngine) -> None:
        """Start it and connect."""
        self.engine = engine
        script = language_host.install(folder / "bin")
        self.log = (folder / "host.log").open("w+")
        self.process = subprocess.Popen(
            [script, engine.address], cwd=folder, stdout=subprocess.PIPE, stderr=self.log, text=True
        )
        assert self.process.stdout is not None
        self.output = self.process.stdout
        self.channel = grpc.insecure_channel(f"127.0.0.1:{int(self.output.readline())}")
        self.stub = language_pb2_grpc.LanguageRuntimeStub(self.channel)

    def request(self, program: Any) -> Any:
        """Return the request to run a program."""
        return language_pb2.RunRequest(
            project="p",
            stack="s",
            pwd=program.program_directory,
            info=program,
            monitor_address=self.engine.address,
            parallel=2,
        )

    def close(self) -> None:
        """End it."""
        self.channel.close()
        self.process.terminate()
        self.process.wait(timeout=10)
        self.output.close()
        self.log.close()


@pytest.fixture
def host(tmp_path: Path, engine: FakeEngine) -> Iterator[Host]:
    started = Host(tmp_path, engine)
    yield started
    started.close()


def program(folder: Path, code: str, **options: str) -> Any:
    """Write a program and return how the engine names it."""
    folder.mkdir(exist_ok=True)
    (folder / "__main__.py").write_text(code)
    return info(folder, **options)


def info(folder: Path, **options: str) -> Any:
    struct = struct_pb2.Struct()
    struct.update(options)
    return language_pb2.ProgramInfo(
        root_directory=str(folder), program_directory=str(folder), entry_point=".", options=struct
    )


def running(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def wait_for(what: Any, seconds: float = 15) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.05)
    pytest.fail("waited in vain")


def pid_in(path: Path) -> int:
    return int(wait_for(lambda: path.exists() and path.read_text().endswith("\n") and path.read_text()))


SLEEPER = "import os, pathlib, time; pathlib.Path('pid').write_text(f'{os.getpid()}\\n'); time.sleep(60)"


def test_it_names_itself_and_asks_for_no_plugins(host: Host) -> None:
    assert host.stub.GetPluginInfo(empty_pb2.Empty()).version
    host.stub.Handshake(language_pb2.LanguageHandshakeRequest(engine_address=host.engine.address))
    assert not host.stub.GetRequiredPackages(language_pb2.GetRequiredPackagesRequest()).packages
    assert not host.stub.GetRequiredPlugins(language_pb2.GetRequiredPluginsRequest()).plugins
    assert not host.stub.RuntimeOptionsPrompts(language_pb2.RuntimeOptionsRequest()).prompts


def test_it_tells_of_the_programs_python_and_packages(host: Host, tmp_path: Path) -> None:
    folder = tmp_path / "program"
    folder.mkdir()
    about = host.stub.About(language_pb2.AboutRequest(info=info(folder)))
    assert about.executable == sys.executable
    assert about.version.startswith("3.")
    (folder / "requirements.txt").write_text("pulumi==1 # comment\n-r other.txt\n")
    asked = language_pb2.GetProgramDependenciesRequest(info=info(folder))
    assert [each.name for each in host.stub.GetProgramDependencies(asked).dependencies] == ["pulumi"]
    asked = language_pb2.GetProgramDependenciesRequest(info=info(folder), transitiveDependencies=True)
    assert {"pulumi", "grpcio"} <= {each.name for each in host.stub.GetProgramDependencies(asked).dependencies}


def test_what_it_can_not_do_it_says_so(host: Host) -> None:
    with pytest.raises(grpc.RpcError) as refused:
        host.stub.GeneratePackage(language_pb2.GeneratePackageRequest())
    assert refused.value.code() == grpc.StatusCode.UNIMPLEMENTED


def test_the_virtualenv_of_the_options_counts_from_the_projects_root(tmp_path: Path) -> None:
    assert program_python(str(tmp_path), {}) == Path(sys.executable)
    with pytest.raises(NoVirtualenvError, match="holds no Python"):
        program_python(str(tmp_path), {"virtualenv": ".venv"})
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    assert program_python(str(tmp_path), {"virtualenv": ".venv"}) == python
    env = environment(python, {"PATH": "/bin", "PYTHONHOME": "x"})
    assert env == {"PATH": f"{python.parent}{os.pathsep}/bin", "VIRTUAL_ENV": str(tmp_path / ".venv")}
    assert environment(Path(sys.executable), {"PATH": "/bin"}) == {"PATH": "/bin"}


def test_a_virtualenv_that_is_not_there_is_an_error_of_the_run(host: Host, tmp_path: Path) -> None:
    answer = host.stub.Run(host.request(program(tmp_path / "program", "", virtualenv="none")))
    assert "holds no Python" in answer.error


def test_a_program_sees_no_more_than_its_own_folder_and_its_configuration(host: Host, tmp_path: Path) -> None:
    code = (
        "import json, os, pulumi, sys\n"
        "config = pulumi.Config('p')\n"
        "with open('seen', 'w') as seen:\n"
        "    json.dump({'path': sys.path, 'config': config.require('key'), 'env': dict(os.environ),"
        " 'stack': pulumi.get_stack(), 'session': os.getsid(0) == os.getpid(), 'argv': sys.argv}, seen)\n"
        "os._exit(32)\n"
    )
    asked = host.request(program(tmp_path / "program", code))
    asked.config["p:key"] = "value"
    assert host.stub.Run(asked).bail
    seen = json.loads((tmp_path / "program" / "seen").read_text())
    assert seen["config"] == "value"
    assert seen["stack"] == "s"
    assert seen["session"]
    assert str(ROOT) not in seen["path"]
    assert not any("language_host" in each for each in seen["path"])
    assert "PYTHONPATH" not in seen["env"] or str(ROOT) not in seen["env"]["PYTHONPATH"].split(os.pathsep)


def test_a_programs_exit_code_is_an_error_and_32_says_that_the_user_was_told(host: Host, tmp_path: Path) -> None:
    answer = host.stub.Run(host.request(program(tmp_path / "a", "import os; os._exit(3)")))
    assert answer.error == "Program exited with non-zero exit code: 3"
    assert host.stub.Run(host.request(program(tmp_path / "b", "import os; os._exit(32)"))).bail
    answer = host.stub.Run(host.request(program(tmp_path / "c", "import os; os._exit(0)")))
    assert not answer.error
    assert not answer.bail


def test_a_programs_output_is_the_hosts(host: Host, tmp_path: Path) -> None:
    code = "import os; print('to the log', flush=True); os._exit(0)"
    host.stub.Run(host.request(program(tmp_path / "program", code)))
    assert "to the log\n" in iter(host.output.readline, "")


def test_a_cancelled_run_kills_the_program_and_what_it_started(host: Host, tmp_path: Path) -> None:
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {SLEEPER!r}])"
    call = host.stub.Run.future(host.request(program(tmp_path / "program", code)))
    pid = pid_in(tmp_path / "program" / "pid")
    call.cancel()
    wait_for(lambda: not running(pid))


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_no_program_outlives_its_host(host: Host, tmp_path: Path, how: signal.Signals) -> None:
    call = host.stub.Run.future(host.request(program(tmp_path / "program", SLEEPER)))
    pid = pid_in(tmp_path / "program" / "pid")
    assert not call.done()
    host.process.send_signal(how)
    wait_for(lambda: not running(pid))


def test_cancel_stops_what_runs_and_the_host_goes_on(host: Host, tmp_path: Path) -> None:
    call = host.stub.Run.future(host.request(program(tmp_path / "program", SLEEPER)))
    pid = pid_in(tmp_path / "program" / "pid")
    host.stub.Cancel(empty_pb2.Empty())
    assert "137" in call.result(timeout=15).error
    assert not running(pid)
    assert host.stub.Run(host.request(program(tmp_path / "b", "import os; os._exit(32)"))).bail


def test_a_plugin_is_run_with_its_arguments_and_its_output_streamed(host: Host, tmp_path: Path) -> None:
    code = "import os, sys; print(sys.argv[1:], os.environ['A']); print('bad', file=sys.stderr); sys.exit(7)"
    env = [f"{key}={value}" for key, value in os.environ.items()]
    asked = language_pb2.RunPluginRequest(
        pwd=str(tmp_path), info=program(tmp_path / "plugin", code), kind="resource", args=["-x", "1"], env=[*env, "A=b"]
    )
    answers = list(host.stub.RunPlugin(asked))
    assert b"".join(each.stdout for each in answers) == b"['-x', '1'] b\n"
    assert b"".join(each.stderr for each in answers) == b"bad\n"
    assert answers[-1].exitcode == 7


def test_a_killed_child_counts_as_128_and_the_signal(tmp_path: Path) -> None:
    children = Children()
    child = children.start([sys.executable, "-c", "import time; time.sleep(60)"], cwd=tmp_path, env=os.environ)
    children.kill(child)
    assert children.wait(child) == 128 + signal.SIGKILL
    children.kill(child)  # gone already: no error, and nobody else's process is hit


# --- with the real engine --------------------------------------------------------------------------------------

PROJECT = """\
name: small
runtime: {name: python, options: {virtualenv: VENV}}
options: {refresh: always}
config: {"pulumi:disable-default-providers": {value: ["*"]}}
"""
PROGRAM = f"""\
import os
import pulumi, pulumi_hcloud as hcloud, pulumi_proxmoxve as pve

async def main():
    admin = pve.Provider("lab", endpoint={ENDPOINT!r}, api_token={ADMIN!r})
    made = pulumi.ResourceOptions(provider=admin)
    pool = pve.PoolLegacy("pool", pool_id="acme", opts=made)
    role = pve.RoleLegacy("role", role_id="All", privileges=os.environ["RIGHTS"].split(), opts=made)
    user = pve.UserLegacy("user", user_id="acme@pve", opts=made)
    token = pve.user.Token("token", user_id=user.user_id, token_name="t", opts=made)
    grants = [pve.Acl(f"acl-{{who}}", path="/", role_id=role.role_id, opts=made, **to)
              for who, to in dict(user=dict(user_id=user.user_id), token=dict(token_id=token.id)).items()]
    tenant = pve.Provider("tenant", endpoint={ENDPOINT!r}, api_token=token.value)
    pve.VmLegacy(
        "vm", vm_id=2000, name="prod-0", node_name="pve1", pool_id=pool.pool_id, migrate=True,
        clone=dict(vm_id=9000, node_name="pve1", retries=1), operating_system=dict(type="l26"),
        cpu=dict(cores=2, type="host"), memory=dict(dedicated=4096), tags=["acme"],
        disks=[dict(interface="scsi0", datastore_id="ceph-vm", size=40)],
        network_devices=[dict(bridge="vmbr1", vlan_id=int(os.environ["VLAN"]), mtu=1400)],
        opts=pulumi.ResourceOptions(provider=tenant, depends_on=grants, ignore_changes=["disks[0].speed"]))
    project = hcloud.Provider("fsn1", token={ACME!r})
    made = pulumi.ResourceOptions(provider=project)
    image = hcloud.get_image_output(with_selector="os=talos", opts=pulumi.InvokeOptions(provider=project))
    network = hcloud.Network("network", name="acme", ip_range="10.100.0.0/16", opts=made)
    subnet = hcloud.NetworkSubnet("subnet", network_id=network.id.apply(int), type="cloud",
                                  network_zone="eu-central", ip_range="10.100.1.0/24", opts=made)
    server = hcloud.Server(
        "server", name="cloud-0", server_type="cpx32", image=image.id.apply(str), location="fsn1",
        user_data=pulumi.Output.secret("a secret of the server"), networks=[dict(subnet_id=subnet.id)],
        public_nets=[dict(ipv4_enabled=False, ipv6_enabled=False)], opts=made)
    pulumi.export("address", server.networks[0]["ip"])
    print("the program spoke")

pulumi.run(main)
"""
POLICY = """\
from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy

def own_vlan(args, report):
    if args.resource_type == "proxmoxve:index/vmLegacy:VmLegacy" and args.props["networkDevices"][0]["vlanId"] == 202:
        report("VLAN 202 is not yours")

PolicyPack("small-pack", policies=[ResourceValidationPolicy(
    name="own-vlan", description="A VM stands on its own VLAN.", validate=own_vlan,
    enforcement_level=EnforcementLevel.MANDATORY)])
"""
RIGHTS = (
    "VM.Allocate VM.Clone VM.Audit VM.PowerMgmt VM.Config.CPU VM.Config.Memory VM.Config.Disk VM.Config.Network "
    "VM.Config.Options VM.Config.HWType SDN.Use Datastore.AllocateSpace Datastore.Audit Pool.Audit"
)


class Small:
    """A small project with a stack on a file backend, its program run by the lab's own host and stand-ins."""

    def __init__(self, folder: Path, pulumi: Path) -> None:
        """Write everything and make the stack."""
        self.folder, self.clouds = folder, folder / "clouds"
        tools = folder / "bin"
        language_host.install(tools)
        clouds.install(tools)
        shutil.copy2(pulumi, tools / "pulumi")
        clouds.seed_proxmox(
            self.clouds,
            ENDPOINT,
            nodes={"pve1": {"memory": 65536}},
            storages={"ceph-vm": {"content": ["images"], "shared": True}},
            bridges=["vmbr1"],
            templates=[{"id": 9000, "node": "pve1", "tags": ["talos"], "disk_gb": 10}],
            admin_token=ADMIN,
        )
        images = [{"id": 501, "labels": {"os": "talos"}}]
        clouds.seed_hcloud(self.clouds, {"acme": {"token": ACME, "images": images}}, ["cpx32"], ["fsn1"])
        self.project, self.pack = folder / "project", folder / "pack"
        for where, file, text in (
            (self.project, "Pulumi.yaml", PROJECT.replace("VENV", sys.prefix)),
            (self.project, "__main__.py", PROGRAM),
            (self.pack, "PulumiPolicy.yaml", f"runtime: {{name: python, options: {{virtualenv: {sys.prefix}}}}}\n"),
            (self.pack, "__main__.py", POLICY),
        ):
            where.mkdir(exist_ok=True)
            (where / file).write_text(text)
        (folder / "backend").mkdir()
        self.env = {
            **{key: value for key, value in os.environ.items() if not key.startswith("PULUMI_")},
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "HYBRID_LAB_CLOUDS": str(self.clouds),
            "PULUMI_HOME": str(folder / "home"),
            "PULUMI_BACKEND_URL": f"file://{folder / 'backend'}",
            "PULUMI_CONFIG_PASSPHRASE": "small",
            "PULUMI_RUN_PROGRAM": "true",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "RIGHTS": RIGHTS,
            "VLAN": "201",
        }
        self.run("stack", "init", "dev")

    def run(self, *arguments: str, ok: bool = True, **env: str) -> str:
        """Run the CLI and return all that it printed."""
        done = subprocess.run(
            ["pulumi", *arguments, "--non-interactive"],
            cwd=self.project,
            env={**self.env, **env},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=300,
        )
        assert (done.returncode == 0) == ok, done.stdout
        return done.stdout

    def machines(self) -> dict[str, dict[str, Any]]:
        """Return the machines of all clouds by name."""
        return {each["name"]: each for each in machines(self.clouds)}


@pytest.fixture(scope="module")
def small(tools: None, tmp_path_factory: pytest.TempPathFactory) -> Small:
    del tools
    return Small(tmp_path_factory.mktemp("small"), toolchain.tool("pulumi"))


@pytest.mark.lab
def test_a_small_program_goes_through_its_whole_life_with_the_real_engine(small: Small) -> None:
    first = small.run("up", "--yes", "--policy-pack", str(small.pack))
    assert "the program spoke" in first
    assert "small-pack" in first
    assert "no real Proxmox VE is touched" in first
    assert "no real Hetzner Cloud is touched" in first
    assert small.run("stack", "output", "address").strip() == "10.100.1.2"
    made = small.machines()
    assert [(nic["bridge"], nic["vlan"], nic["mtu"]) for nic in made["prod-0"]["nics"]] == [("vmbr1", 201, 1400)]
    assert made["cloud-0"]["status"] == "running"
    assert "a secret of the server" not in small.run("stack", "export")

    small.run("up", "--yes", "--skip-preview", "--expect-no-changes")
    small.run("refresh", "--yes", "--skip-preview", "--expect-no-changes")

    refused = small.run("up", "--yes", "--policy-pack", str(small.pack), ok=False, VLAN="202")
    assert "VLAN 202 is not yours" in refused
    assert small.machines() == made

    small.run("up", "--yes", "--skip-preview", VLAN="203")
    assert [nic["vlan"] for nic in small.machines()["prod-0"]["nics"]] == [203]
    assert small.machines()["prod-0"]["starts"] == 1

    failed = small.run("up", "--yes", "--skip-preview", ok=False, VLAN="5000")
    assert "400 Parameter verification failed" in failed
    assert "Traceback" not in failed
    small.run("up", "--yes", "--skip-preview", VLAN="203")
    small.run("up", "--yes", "--skip-preview", "--expect-no-changes", VLAN="203")

    small.run("destroy", "--yes", "--skip-preview", VLAN="203")
    assert small.machines() == {}
    assert small.run("stack", "export").count('"urn"') == 0


@pytest.mark.lab
def test_a_right_that_is_missing_fails_in_the_engine_with_the_apis_words(small: Small) -> None:
    failed = small.run("up", "--yes", "--skip-preview", ok=False, RIGHTS=RIGHTS.replace("SDN.Use ", ""))
    assert "403 Permission check failed (/sdn/zones/localnetwork/vmbr1/201, SDN.Use)" in failed
    assert "Traceback" not in failed
    small.run("up", "--yes", "--skip-preview")
    assert [nic["vlan"] for nic in small.machines()["prod-0"]["nics"]] == [201]
    small.run("destroy", "--yes", "--skip-preview")
    assert small.machines() == {}


@pytest.mark.lab
def test_an_error_of_the_program_is_told_once_and_a_run_error_without_a_trace(small: Small) -> None:
    main = small.project / "__main__.py"
    try:
        main.write_text("import pulumi\n\ndef broken():\n    raise KeyError('gone')\n\npulumi.run(broken)\n")
        failed = small.run("preview", ok=False)
        assert "KeyError: 'gone'" in failed
        assert "lab/language_host" not in failed
        main.write_text(
            "import pulumi\n\ndef refused():\n    raise pulumi.RunError('no: do this')\n\npulumi.run(refused)\n"
        )
        failed = small.run("preview", ok=False)
        assert "no: do this" in failed
        assert "Traceback" not in failed
    finally:
        main.write_text(PROGRAM)


@pytest.mark.lab
def test_an_interrupt_ends_the_engine_its_program_and_all_plugins_without_a_trace(small: Small) -> None:
    main = small.project / "__main__.py"
    try:
        main.write_text(f"import os, pathlib, time\n{PROGRAM.replace('pulumi.run(main)', SLEEPER)}")
        engine = subprocess.Popen(
            ["pulumi", "preview", "--non-interactive"],
            cwd=small.project,
            env=small.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        program = pid_in(small.project / "pid")
        os.killpg(engine.pid, signal.SIGINT)
        output, _ = engine.communicate(timeout=60)
        assert engine.returncode != 0
        assert "Traceback" not in output
        wait_for(lambda: not running(program))
    finally:
        main.write_text(PROGRAM)
