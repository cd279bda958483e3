from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lab.clouds import edit, seed_hcloud, seed_proxmox
from lab.clouds.errors import CloudError
from lab.clouds.faults import take
from lab.clouds.machines import lines, machines
from lab.clouds.state import state_name
from tests.lab.clouds.conftest import ACME, ADMIN, ENDPOINT, FILE, NO_SPEED, VM, machine, order_faults, vm
from tests.lab.clouds.engine import Engine, Refused
from tests.lab.clouds.test_hcloud import NETWORK, SERVER, SUBNET, server, subnet

ROOT = Path(__file__).parents[3]


def test_the_state_file_is_named_after_host_and_port() -> None:
    assert state_name("https://pve.lab.example:8006") == "pve.lab.example_8006"
    assert state_name("https://pve.lab.example:8006/api2/json") == "pve.lab.example_8006"
    assert state_name("https://pve.lab.example") == "pve.lab.example_443"
    assert state_name("hcloud") == "hcloud"


def test_seeding_again_keeps_what_is_there_and_adds_what_is_new(pve: Engine, folder: Path) -> None:
    pve.up("vm", VM, vm(), NO_SPEED)
    before = machine(folder)
    seed_proxmox(
        folder,
        ENDPOINT,
        nodes={"pve1": {"memory": 1}, "pve3": {"memory": 2}},
        storages={"new": {"content": ["iso"], "shared": True}},
        bridges=["vmbr2"],
        templates=[{"id": 2000, "node": "pve3", "tags": [], "disk_gb": 1}],
        admin_token=ADMIN,
    )
    with edit(folder, ENDPOINT) as state:
        assert state["nodes"]["pve1"] == {"memory": 262144}
        assert {"pve1", "pve3"} <= set(state["nodes"])
        assert "new" in state["storages"]
        assert state["bridges"] == ["vmbr0", "vmbr1", "vmbr2"]
    assert machine(folder) == before


def test_seeding_with_a_bad_token_is_refused_and_writes_nothing(folder: Path) -> None:
    with pytest.raises(CloudError, match="USER@REALM"):
        seed_proxmox(folder, ENDPOINT, {}, {}, [], [], "nonsense")
    for projects in ({"a": {"token": "short"}}, {"a": {"token": ACME}, "b": {"token": ACME}}):
        with pytest.raises(ValueError, match="token"):
            seed_hcloud(folder, projects, [], [])
    assert not folder.exists() or list(folder.glob("*.json")) == []


@pytest.mark.usefixtures("pve")
def test_an_edit_that_fails_changes_nothing(folder: Path) -> None:
    before = (folder / "pve.lab.example_8006.json").read_bytes()

    def fail() -> None:
        with edit(folder, ENDPOINT) as state:
            state["machines"].clear()
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert (folder / "pve.lab.example_8006.json").read_bytes() == before


@pytest.mark.usefixtures("pve")
def test_many_at_once_lose_nothing(folder: Path) -> None:
    engines = [Engine("proxmoxve", folder, endpoint=ENDPOINT, apiToken=ADMIN) for _ in range(20)]

    def make(index: int) -> str:
        return engines[index].up("vm", VM, vm(vmId=None, name=f"m{index}"), NO_SPEED)

    with ThreadPoolExecutor(max_workers=8) as pool:
        assert list(pool.map(make, range(20))) == ["create"] * 20
    with edit(folder, ENDPOINT) as state:
        names = {each["name"] for each in state["machines"].values() if not each["template"]}
    assert names == {f"m{index}" for index in range(20)}


def test_many_processes_at_once_lose_nothing(folder: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from lab.clouds import edit\n"
        "for n in range(25):\n"
        "    with edit(Path(sys.argv[1]), 'hcloud') as state: state['count'] = state.get('count', 0) + 1\n"
    )
    command = [sys.executable, "-c", code, str(folder)]
    running = [subprocess.Popen(command, cwd=ROOT) for _ in range(4)]
    assert [each.wait(timeout=60) for each in running] == [0] * 4
    with edit(folder, "hcloud") as state:
        assert state["count"] == 100


