"""The gRPC service `pulumirpc.LanguageRuntime`, as CLI 3.274 calls it."""

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

import grpc  # type: ignore[import-untyped]  # grpcio ships no types
from google.protobuf import empty_pb2, json_format
from pulumi.runtime.proto import language_pb2, language_pb2_grpc, plugin_pb2

from lab.language_host.children import Children
from lab.language_host.python import NoVirtualenvError, environment, program_python

_PROGRAM = str(Path(__file__).with_name("program.py"))
_ALREADY_REPORTED = 32
_CHUNK = 65536


class LanguageHost(language_pb2_grpc.LanguageRuntimeServicer):
    """Runs programs, policy packs and plugins written in Python.

    Required plugins are reported as none: the lab's plugins are found on PATH when the engine first needs them.
    """

    def __init__(self, engine: str, children: Children) -> None:
        """Take the engine's address and where started processes are kept."""
        self._engine = engine
        self._children = children

    def Handshake(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002 - gRPC's names
        """Take the engine's address."""
        self._engine = request.engine_address or self._engine
        return language_pb2.LanguageHandshakeResponse()

    def GetPluginInfo(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Report the version of the SDK whose stubs are served."""
        return plugin_pb2.PluginInfo(version=version("pulumi"))

    def GetRequiredPackages(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Report none, see the class."""
        return language_pb2.GetRequiredPackagesResponse()

    def GetRequiredPlugins(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Report none, see the class."""
        return language_pb2.GetRequiredPluginsResponse()

    def RuntimeOptionsPrompts(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Ask nothing at `pulumi new`."""
        return language_pb2.RuntimeOptionsResponse()

    def Template(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Change nothing in a new project."""
        return language_pb2.TemplateResponse()

    def Cancel(self, request: Any, context: Any) -> Any:  # noqa: N802, ARG002
        """Stop whatever runs."""
        self._children.kill_all()
        return empty_pb2.Empty()

    def About(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Name the program's interpreter and its version, for `pulumi about`."""
        python = _python(request.info, context)
        answer = _output([str(python), "-c", "import platform; print(platform.python_version())"])
        metadata = {"host": "the lab's own language host"}
        return language_pb2.AboutResponse(executable=str(python), version=answer.strip(), metadata=metadata)

    def GetProgramDependencies(self, request: Any, context: Any) -> Any:  # noqa: N802
        """List what is installed beside the program, for `pulumi about`."""
        python = _python(request.info, context)
        found = json.loads(_output([str(python), "-m", "pip", "list", "--format", "json"]))
        if not request.transitiveDependencies:
            wanted = _named(Path(request.info.program_directory, "requirements.txt"))
            found = [item for item in found if item["name"].lower() in wanted] if wanted else found
        return language_pb2.GetProgramDependenciesResponse(
            dependencies=[language_pb2.DependencyInfo(name=i["name"], version=i["version"]) for i in found]
        )

    def InstallDependencies(self, request: Any, context: Any) -> Iterator[Any]:  # noqa: N802
        """Make the virtualenv where one is named and install `requirements.txt` into it, for `pulumi install`."""
        options = _options(request.info)
        folder = Path(request.info.program_directory or request.directory)
        commands = []
        if options.get("virtualenv"):
            virtualenv = Path(request.info.root_directory, str(options["virtualenv"]))
            python = virtualenv / "bin" / "python"
            if not python.exists():
                commands.append([sys.executable, "-m", "venv", str(virtualenv)])
        else:
            python = Path(sys.executable)
        if (folder / "requirements.txt").exists():
            commands.append([str(python), "-m", "pip", "install", "-r", "requirements.txt"])
        for command in commands:
            child = self._children.start(command, cwd=folder, env=os.environ, capture=True)
            context.add_callback(lambda child=child: self._children.kill(child))
            for stream, data in _pump(child):
                yield language_pb2.InstallDependenciesResponse(**{stream: data})
            code = self._children.wait(child)
            if code:
                context.abort(grpc.StatusCode.UNKNOWN, f"{' '.join(command)} ended with exit code {code}")

    def Run(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Run a program to its end; its output is the host's own, which the engine logs."""
        try:
            python = program_python(request.info.root_directory, _options(request.info))
        except NoVirtualenvError as error:
            return language_pb2.RunResponse(error=str(error))
        env = environment(python)
        env["PULUMI_CONFIG"] = json.dumps(dict(request.config))
        env["PULUMI_CONFIG_SECRET_KEYS"] = json.dumps(list(request.configSecretKeys))
        command = [str(python), "-u", _PROGRAM, "program"]
        named = {
            "project": request.project,
            "stack": request.stack,
            "organization": request.organization,
            "root-directory": request.info.root_directory,
            "monitor": request.monitor_address,
            "engine": self._engine,
            "parallel": str(request.parallel),
        }
        command += [f"--{name}={value}" for name, value in named.items()]
        command += ["--dry-run"] if request.dryRun else []
        command += ["--", str(Path(request.info.program_directory, request.info.entry_point)), *request.args]
        code = self._run(command, cwd=request.pwd or request.info.program_directory, env=env, context=context)
        if code == _ALREADY_REPORTED:
            return language_pb2.RunResponse(bail=True)
        if code:
            return language_pb2.RunResponse(error=f"Program exited with non-zero exit code: {code}")
        return language_pb2.RunResponse()

    def _run(self, command: list[str], *, cwd: str, env: Mapping[str, str], context: Any) -> int:
        child = self._children.start(command, cwd=cwd, env=env)
        if not context.add_callback(lambda: self._children.kill(child)):
            self._children.kill(child)
        return self._children.wait(child)

    def RunPlugin(self, request: Any, context: Any) -> Iterator[Any]:  # noqa: N802
        """Run a policy pack or a plugin and stream its output; the engine ends it by ending the call."""
        python = _python(request.info, context)
        env = environment(python, dict(item.split("=", 1) for item in request.env) if request.env else None)
        folder = request.info.program_directory
        if request.kind == "analyzer":
            target = ["module", "pulumi.policy", *request.args, folder]
        else:
            target = ["folder", folder, *request.args]
        command = [str(python), "-u", _PROGRAM, *target]
        child = self._children.start(command, cwd=request.pwd or folder, env=env, capture=True)
        if not context.add_callback(lambda: self._children.kill(child)):
            self._children.kill(child)
        for stream, data in _pump(child):
            yield _output_of_plugin(stream, data)
        yield language_pb2.RunPluginResponse(exitcode=self._children.wait(child))


def _output_of_plugin(stream: str, data: bytes) -> Any:
    if stream == "stdout":
        return language_pb2.RunPluginResponse(stdout=data)
    return language_pb2.RunPluginResponse(stderr=data)


def _options(info: Any) -> dict[str, Any]:
    return json_format.MessageToDict(info.options)


def _python(info: Any, context: Any) -> Path:
    try:
        return program_python(info.root_directory, _options(info))
    except NoVirtualenvError as error:
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))
        raise


def _output(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout


def _named(requirements: Path) -> set[str]:
    """Return the lower-case names in a requirements file."""
    if not requirements.exists():
        return set()
    names = set()
    for line in requirements.read_text().splitlines():
        name = line.split("#")[0].strip().split("==")[0].split("[")[0].strip()
        if name and not name.startswith("-"):
            names.add(name.lower())
    return names


def _pump(child: "subprocess.Popen[bytes]") -> Iterator[tuple[str, bytes]]:
    """Yield the child's output as it comes, as ("stdout" or "stderr", bytes), until both pipes are closed."""
    chunks: queue.Queue[tuple[str, bytes]] = queue.Queue()

    def read(name: str, pipe: IO[bytes]) -> None:
        while data := os.read(pipe.fileno(), _CHUNK):
            chunks.put((name, data))
        chunks.put((name, b""))

    pipes = {"stdout": child.stdout, "stderr": child.stderr}
    for name, pipe in pipes.items():
        if pipe is not None:
            threading.Thread(target=read, args=(name, pipe), daemon=True).start()
    still_open = len(pipes)
    while still_open:
        name, data = chunks.get()
        if data:
            yield name, data
        else:
            still_open -= 1
