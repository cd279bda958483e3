"""Figure (d): how long the API server takes to admit a worker's template, with the guard and without it.

Two API servers run side by side and are asked in turn, over connections that stay open; only one has the guard.
"""

from __future__ import annotations

import http.client
import json
import ssl
import time
from contextlib import contextmanager
from statistics import median
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from lab import cluster as lab_cluster
from lab import crds as lab_crds
from lab.bench import large
from manifests.generations import KINDS, api_version
from manifests.isolation import isolation
from manifests.zone import zone
from settings.environment import Environment, ProxmoxLocation
from settings.stack import EnvironmentSettings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lab.cluster import Cluster

NETWORKS = (1, 64, 512)
PAIRS = 150
LIMIT = 60.0
"""Seconds until a new table is judged by."""

OK, CREATED, NOT_FOUND = 200, 201, 404
KIND = "ProxmoxMachineTemplate"
_PLURALS = {
    "CustomResourceDefinition": "customresourcedefinitions",
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
    "ProxmoxNetworkZone": KINDS["ProxmoxNetworkZone"].plural,
    "ProxmoxNetworkTable": KINDS["ProxmoxNetworkTable"].plural,
}
"""What the guard is made of; an environment's other objects are left out."""

Body = dict[str, Any]


class BenchError(RuntimeError):
    """The API server did not do what the measurement needs; the message has its answer."""


def admission_ratio(folder: Path) -> str:
    """Measure at each number of networks, one tenant each; the asking tenant's network is the table's last row."""
    with _server(folder / "bare") as bare, _server(folder / "guarded") as guarded:
        lines = [_measure(bare, guarded, networks) for networks in NETWORKS]
    return "\n".join(["(d) admission of a worker's template (dry run), with the guard and without it:", *lines])


@contextmanager
def _server(folder: Path) -> Iterator[Cluster]:
    cluster = lab_cluster.start(folder)
    try:
        lab_crds.load(cluster, None, lambda _: None)
        yield cluster
    finally:
        lab_cluster.stop(folder)


def _measure(bare: Cluster, guarded: Cluster, networks: int) -> str:
    environment = Environment.model_validate(large.environment(networks))
    tenant = f"t{networks - 1:03}"
    for each in (bare, guarded):
        lab_crds.namespaces(each, [f"tenant-{tenant}"])
    _apply(guarded, EnvironmentSettings("bench", environment))
    own = _template(environment, tenant, f"{tenant}-lab")
    foreign = _template(environment, tenant, f"{tenant}-lab", vlan=4000)
    asked = [_Connection(bare, own), _Connection(guarded, own)]
    refused = _Connection(guarded, foreign)
    _until_judged(asked[1], refused)
    times: list[list[float]] = [[], []]
    for _ in range(PAIRS):
        for connection, taken in zip(asked, times, strict=True):
            taken.append(connection.time())
    for connection in (*asked, refused):
        connection.close()
    without, with_guard = (median(taken) * 1000 for taken in times)
    ratios = sorted(b / a for a, b in zip(*times, strict=True))
    low, high = ratios[len(ratios) // 10], ratios[-len(ratios) // 10]
    return (
        f"    {networks:3} networks: {with_guard:.1f} ms, without {without:.1f} ms,"
        f" ratio {median(ratios):.2f} ({low:.2f}-{high:.2f} in 8 of 10 of {PAIRS} pairs)"
    )


class _Connection:
    """Asks one question again and again."""

    def __init__(self, cluster: Cluster, body: Body) -> None:
        """Open it when first needed."""
        context = ssl.create_default_context(cadata=cluster.ca.decode())
        self._connection = http.client.HTTPSConnection(urlsplit(cluster.server).netloc, context=context, timeout=60)
        kind = KINDS[body["kind"]]
        below = f"namespaces/{body['metadata']['namespace']}/{kind.plural}"
        self._path = f"/apis/{body['apiVersion']}/{below}?dryRun=All"
        self._body = json.dumps(body)
        self._headers = {"Authorization": f"Bearer {cluster.admin_token}", "Content-Type": "application/json"}

    def ask(self) -> tuple[int, str]:
        """Give status and answer."""
        self._connection.request("POST", self._path, self._body, self._headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read().decode()

    def time(self) -> float:
        """Give the seconds that an admitted request takes."""
        began = time.perf_counter()
        status, said = self.ask()
        took = time.perf_counter() - began
        if status != CREATED:
            message = f"a template of the tenant's own was not admitted (HTTP {status}): {said}"
            raise BenchError(message)
        return took

    def close(self) -> None:
        """Close it."""
        self._connection.close()


def _until_judged(own: _Connection, foreign: _Connection) -> None:
    """Wait until the new table is in force: it admits the last row, and nothing else."""
    end = time.monotonic() + LIMIT
    while not (own.ask()[0] == CREATED and "hybrid-zone-machines" in foreign.ask()[1]):
        if time.monotonic() > end:
            message = f"the new table is not judged by after {LIMIT:.0f} s: {own.ask()[1]}"
            raise BenchError(message)
        time.sleep(0.2)


def _apply(cluster: Cluster, settings: EnvironmentSettings) -> None:
    found = [*isolation(settings), *zone(settings.environment, "workers")]
    for item in found:
        if item.kind not in _PLURALS:
            continue
        path = f"/apis/{item.body['apiVersion']}/{_PLURALS[item.kind]}/{item.body['metadata']['name']}"
        end = time.monotonic() + LIMIT
        while True:
            status, said = cluster.request(
                "PATCH", f"{path}?fieldManager=bench&force=true", item.body, content_type="application/apply-patch+yaml"
            )
            if status in (OK, CREATED):
                break
            if status != NOT_FOUND or time.monotonic() > end:  # a definition is served a moment after it was made
                message = f"{item.name} was refused (HTTP {status}): {said}"
                raise BenchError(message)
            time.sleep(0.1)


def _template(environment: Environment, tenant: str, network: str, **changes: Any) -> Body:
    row = environment.zones["workers"].networks[network]
    location = environment.locations["lab"]
    if not isinstance(location, ProxmoxLocation):
        message = "the environment's location is no Proxmox VE location"
        raise BenchError(message)
    pool = {"apiGroup": "ipam.cluster.x-k8s.io", "kind": "InClusterIPPool", "name": network}
    nic = {"bridge": environment.zones["workers"].bridge, "vlan": row.vlan, "ipv4PoolRef": pool, **changes}
    spec = {
        "templateSelector": {"matchTags": list(location.template.tags)},
        "storage": location.storage.name,
        "pool": f"bench-{tenant}",
        "network": {"default": nic},
    }
    return {
        "apiVersion": api_version(KIND, environment.management.generation),
        "kind": KIND,
        "metadata": {"name": "bench", "namespace": environment.tenants[tenant].namespace},
        "spec": {"template": {"spec": spec}},
    }