def test_a_fault_fires_as_often_as_ordered_and_only_for_its_endpoint_and_call(folder: Path) -> None:
    order_faults(folder, {"endpoint": f"{ENDPOINT}/", "call": "clone", "times": 2, "how": "lost_answer"})
    assert take(folder, "https://other.example:8006", "clone") is None
    assert take(folder, ENDPOINT, "start") is None
    assert [take(folder, ENDPOINT, "clone") for _ in range(3)] == ["lost_answer", "lost_answer", None]
    assert json.loads((folder / "faults.json").read_text()) == []


def test_an_error_on_demand_does_nothing_and_is_over_after_it(pve: Engine, folder: Path) -> None:
    order_faults(folder, {"endpoint": ENDPOINT, "call": "clone"})
    with pytest.raises(Refused, match="told to fail"):
        pve.up("vm", VM, vm(), NO_SPEED)
    assert pve.up("vm", VM, vm(), NO_SPEED) == "create"


@pytest.fixture
def full(pve: Engine, acme: Engine, tmp_path: Path) -> None:
    (tmp_path / "seed.iso").write_bytes(b"content")
    source = {"path": str(tmp_path / "seed.iso")}
    pve.up("iso", FILE, {"contentType": "iso", "datastoreId": "iso-acme", "nodeName": "pve1", "sourceFile": source})
    pve.up("vm", VM, vm(cdrom={"fileId": "iso-acme:iso/seed.iso"}), NO_SPEED)
    acme.up("network", NETWORK, {"name": "acme", "ipRange": "10.100.0.0/16"})
    number = int(acme.state["network"].identity)
    acme.up("subnet", SUBNET, subnet(number, "10.100.1.0/24"))
    private = [{"ipv4Enabled": False, "ipv6Enabled": False}]
    acme.up("server", SERVER, server(networks=[{"networkId": number}], publicNets=private))
    acme.up("public", SERVER, server(name="public"))


@pytest.mark.usefixtures("full")
def test_the_list_shows_every_machine_with_its_nics_and_cdrom(folder: Path) -> None:
    found = {each["name"]: each for each in machines(folder)}
    assert set(found) == {"prod-dc-0", "prod-cloud-0", "public"}
    direct = found["prod-dc-0"]
    assert (direct["endpoint"], direct["place"], direct["id"], direct["status"]) == (
        ENDPOINT,
        "pve1",
        "2000",
        "running",
    )
    (nic,) = direct["nics"]
    assert (nic["bridge"], nic["vlan"], nic["mtu"]) == ("vmbr1", 201, 1400)
    assert Path(direct["cdrom"]["path"]).read_bytes() == b"content"
    cloud = found["prod-cloud-0"]
    assert (cloud["group"], cloud["place"], cloud["tags"]) == ("acme", "fsn1", ["tenant=acme"])
    assert [(nic["network"], nic["ip"]) for nic in cloud["nics"]] == [("acme", "10.100.1.2")]
    assert [nic["network"] for nic in found["public"]["nics"]] == [None]
    assert {each["id"] for each in machines(folder, templates=True)} >= {"9000", "9001"}


@pytest.mark.usefixtures("full")
def test_the_table_has_a_line_for_each_machine(folder: Path) -> None:
    table = list(lines(machines(folder)))
    assert len(table) == 4
    assert any("vmbr1,vlan=201,mtu=1400" in line for line in table)
    assert list(lines([])) == ["no machines"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lab.clouds", "machines", *arguments]
    return subprocess.run(command, cwd=ROOT, env={}, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.usefixtures("full")
def test_the_command_prints_a_table_or_json(folder: Path) -> None:
    assert "prod-dc-0" in run("--state", str(folder)).stdout
    found: list[dict[str, Any]] = json.loads(run("--state", str(folder), "--json").stdout)
    assert found == machines(folder)


def test_the_command_says_what_it_needs_when_there_is_no_state(tmp_path: Path) -> None:
    for arguments in ([], ["--state", str(tmp_path / "none")]):
        done = run(*arguments)
        assert done.returncode != 0
        assert "HYBRID_LAB_CLOUDS" in done.stderr
