"""The stand-in as one of the lab's servers: it runs as long as the API server that asks it.

`conversion.pid`, `.log` and `.port` in the cluster's state folder belong to it.
"""

from __future__ import annotations

import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.cluster.lifecycle import ClusterError
from lab.cluster.process import Process
from lab.conversion.convert import GROUP, NEW, OLD
from lab.conversion.server import LOOPBACK, install, webhook_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.cluster import Cluster

_ROOT = Path(__file__).resolve().parents[2]
_MACHINES = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/proxmoxmachines.{GROUP}"
_SECONDS, _POLL_SECONDS = 30.0, 0.1


def keep(cluster: Cluster, state: Path, report: Callable[[str], None]) -> None:
    """Let the stand-in run where capmox's kinds are there in both versions, and nowhere else.

    Raises ClusterError, with the end of its log, where it does not start or is not asked within a minute.
    """
    status, found = cluster.request("GET", _MACHINES)
    versions = {each["name"] for each in found["spec"]["versions"]} if status == 200 else set()  # noqa: PLR2004 - HTTP
    if not versions >= {OLD, NEW}:
        stop(state)
        return
    process = _process(state)
    port_file = process.state / "conversion.port"
    if process.pid() is None:
        port = _free_port(port_file)
        options = [process.marker, f"--port={port}"]
        process.start(["/usr/bin/env", f"PYTHONPATH={_ROOT}", sys.executable, "-m", "lab.conversion", *options])
        _wait(process, port)
        port_file.write_text(f"{port}\n")
    webhook = webhook_at(int(port_file.read_text()), cluster.ca)
    if not _asks(found, webhook.url):
        install(cluster, webhook)
        report(
            f"conversion: a stand-in for capmox's webhook converts {OLD} to {NEW}, so that older requests are judged"
        )


def stop(state: Path) -> None:
    """End it, if it runs."""
    if state.is_dir():
        _process(state).stop()


def _process(state: Path) -> Process:
    folder = state.resolve()
    return Process("conversion", folder, f"--state={folder}")


def _asks(definition: dict[str, Any], url: str) -> bool:
    conversion = definition["spec"].get("conversion") or {}
    return bool((conversion.get("webhook") or {}).get("clientConfig", {}).get("url") == url)


def _free_port(port_file: Path) -> int:
    """Give the port of the last run, which the definitions name, if it is free; else any free one."""
    wanted = int(port_file.read_text()) if port_file.exists() else 0
    for port in (wanted, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((LOOPBACK, port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise AssertionError  # port 0 is always free


def _wait(process: Process, port: int) -> None:
    deadline = time.monotonic() + _SECONDS
    while True:
        with socket.socket() as probe:
            if probe.connect_ex((LOOPBACK, port)) == 0:
                return
        if process.pid() is None or time.monotonic() > deadline:
            message = f"the conversion webhook did not start. The end of {process.log_file}:\n{process.tail()}"
            process.stop()
            raise ClusterError(message)
        time.sleep(_POLL_SECONDS)
