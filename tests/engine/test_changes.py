"""What a change touches, and what it leaves alone."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from lab import cluster
from lab.clouds import edit
from lab.up import refresh_tenant_kubeconfig, up
from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.engine.harness import EngineLab

pytestmark = pytest.mark.lab

CA = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
POOL_DC = "          dc: {backend: proxmox-vm"


def test_removing_the_middle_of_three_pools_touches_only_its_own_resources(lab: EngineLab) -> None:
    file = (lab.layout.project / "stacks" / "Pulumi.lab-acme.yaml").read_text()
    (line,) = [line for line in file.splitlines(keepends=True) if line.startswith(POOL_DC)]
    with lab.edited("lab-acme", (line, "")):
        changes = lab.changes("lab-acme")
    names = {key: op for key, op in changes.items() if "pulumi:pulumi:Stack" not in key}
    assert set(names.values()) == {"delete"}
    assert {key.split("::")[0].split(":")[-1] for key in names} == {"VmLegacy", "FileLegacy", "WorkerPool", "proxmoxve"}
    assert all("dc" in key.split("::")[1] for key in names)


def test_reordering_a_stack_file_touches_nothing(lab: EngineLab) -> None:
    file = lab.layout.project / "stacks" / "Pulumi.lab-acme.yaml"
    lines = [line for line in file.read_text().splitlines() if line.startswith("          ") and "backend:" in line]
    assert len(lines) == 3
    with lab.edited("lab-acme", ("\n".join(lines), "\n".join(reversed(lines)))):
        assert lab.changes("lab-acme") == {}


@pytest.mark.parametrize(
    ("stack", "old", "new"),
    [
        ("lab-globex", "nodes: [pve1, pve2]", "nodes: [pve2, pve1]"),
        ("lab-acme", "kubernetes: v1.35.6", "kubernetes: v1.34.9"),
        ("lab-acme", "labels: {tier: db}", "labels: {tier: web}"),
        ("lab-acme", "address: 203.0.113.10", "address: 203.0.113.11"),
    ],
)
def test_no_change_of_how_machines_are_made_replaces_one_that_exists(
    lab: EngineLab, stack: str, old: str, new: str
) -> None:
    with lab.edited(stack, (old, new)):
        changes = lab.changes(stack)
    machines = {key: op for key, op in changes.items() if "VmLegacy::" in key or "Server::" in key}
    assert set(machines.values()) <= {"update"}
    assert not [key for key, op in changes.items() if "replace" in op]


NEW_TEMPLATE = ("id: 9000, node: dc1}", "id: 9001, node: dc1}")
FORMER_TEMPLATE = "\n        formerTemplates: [{tags: [talos, v1.13.6], id: 9000, node: dc1}]"


def test_another_template_of_a_location_replaces_no_vm_that_was_cloned_from_the_old_one(lab: EngineLab) -> None:
    old, new = NEW_TEMPLATE
    with lab.edited("lab", (old, new + FORMER_TEMPLATE)):
        changes = lab.changes("lab-acme")  # the preview warns that the environment was not run; nothing is made
    assert not [key for key in changes if "VmLegacy::" in key]


def test_a_former_template_that_nobody_lists_is_refused_with_what_to_do(lab: EngineLab) -> None:
    with lab.edited("lab", NEW_TEMPLATE):
        done = lab.pulumi("lab-acme", "preview")
    assert done.code != 0
    assert "for the platform to list in the location's formerTemplates" in " ".join(done.output.split())


def test_a_changed_secret_is_changed_in_place_since_controllers_hold_on_to_it(lab: EngineLab) -> None:
    path = "/api/v1/namespaces/tenant-acme/secrets/pve-dc"
    before = lab.get(path)[1]
    with lab.edited(
        "lab",
        (
            'endpoint: "https://pve.dc.example:8006"',
            f'endpoint: "https://pve.dc.example:8006"\n        ca: {json.dumps(CA)}',
        ),
    ):
        lab.up("lab")
        after = lab.get(path)[1]
    lab.up("lab")
    assert after["metadata"]["uid"] == before["metadata"]["uid"] == lab.get(path)[1]["metadata"]["uid"]
    assert "root_ca" in after["data"]
    assert "root_ca" not in lab.get(path)[1]["data"]


def test_sourcing_a_stacks_environment_file_is_enough_for_plain_pulumi_commands(lab: EngineLab) -> None:
    command = f". {lab.layout.environment_file('lab-globex')} && pulumi preview --expect-no-changes -s lab-globex"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, cwd="/")
    assert done.returncode == 0, done.stdout + done.stderr


def test_files_with_secrets_are_their_owners_alone(lab: EngineLab) -> None:
    home = lab.layout.home
    assert home.stat().st_mode & 0o077 == 0 or home.parent.stat().st_mode & 0o077 == 0
    for file in [home / "credentials.json", lab.layout.kubeconfig, lab.layout.tenant_kubeconfig("lab-acme")]:
        assert file.stat().st_mode & 0o077 == 0, file


def test_the_command_writes_a_tenants_kubeconfig_and_says_plainly_why_it_can_not(
    lab: EngineLab, tmp_path: Path
) -> None:
    out = tmp_path / "kubeconfig"
    out.touch(mode=0o644)

    def command(kubeconfig: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "operations", "tenant-kubeconfig", "lab-globex", "--out", str(out)],
            cwd=ROOT,
            env={**os.environ, "KUBECONFIG": str(kubeconfig)},
            capture_output=True,
            text=True,
            check=False,
        )

    assert command(lab.layout.kubeconfig).returncode == 0
    assert out.stat().st_mode & 0o077 == 0
    assert json.loads(out.read_text())["users"][0]["user"]["token"] == lab.token("lab-globex")
    for wrong in (tmp_path / "missing", lab.layout.tenant_kubeconfig("lab-globex")):
        refused = command(wrong)
        assert refused.returncode == 1
        assert "set KUBECONFIG" in refused.stderr
        assert "Traceback" not in refused.stderr


def test_adding_a_machine_adds_only_that_machine(lab: EngineLab) -> None:
    with lab.edited("lab-globex", ("replicas: 2", "replicas: 3")):
        changes = lab.changes("lab-globex")
    assert set(changes.values()) <= {"create", "update"}
    created = {key.split("::")[1] for key, op in changes.items() if op == "create"}
    assert len(created) == 2
    assert all(name.startswith("prod-small-2") for name in created)


def test_a_fresh_checkout_elsewhere_changes_nothing(lab: EngineLab, tmp_path: Path) -> None:
    folder = lab.fresh_checkout(tmp_path / "clone", "lab-acme")
    assert lab.changes("lab-acme", folder=folder) == {}
    lab.unchanged("lab-acme", folder=folder)


def test_a_tenants_up_needs_neither_the_environments_passphrase_nor_its_state(lab: EngineLab, tmp_path: Path) -> None:
    hidden = [
        lab.layout.passphrase("lab"),
        lab.layout.backend / ".pulumi" / "stacks" / "hybrid" / "lab.json",
        lab.layout.kubeconfig,
    ]
    for index, path in enumerate(hidden):
        shutil.move(path, tmp_path / str(index))
    try:
        lab.unchanged("lab-acme")
    finally:
        for index, path in enumerate(hidden):
            shutil.move(tmp_path / str(index), path)


def test_an_environment_file_that_nobody_has_run_warns_at_preview_and_stops_up(lab: EngineLab) -> None:
    with lab.edited("lab", ("range: 10.202.0.20-10.202.0.199", "range: 10.202.0.20-10.202.0.198")):
        preview = lab.pulumi("lab-globex", "preview")
        assert preview.code == 0
        assert "pulumi up -s lab` first" in preview.output
        stopped = lab.pulumi("lab-globex", "up", "--yes", "--skip-preview")
        assert stopped.code != 0
        assert "pulumi up -s lab` first" in stopped.output
        assert "Traceback" not in stopped.output
        assert lab.changes("lab-acme") == {}  # the change is globex's alone


def test_a_missing_handover_stops_with_what_to_do(lab: EngineLab) -> None:
    path = "/api/v1/namespaces/tenant-globex/secrets/hybrid-handover"
    lab.api.request("DELETE", path)
    stopped = lab.pulumi("lab-globex", "preview")
    assert stopped.code != 0
    assert "run-pulumi-up-of-lab-first" in stopped.output
    lab.up("lab")  # refresh always: what was deleted by hand is made again
    assert lab.get(path)[0] == 200
    lab.unchanged("lab-globex")


def test_a_rolling_update_keeps_the_template_that_it_replaces(lab: EngineLab) -> None:
    def templates() -> set[str]:
        return {
            resource["urn"].rpartition("/")[2]
            for resource in lab.state("lab-acme")
            if resource["type"].endswith(":ProxmoxMachineTemplate")
        }

    first = templates()
    assert len(first) == 1
    for memory in ("16Gi", "32Gi"):
        with lab.edited("lab-acme", ("size: {cpu: 4, memory: 8Gi", f"size: {{cpu: 4, memory: {memory}")):
            before = templates()
            lab.up("lab-acme")
            after = templates()
            assert len(after) == 2
            assert len(after - before) == 1
            lab.unchanged("lab-acme")
            assert templates() == after
    assert not first & templates()
    lab.up("lab-acme")
    assert first < templates()
    lab.unchanged("lab-acme")


def test_a_vm_deleted_or_unplugged_by_hand_is_put_right_by_the_next_up(lab: EngineLab) -> None:
    with edit(lab.layout.clouds, "https://pve.lab.example:8006") as state:
        state["machines"]["2100"]["config"]["networkDevices"] = []
        del state["machines"]["2101"]
    lab.up("lab-globex")
    machines = lab.machines("pve.lab")
    assert machines["2100"]["config"]["networkDevices"][0]["vlanId"] == 202
    assert machines["2101"]["config"]["networkDevices"][0]["vlanId"] == 202
    lab.unchanged("lab-globex")


def test_a_vm_that_somebody_moved_to_a_foreign_vlan_is_for_an_administrator_to_move_back(lab: EngineLab) -> None:
    """Proxmox VE checks the NIC that is replaced too, so a tenant's token can not touch one on a foreign VLAN."""
    with edit(lab.layout.clouds, "https://pve.lab.example:8006") as state:
        state["machines"]["2100"]["config"]["networkDevices"][0]["vlanId"] = 201
    stopped = lab.pulumi("lab-globex", "up", "--yes")
    assert stopped.code != 0
    assert "/sdn/zones/localnetwork/vmbr1/201, SDN.Use" in stopped.output
    with edit(lab.layout.clouds, "https://pve.lab.example:8006") as state:
        state["machines"]["2100"]["config"]["networkDevices"][0]["vlanId"] = 202
    lab.unchanged("lab-globex")


