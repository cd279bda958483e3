"""Figure (e): what the policy pack costs over 1,000 resources, against the same run with a pack that judges nothing.

The program registers VMs, the kind that takes the most judging, and is previewed: nothing is asked of a cloud then, so
that both runs of a pair do the same but for the pack.
"""

from __future__ import annotations

import json
import subprocess
import time
from statistics import median
from typing import TYPE_CHECKING

from lab.env_file import full_environment
from lab.up import LabError

if TYPE_CHECKING:
    from pathlib import Path

    from lab.layout import Layout

STACK = "lab-bench"
ENDPOINT = "https://pve.lab.example:8006"
RESOURCES = 1000
PAIRS = 5
TARGET = 0.8

PROGRAM = """
import pulumi
import pulumi_proxmoxve as proxmox

token = "lab-acme@pve!hybrid=00000000-0000-4000-8000-000000000000"
provider = proxmox.Provider("lab", endpoint="{endpoint}", api_token=token)
for number in range({resources}):
    proxmox.VmLegacy(
        f"vm{{number}}",
        name=f"vm{{number}}",
        node_name="pve1",
        vm_id=2000,
        pool_id="lab-acme",
        clone=proxmox.VmLegacyCloneArgs(vm_id=9000, node_name="pve1", full=True, retries=1),
        cpu=proxmox.VmLegacyCpuArgs(cores=4, type="x86-64-v2-AES"),
        memory=proxmox.VmLegacyMemoryArgs(dedicated=8192),
        disks=[proxmox.VmLegacyDiskArgs(interface="scsi0", datastore_id="ceph-vm", size=40)],
        cdrom=proxmox.VmLegacyCdromArgs(file_id=f"iso-acme:iso/vm{{number}}.iso", interface="ide2"),
        network_devices=[proxmox.VmLegacyNetworkDeviceArgs(bridge="vmbr1", vlan_id=201, model="virtio")],
        opts=pulumi.ResourceOptions(provider=provider),
    )
"""
EMPTY = """
from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy

nothing = ResourceValidationPolicy(name="nothing", description="Judges nothing.", validate=lambda args, report: None)
PolicyPack("empty", policies=[nothing], enforcement_level=EnforcementLevel.MANDATORY)
"""


def pack_cost(layout: Layout) -> str:
    """Time previews with the pack and with the empty one in turn; `layout`'s lab is up."""
    program, empty, config = _program(layout), _empty(layout), _config(layout)
    ours, theirs = [], []
    for _ in range(PAIRS + 1):
        ours.append(_time(layout, program, layout.project / "policy", config))
        theirs.append(_time(layout, program, empty, None))
    pairs = [round(a - b, 2) for a, b in zip(ours[1:], theirs[1:], strict=True)]  # the first pair warms the caches
    return (
        f"(e) the pack over {RESOURCES} resources: {median(ours[1:]):.2f} s, an empty pack {median(theirs[1:]):.2f} s; "
        f"median of the pairs' differences {median(pairs):.2f} s ({', '.join(map(str, pairs))}; target <= {TARGET})"
    )


def _program(layout: Layout) -> Path:
    folder = layout.home / "thousand"
    (folder / "stacks").mkdir(parents=True)
    for name in ("Pulumi.yaml", ".venv"):
        (folder / name).symlink_to((layout.project / name).resolve())
    (folder / "__main__.py").write_text(PROGRAM.format(resources=RESOURCES, endpoint=ENDPOINT))
    layout.passphrase(STACK).write_text("of nothing secret\n")
    command = ["pulumi", "stack", "init", STACK]
    subprocess.run(command, cwd=folder, env=full_environment(layout, STACK), capture_output=True, check=True)
    return folder


def _config(layout: Layout) -> Path:
    """Write the lab's config of the pack with one more stack of tenant acme."""
    config = json.loads(layout.policy_config("lab").read_text())
    stacks = next(part["stacks"] for part in config.values() if isinstance(part, dict))
    stacks[STACK] = stacks["lab-acme"]
    file = layout.home / "policy-config-bench.json"
    file.write_text(json.dumps(config))
    return file


def _empty(layout: Layout) -> Path:
    folder = layout.home / "empty-pack"
    folder.mkdir()
    (folder / "PulumiPolicy.yaml").write_text((layout.project / "policy" / "PulumiPolicy.yaml").read_text())
    (folder / "__main__.py").write_text(EMPTY)
    (layout.home / ".venv").symlink_to((layout.project / ".venv").resolve())
    return folder


def _time(layout: Layout, folder: Path, pack: Path, config: Path | None) -> float:
    environment = full_environment(layout, STACK)
    environment["PULUMI_OPTION_POLICY_PACK"] = str(pack)
    environment.pop("PULUMI_OPTION_POLICY_PACK_CONFIG")
    command = ["pulumi", "preview", "--suppress-outputs", "--json", "-s", STACK]
    if config is not None:
        command += ["--policy-pack-config", str(config)]
    began = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    took = time.perf_counter() - began
    if done.returncode or json.loads(done.stdout)["changeSummary"].get("create", 0) <= RESOURCES:
        message = f"preview of {RESOURCES} resources: {done.stdout[-2000:]}{done.stderr[-2000:]}"
        raise LabError(message)
    return took
