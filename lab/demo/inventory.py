"""What exists after the demo: every machine, where it stands, on which VLAN, with which address."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from lab.demo.shell import console
from lab.up import pulumi

if TYPE_CHECKING:
    from lab.cluster import Cluster
    from lab.layout import Layout

COLUMNS = ("tenant", "cluster", "pool", "machine", "location", "VLAN", "address")
MACHINE_DEPLOYMENTS = "/apis/cluster.x-k8s.io/v1beta1/machinedeployments"
TEMPLATES = "/apis/infrastructure.cluster.x-k8s.io/v1alpha1/namespaces/{namespace}/proxmoxmachinetemplates/{name}"
SIZE = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-{}-size"
LOCATION, POOL = "node.cluster.x-k8s.io/location", "node.cluster.x-k8s.io/pool"


def inventory(layout: Layout, api: Cluster, tenants: list[str]) -> list[tuple[str, ...]]:
    """List machines from the stacks' outputs and MachineDeployments from the API server."""
    rows: list[tuple[str, ...]] = []
    namespaces = json.loads(pulumi(layout, "lab", "stack", "output", "tenants", "--json", "-s", "lab"))
    by_namespace = {namespace: tenant for tenant, namespace in namespaces.items()}
    _, deployments = api.request("GET", MACHINE_DEPLOYMENTS)
    rows.extend(_deployment(api, by_namespace, item) for item in deployments["items"])
    for stack in tenants:
        tenant = stack.partition("-")[2]
        pools = json.loads(pulumi(layout, stack, "stack", "output", "machines", "--json", "-s", stack))
        for pool, machines in pools.items():
            cluster, _, short = pool.partition("-")
            for machine in machines:
                vlan = str(machine.get("vlan", "own network"))
                rows.append(
                    (tenant, cluster, short, machine["name"], machine["location"], vlan, machine.get("address") or "")
                )
    return sorted(rows)


def show(rows: list[tuple[str, ...]]) -> None:
    """Print the table, a line each however long."""
    widths = [max(len(row[column]) for row in [COLUMNS, *rows]) for column in range(len(COLUMNS))]
    for row in [COLUMNS, *rows]:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        console.print(escape(line.rstrip()), style="bold" if row is COLUMNS else "")


def _deployment(api: Cluster, tenants: dict[str, str], item: dict[str, Any]) -> tuple[str, ...]:
    meta, template = item["metadata"], item["spec"]["template"]
    notes = meta.get("annotations", {})
    size = (
        f"{notes[SIZE.format('min')]}-{notes[SIZE.format('max')]}"
        if SIZE.format("min") in notes
        else str(item["spec"]["replicas"])
    )
    labels = template["metadata"]["labels"]
    path = TEMPLATES.format(namespace=meta["namespace"], name=template["spec"]["infrastructureRef"]["name"])
    _, machine_template = api.request("GET", path)
    nic = machine_template["spec"]["template"]["spec"]["network"]["default"]
    return (
        tenants[meta["namespace"]],
        item["spec"]["clusterName"],
        labels[POOL],
        f"MachineDeployment {size}; its machines are made by controllers that the lab does not run",
        labels[LOCATION],
        str(nic["vlan"]),
        f"from pool {nic['ipv4PoolRef']['name']}",
    )
