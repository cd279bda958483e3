"""The demo's steps in their order."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from lab import cluster
from lab.demo import inventory
from lab.demo.intruder import intrude
from lab.demo.shell import DemoError, console, must, run, say, title
from lab.stacks import stack_names
from lab.up import LabError, refresh_tenant_kubeconfig, remove, resources, up

if TYPE_CHECKING:
    from pathlib import Path

    from lab.layout import Layout

ENVIRONMENT = "lab"
TENANTS = ["lab-acme", "lab-globex"]


def demo(layout: Layout, crd_source: Path | None = None) -> None:
    """Run everything; raises DemoError at the first step that does not end as it should."""
    began = time.monotonic()
    title("The lab: real engine and API server, simulated Proxmox VE and Hetzner Cloud")
    up(layout, crd_source, say)
    api = cluster.running(layout.cluster)
    if api is None:
        message = "the API server does not run"
        raise LabError(message)

    title("Environment lab: two Proxmox VE locations, Hetzner Cloud, one zone, two tenants")
    must(run(layout, ENVIRONMENT, "pulumi", "up", "--yes", "--suppress-outputs", "-s", ENVIRONMENT), "the environment")
    for stack in TENANTS:
        title(f"Tenant stack {stack}: its own passphrase, its own identity, the policy pack watching")
        say(f"$ make tenant-kubeconfig STACK={stack}")
        if not refresh_tenant_kubeconfig(layout, stack):
            message = f"the environment made no token for {stack}"
            raise DemoError(message)
        must(run(layout, stack, "pulumi", "up", "--yes", "--suppress-outputs", "-s", stack), stack)

    title("Again: nothing changes")
    for stack in [ENVIRONMENT, *TENANTS]:
        must(
            run(layout, stack, "pulumi", "up", "--yes", "--suppress-outputs", "--expect-no-changes", "-s", stack),
            f"second up of {stack}",
        )

    intrude(layout)

    title("What now exists")
    rows = inventory.inventory(layout, api, TENANTS)
    inventory.show(rows)
    if any("intruder" in cell for row in rows for cell in row):
        message = "the intruder has a machine"
        raise DemoError(message)
    console.print(
        f"\n[bold green]Done in {time.monotonic() - began:.0f} s.[/] Look around: make machines; "
        "(. .lab/env-lab-acme; pulumi stack -s lab-acme)\nTake it down: make demo-clean"
    )


def clean(layout: Layout) -> None:
    """Destroy the tenants' stacks, then the environment; remove everything in any case."""
    if not layout.home.exists():
        say("there is no lab: nothing to clean")
        return
    try:
        if cluster.running(layout.cluster) is None:
            up(layout, None, say)
        for stack in reversed(stack_names(layout.project / "stacks")):  # tenants before their environment
            if resources(layout, stack):
                title(f"Destroy {stack}")
                must(run(layout, stack, "pulumi", "destroy", "--yes", "-s", stack), f"destroy of {stack}")
    except (LabError, DemoError, OSError) as error:
        say(f"{error}\nthe stacks can not be destroyed in order; removing the lab as a whole (it is simulated)")
    remove(layout)
    say("nothing of the lab is left running; .lab/ is gone")
