"""The conversion stand-in as one of the lab's servers."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lab import cluster as lab_cluster
from lab import conversion, crds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.cluster import Cluster

UPSTREAM = Path(__file__).resolve().parents[3] / "shared" / "crds"
GROUP = "infrastructure.cluster.x-k8s.io"

pytestmark = [pytest.mark.lab, pytest.mark.shared]


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory, tools: None) -> Iterator[Path]:  # noqa: ARG001 - built first
    found = tmp_path_factory.mktemp("cluster")
    yield found
    conversion.stop(found)
    lab_cluster.stop(found)


def older(cluster: Cluster) -> dict[str, Any]:
    """Make a template in the older version, and read it in the newer."""
    nic = {"bridge": "vmbr1", "vlan": 201}
    spec = {"sourceNode": "pve1", "templateID": 100, "network": {"default": nic}}
    path = f"/apis/{GROUP}/v1alpha1/namespaces/default/proxmoxmachinetemplates"
    body = {
        "apiVersion": f"{GROUP}/v1alpha1",
        "kind": "ProxmoxMachineTemplate",
        "metadata": {"name": "older"},
        "spec": {"template": {"spec": spec}},
    }
    status, said = cluster.request("POST", path, body)
    assert status == 201, said
    status, found = cluster.request("GET", f"{path.replace('v1alpha1', 'v1alpha2')}/older")
    assert status == 200, found
    assert cluster.request("DELETE", f"{path}/older")[0] == 200
    network: dict[str, Any] = found["spec"]["template"]["spec"]["network"]
    return network


def test_it_runs_where_both_versions_are_survives_being_killed_and_ends_with_the_older_generation(state: Path) -> None:
    cluster = lab_cluster.start(state)
    said: list[str] = []
    pid, port = state / "conversion.pid", state / "conversion.port"
    conversion.keep(cluster, state, said.append)
    assert (said, pid.exists()) == ([], False)

    crds.load(cluster, UPSTREAM / "capi-1.12", lambda _: None)
    conversion.keep(cluster, state, said.append)
    assert len(said) == 1
    assert "stand-in" in said[0]
    (nic,) = older(cluster)["networkDevices"]
    assert (nic["name"], nic["vlan"]) == ("net0", 201)

    first, address = int(pid.read_text()), port.read_text()
    conversion.keep(cluster, state, said.append)
    assert int(pid.read_text()) == first
    os.kill(first, signal.SIGKILL)
    os.waitpid(first, 0)
    conversion.keep(cluster, state, said.append)
    assert (len(said), port.read_text()) == (1, address)
    assert older(cluster)["networkDevices"]

    crds.load(cluster, UPSTREAM / "capi-1.12", lambda _: None)
    conversion.keep(cluster, state, said.append)
    assert len(said) == 2
    assert older(cluster)["networkDevices"]

    crds.load(cluster, UPSTREAM / "capi-1.10", lambda _: None)
    conversion.keep(cluster, state, said.append)
    assert not pid.exists()
