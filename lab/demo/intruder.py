"""Tenant globex tries to get onto acme's VLAN in three ways; each must be refused by the gate that is there for it."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

from lab import cluster
from lab.demo.shell import DemoError, Done, console, run, say, title

if TYPE_CHECKING:
    from pathlib import Path

    from lab.layout import Layout

STACK = "lab-globex"
FOREIGN_NETWORK = "acme-lab"
FOREIGN_VLAN = 201
INTRUDER_ID = 2199
MACHINE = f'''
import pulumi
import pulumi_proxmoxve as proxmox


def slip_in(provider: proxmox.Provider) -> None:
    """Ask for a VM on another tenant's VLAN, past every component."""
    proxmox.VmLegacy(
        "intruder",
        name="intruder",
        node_name="pve1",
        vm_id={INTRUDER_ID},
        pool_id="lab-globex",
        clone=proxmox.VmLegacyCloneArgs(vm_id=9000, node_name="pve1", full=True, retries=1),
        disks=[proxmox.VmLegacyDiskArgs(interface="scsi0", datastore_id="ceph-vm", size=20)],
        network_devices=[proxmox.VmLegacyNetworkDeviceArgs(bridge="vmbr1", vlan_id={FOREIGN_VLAN}, model="virtio")],
        opts=pulumi.ResourceOptions(provider=provider),
    )
'''


def intrude(layout: Layout) -> None:
    """Try all three; raises DemoError where one gets in or is stopped by something else than its gate."""
    title("Intruder 1 of 3: globex's stack file names acme's network; the settings refuse")
    _report(by_settings(layout))
    title("Intruder 2 of 3: a raw VM with acme's VLAN is slipped into the program; the policy pack refuses")
    _report(by_pack(layout))
    title("Intruder 3 of 3: a machine template with acme's VLAN goes straight to the API server; admission refuses")
    say(by_admission(layout))
    console.print("[bold green]  refused by admission, HTTP 422[/]")


def by_settings(layout: Layout) -> Done:
    """Preview a stack file that asks for a foreign network."""
    folder = _copy(layout, "intruder-settings")
    file = folder / "stacks" / f"Pulumi.{STACK}.yaml"
    _replace(file, "network: globex-lab", f"network: {FOREIGN_NETWORK}")
    done = run(layout, STACK, "pulumi", "preview", "-s", STACK, folder=folder)
    _refused(done, by="[NOT_YOURS]", not_by="tenant-isolation")
    return done


def by_pack(layout: Layout) -> Done:
    """Run `up` without a preview on a program with one more VM in it."""
    folder = _copy(layout, "intruder-program")
    (folder / "components" / "intruder.py").write_text(MACHINE)
    program = folder / "components" / "tenant.py"
    _replace(program, '    return {"templates"', '    slip_in(run.providers.proxmox["lab"])\n    return {"templates"')
    _replace(program, "import pulumi\n", "import pulumi\nfrom components.intruder import slip_in\n")
    done = run(
        layout, STACK, "pulumi", "up", "--yes", "--skip-preview", "--suppress-outputs", "-s", STACK, folder=folder
    )
    _refused(done, by="tenant-isolation", not_by="[NOT_YOURS]")
    return done


def by_admission(layout: Layout) -> str:
    """Send a machine template to the API server with globex's own token; give the API server's answer."""
    token = json.loads(layout.tenant_kubeconfig(STACK).read_text())["users"][0]["user"]["token"]
    api = cluster.running(layout.cluster)
    if api is None:
        message = "the API server does not run"
        raise DemoError(message)
    path = "/apis/infrastructure.cluster.x-k8s.io/v1alpha1/namespaces/tenant-globex/proxmoxmachinetemplates"
    body = machine_template(FOREIGN_VLAN, FOREIGN_NETWORK)
    (layout.home / "intruder.json").write_text(json.dumps(body, indent=1) + "\n")
    console.print(f"[bold]$ kubectl --kubeconfig .lab/kubeconfig-{STACK} create -f .lab/intruder.json[/]")
    status, answer = api.request("POST", path, body, token=token)  # what kubectl sends; it need not be installed
    text = str(answer.get("message", answer) if isinstance(answer, dict) else answer)
    if status != 422 or "ValidatingAdmissionPolicy 'hybrid-zone-machines'" not in text:  # noqa: PLR2004 - Unprocessable Entity
        message = f"expected admission to refuse with HTTP 422; the answer was {status}: {text}"
        raise DemoError(message)
    return f"  HTTP {status}: {text}"


def machine_template(vlan: int, pool: str) -> dict[str, Any]:
    """Give a machine template in globex's namespace on the zone's bridge, right in everything else."""
    return {
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1alpha1",
        "kind": "ProxmoxMachineTemplate",
        "metadata": {"name": "intruder", "namespace": "tenant-globex"},
        "spec": {
            "template": {
                "spec": {
                    "templateSelector": {"matchTags": ["talos", "v1.13.6"]},
                    "pool": "lab-globex",
                    "storage": "ceph-vm",
                    "numCores": 2,
                    "memoryMiB": 4096,
                    "network": {
                        "default": {
                            "bridge": "vmbr1",
                            "vlan": vlan,
                            "model": "virtio",
                            "ipv4PoolRef": {
                                "apiGroup": "ipam.cluster.x-k8s.io",
                                "kind": "InClusterIPPool",
                                "name": pool,
                            },
                        }
                    },
                }
            }
        },
    }


def _copy(layout: Layout, name: str) -> Path:
    folder = layout.home / name
    if folder.exists():
        shutil.rmtree(folder)
    shutil.copytree(layout.project, folder, symlinks=True, ignore=shutil.ignore_patterns(".build", "__pycache__"))
    return folder


def _replace(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    if text.count(old) != 1:
        message = f"{file.name} no longer says {old!r} once: the intruder has to be adapted"
        raise DemoError(message)
    file.write_text(text.replace(old, new))


def _refused(done: Done, *, by: str, not_by: str) -> None:
    if done.code == 0:
        message = "the intruder was let in"
        raise DemoError(message)
    if by not in done.output or not_by in done.output:
        message = f"the intruder was refused, but not by {by}"
        raise DemoError(message)


def _report(done: Done) -> None:
    console.print(f"[bold green]  refused, exit code {done.code}[/]")