def test_a_failed_config_write_never_starts_a_machine_on_a_network_and_the_next_up_repairs_it(lab: EngineLab) -> None:
    faults = lab.layout.clouds / "faults.json"
    faults.write_text(
        json.dumps([{"endpoint": "https://pve.lab.example:8006", "call": "config_put", "times": 1, "how": "error"}])
    )
    with lab.edited("lab-globex", ("replicas: 2", "replicas: 3")):
        failed = lab.pulumi("lab-globex", "up", "--yes")
        assert failed.code != 0
        assert lab.machines("pve.lab")["2102"]["config"]["networkDevices"] == []  # the template has no NIC
        assert lab.machines("pve.lab")["2102"]["status"] == "stopped"
        lab.up("lab-globex")
        machine = lab.machines("pve.lab")["2102"]
        assert machine["config"]["networkDevices"][0]["vlanId"] == 202
        assert machine["status"] == "running"
    lab.up("lab-globex")
    assert "2102" not in lab.machines("pve.lab")


def test_another_port_of_the_api_server_replaces_nothing(lab: EngineLab, crds: Path | None) -> None:
    old = lab.api.port
    cluster.stop(lab.layout.cluster)
    lab.api = cluster.start(lab.layout.cluster, port=_another_port(old))
    assert lab.api.port != old
    up(lab.layout, crds, lambda _: None)
    for stack in ("lab-acme", "lab-globex"):
        assert refresh_tenant_kubeconfig(lab.layout, stack)
    for stack in ("lab", "lab-acme", "lab-globex"):
        lab.unchanged(stack)


def _another_port(old: int) -> int:
    while True:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port: int = free.getsockname()[1]
        if port != old:
            return port


def test_the_demo_left_the_checkout_as_it_was() -> None:
    for file in (ROOT / "stacks").glob("Pulumi.*.yaml"):
        assert "encryptionsalt" not in file.read_text()
        assert "secure:" not in file.read_text()
