"""Start, stop and find the lab's control plane: etcd, kube-apiserver, kube-controller-manager on loopback.

Layout of a state folder (`.lab/cluster`): `etcd/`, `apiserver/` (CA, key, token file), `controller-manager/` hold what
a restart keeps; `<server>.pid` and `<server>.log` belong to the running processes; `cluster.json` names the port.
"""

from __future__ import annotations

import fcntl
import json
import secrets
import socket
import ssl
import time
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lab import toolchain
from lab.cluster import servers
from lab.cluster.cluster import Cluster
from lab.cluster.process import Process

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_READY_SECONDS = 120.0
_POLL_SECONDS = 0.1
_HTTP_OK = 200
_ATTEMPTS = 3
_BUSY = "address already in use"


class ClusterError(RuntimeError):
    """The control plane did not start; the message has the end of the log of the server that failed."""


class _State:
    """The files and processes of one state folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.record = self.folder / "cluster.json"
        self.etcd = Process("etcd", self.folder, f"--data-dir={self.data('etcd')}")
        self.api_server = Process("kube-apiserver", self.folder, f"--cert-dir={self.data('apiserver')}")
        self.manager = Process("kube-controller-manager", self.folder, f"--cert-dir={self.data('controller-manager')}")

    def data(self, name: str) -> Path:
        return self.folder / name

    @property
    def processes(self) -> tuple[Process, ...]:
        """In the order of starting."""
        return self.etcd, self.api_server, self.manager

    def make(self) -> None:
        for name in ("etcd", "apiserver", "controller-manager"):
            self.data(name).mkdir(mode=0o700, parents=True, exist_ok=True)

    def admin_token(self) -> str:
        """Return the admin's token, made at the first start."""
        file = self.data("apiserver") / "tokens.csv"
        if not file.exists() or not file.stat().st_size:
            file.touch(mode=0o600)
            file.write_text(f'{secrets.token_hex(24)},lab-admin,lab-admin,"system:masters"\n')
        return file.read_text().split(",", 1)[0]

    def recorded_port(self) -> int | None:
        try:
            return int(json.loads(self.record.read_text())["port"])
        except (FileNotFoundError, ValueError, KeyError):
            return None

    def cluster(self, port: int) -> Cluster:
        authority = (self.data("apiserver") / "apiserver.crt").read_bytes()
        return Cluster(f"https://{servers.LOOPBACK}:{port}", authority, self.admin_token())


def running(state: Path) -> Cluster | None:
    """Return the control plane of a state folder if all of it runs, else `None`."""
    found = _State(state)
    port = found.recorded_port()
    if port is None or any(process.pid() is None for process in found.processes):
        return None
    return found.cluster(port)


def start(state: Path, port: int | None = None) -> Cluster:
    """Start the control plane of a state folder and wait until it is ready; one that runs already is returned.

    Data, CA, keys and tokens of an earlier run are kept. Without `port` the API server takes the port of the last
    run if that is free, else any free one; with `port` exactly that one, restarting if it runs on another. Raises
    `ClusterError`, and `toolchain.ToolMissingError` if a server is not installed or built; then nothing runs.
    """
    found = _State(state)
    found.make()
    with _lock(found):
        present = running(state)
        if present is not None and port in (None, present.port):
            return present
        binaries = {process.name: toolchain.tool(process.name) for process in found.processes}
        for attempt in range(_ATTEMPTS):
            _stop(found)
            try:
                return _start(found, binaries, port)
            except _PortTakenError as error:  # between choosing a free port and using it somebody else took it
                if attempt == _ATTEMPTS - 1:
                    raise ClusterError(str(error)) from error
            except BaseException:
                _stop(found)
                raise
        raise AssertionError  # the loop returns or raises


def stop(state: Path) -> None:
    """Stop the control plane of a state folder, keeping its data; nothing happens if it does not run."""
    found = _State(state)
    if found.folder.is_dir():
        with _lock(found):
            _stop(found)


class _PortTakenError(Exception):
    pass


def _stop(found: _State) -> None:
    for process in reversed(found.processes):
        process.stop()


def _start(found: _State, binaries: dict[str, Path], wanted: int | None) -> Cluster:
    last = found.recorded_port()
    port = wanted or (last if last and _is_free(last) else None)
    if wanted and not _is_free(wanted):
        message = f"port {wanted} of {servers.LOOPBACK} is taken by another program"
        raise ClusterError(message)
    client, peer, manager, *rest = _free_ports(3 if port else 4)
    port = port or rest[0]
    found.record.unlink(missing_ok=True)  # it is written again when all is ready

    found.etcd.start(servers.etcd(binaries["etcd"], found.data("etcd"), client, peer))
    _wait(found.etcd, lambda: _healthy(f"http://{servers.LOOPBACK}:{client}/health"))

    token = found.admin_token()
    api_data = found.data("apiserver")
    found.api_server.start(servers.api_server(binaries["kube-apiserver"], api_data, port, client))
    _wait(found.api_server, (api_data / "apiserver.key").exists)  # written after the certificate
    cluster = Cluster(f"https://{servers.LOOPBACK}:{port}", (api_data / "apiserver.crt").read_bytes(), token)
    _wait(found.api_server, lambda: _ready(cluster))

    data = found.data("controller-manager")
    kubeconfig = data / "kubeconfig"
    kubeconfig.touch(mode=0o600)
    kubeconfig.write_text(json.dumps(cluster.kubeconfig("lab")))  # JSON is YAML
    binary = binaries["kube-controller-manager"]
    found.manager.start(servers.controller_manager(binary, data, api_data, manager))
    _wait(found.manager, lambda: _healthy(f"https://{servers.LOOPBACK}:{manager}/healthz"))

    found.record.write_text(json.dumps({"server": cluster.server, "port": port}) + "\n")
    return cluster


def _wait(process: Process, ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while not ready():
        if process.pid() is None:
            message = f"{process.name} ended while starting. The end of {process.log_file}:\n{process.tail()}"
            raise (_PortTakenError if _BUSY in process.tail() else ClusterError)(message)
        if time.monotonic() > deadline:
            message = (
                f"{process.name} was not ready after {_READY_SECONDS:.0f} s. "
                f"The end of {process.log_file}:\n{process.tail()}"
            )
            raise ClusterError(message)
        time.sleep(_POLL_SECONDS)


def _ready(cluster: Cluster) -> bool:
    try:
        return cluster.request("GET", "/readyz", timeout=5)[0] == _HTTP_OK
    except OSError:
        return False


def _healthy(url: str) -> bool:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # a health answer carries no secret either way
    handlers = (urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
    opener = urllib.request.build_opener(*handlers)
    try:
        with opener.open(url, timeout=5) as answer:
            return bool(answer.status == _HTTP_OK)
    except OSError:
        return False


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a port that was just closed is free
        try:
            probe.bind((servers.LOOPBACK, port))
        except OSError:
            return False
        return True


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:  # all bound before the first is closed, so that they differ
            each.bind((servers.LOOPBACK, 0))
        return [int(each.getsockname()[1]) for each in sockets]
    finally:
        for each in sockets:
            each.close()


@contextmanager
def _lock(found: _State) -> Iterator[None]:
    with (found.folder / "lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
