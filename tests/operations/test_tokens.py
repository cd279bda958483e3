"""The audit of tokens, asked over HTTP of stand-ins that know what each token may do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lab import seeding
from lab.clouds import edit
from lab.clouds.rest import serving
from lab.operations import LabServers
from operations.effective import differences, foreign_paths
from operations.handed_over import HandedOver
from operations.projects import projects
from operations.tokens import tokens
from settings.access import ROLES, grants, resource_pool, token_name
from settings.environment import ProxmoxLocation
from tests.manifests.examples import environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from settings.stack import EnvironmentSettings

SETTINGS = environment({"locations.fsn1.tenants.globex": {"cidr": "10.101.0.0/16", "subnet": "10.101.1.0/24"}})
ENDPOINT = "https://pve.lab.example:8006"
UUID = "11111111-2222-4333-8444-55555555555{}"
RUN = "run `pulumi up` of the environment"
CLOUD = {"acme": "a" * 64, "globex": "g" * 64}


def up(folder: Path, settings: EnvironmentSettings) -> dict[str, HandedOver]:
    """Write into the stand-ins what the environment's `up` makes there, and give what it hands over."""
    admin = {name: {"token": f"pulumi@pve!lab={UUID.format(9)}"} for name in ("lab", "dc")}
    seeding.seed(folder, settings, {**admin, "fsn1": CLOUD})
    given: dict[str, HandedOver] = {}
    for number, tenant in enumerate(settings.environment.tenants):
        handover: dict[str, str] = {}
        pve: dict[str, dict[str, str]] = {}
        for name, location in settings.environment.locations.items():
            if isinstance(location, ProxmoxLocation) and tenant in location.tenants:
                pool = resource_pool("lab", tenant)
                user, secret = f"{pool}@pve", UUID.format(number)
                token = f"{user}!{token_name(1)}"
                with edit(folder, location.endpoint) as state:
                    state["users"][user] = {"enabled": True}
                    state["tokens"][token] = {"secret": secret, "privsep": True}
                    state["pools"][pool] = {"comment": ""}
                    state["roles"].update({f"hybrid-lab-{role}": list(found) for role, found in ROLES.items()})
                    for grant in grants(settings, name, tenant):
                        for who, kind in ((user, "user"), (token, "token")):
                            state["acls"].append(entry(grant.path, grant.role, who, kind))
                pve[name] = {"url": location.endpoint, "insecure": "false", "token": token, "secret": secret}
                handover[f"{name}.token"] = f"{token}={secret}"
        handover["fsn1.token"] = CLOUD[tenant]
        handover["fsn1.network"] = str(5000 + number)
        with edit(folder, "hcloud") as state:
            network = {"name": f"lab-{tenant}-fsn1", "ipRange": "10.0.0.0/16", "subnets": {}, "labels": labels(tenant)}
            state["projects"][f"fsn1-{tenant}"]["networks"][str(5000 + number)] = network
        given[tenant] = HandedOver(handover, pve)
    return given


def labels(tenant: str) -> dict[str, str]:
    return {"environment": "lab", "tenant": tenant}


def entry(path: str, role: str, who: str, kind: str, *, propagate: bool = False) -> dict[str, Any]:
    return {"path": path, "role": f"hybrid-lab-{role}", "who": who, "type": kind, "propagate": propagate}


def machine(pool: str, *, template: bool = False, **config: Any) -> dict[str, Any]:
    return {
        "name": "m",
        "node": "pve1",
        "pool": pool,
        "status": "stopped",
        "starts": 0,
        "template": template,
        "config": {"networkDevices": [], "disks": [], **config},
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "clouds"


@pytest.fixture
def given(folder: Path) -> dict[str, HandedOver]:
    return up(folder, SETTINGS)


@pytest.fixture
def servers(folder: Path) -> Iterator[LabServers]:
    with serving(folder) as base:
        yield LabServers(base)


def not_ok(lines: Any) -> dict[str, str]:
    return {f"{outcome} {what}": detail for what, outcome, detail in lines if outcome != "ok"}


def test_tokens_with_exactly_the_list_are_right(given: dict[str, HandedOver], servers: LabServers) -> None:
    lines = list(tokens(SETTINGS, given, servers))
    assert not_ok(lines) == {}
    assert len([what for what, _, _ in lines if "permissions are those of the list" in what]) == 3
    assert {what for what, _, _ in lines} >= {
        "lab: Proxmox VE 9",
        "lab: what tenants can clone",
        "lab/globex: the token may do nothing elsewhere",
    }
    assert not_ok(projects(SETTINGS, given, servers)) == {}


def test_machines_in_the_own_pool_with_own_ids_are_no_surplus(
    given: dict[str, HandedOver], servers: LabServers, folder: Path
) -> None:
    with edit(folder, ENDPOINT) as state:
        state["machines"]["2100"] = machine("lab-globex")
    assert not_ok(tokens(SETTINGS, given, servers)) == {}


GLOBEX, ITS_TOKEN = "lab-globex@pve", "lab-globex@pve!hybrid"


def granted(path: str, role: str = "network", *, propagate: bool = False) -> Callable[[dict[str, Any]], None]:
    def change(state: dict[str, Any]) -> None:
        for who, kind in ((GLOBEX, "user"), (ITS_TOKEN, "token")):
            state["acls"].append(entry(path, role, who, kind, propagate=propagate))

    return change


def taken(path: str) -> Callable[[dict[str, Any]], None]:
    def change(state: dict[str, Any]) -> None:
        state["acls"] = [acl for acl in state["acls"] if (acl["path"], acl["who"]) != (path, ITS_TOKEN)]

    return change


def added(number: int, made: dict[str, Any]) -> Callable[[dict[str, Any]], None]:
    return lambda state: state["machines"].__setitem__(str(number), made)


def with_nic(state: dict[str, Any]) -> None:
    state["machines"]["9000"]["config"]["networkDevices"] = [{"model": "virtio", "bridge": "vmbr1"}]


def with_cloud_init(state: dict[str, Any]) -> None:
    drive = {"interface": "ide2", "datastoreId": "ceph-vm", "size": 1, "volume": "vm-9000-cloudinit"}
    state["machines"]["9000"]["config"]["disks"].append(drive)


def holding(storage: str, *content: str) -> Callable[[dict[str, Any]], None]:
    return lambda state: state["storages"][storage].__setitem__("content", list(content))


def container(pool: str) -> dict[str, Any]:
    return {**machine(pool, template=True), "type": "lxc"}


BRIDGE = "/sdn/zones/localnetwork/vmbr1"
LIST, ELSEWHERE, CLONE = "permissions are those of the list", "nothing elsewhere", "what tenants can clone"
STORAGES = "its storages hold"
CASES: list[tuple[str, Callable[[dict[str, Any]], None], str, str]] = [
    ("another tenant's VLAN", granted(f"{BRIDGE}/201"), LIST, f"{BRIDGE}/201 has SDN.Use beyond the list"),
    ("the bridge", granted(BRIDGE), LIST, f"{BRIDGE} has SDN.Use beyond the list"),
    ("the whole zone", granted("/sdn/zones/localnetwork", propagate=True), ELSEWHERE, f"rights on {BRIDGE[:23]}"),
    ("another tenant's pool", granted("/pool/lab-acme", "vm"), LIST, "/pool/lab-acme has Pool.Audit"),
    ("another tenant's ISOs", granted("/storage/iso-acme", "iso"), LIST, "/storage/iso-acme has Datastore.Allocate"),
    ("more on its disk storage", granted("/storage/ceph-vm", "iso"), LIST, "/storage/ceph-vm has Datastore.Allocate"),
    ("a machine by its id", granted("/vms/2000", "vm"), LIST, "/vms/2000 is in the tenant's pool or has an entry"),
    ("everything's state", granted("/", "node"), LIST, "/ has Sys.Audit beyond the list"),
    ("a right that spreads", granted("/nodes/pve1", "node", propagate=True), LIST, "/nodes/pve1 spreads to what lies"),
    ("its VLAN taken away", taken(f"{BRIDGE}/202"), LIST, f"{BRIDGE}/202 lacks SDN.Use"),
    ("its templates taken away", taken("/pool/templates"), CLONE, "globex can not clone template 9000"),
    (
        "a strange id in its pool",
        added(2050, machine("lab-globex")),
        LIST,
        "/vms/2050 is in the tenant's pool or has",
    ),
    ("a template with a NIC", with_nic, CLONE, "template 9000 has net0"),
    ("a template with a cloud-init drive", with_cloud_init, CLONE, "template 9000 has ide2"),
    ("a machine among templates", added(150, machine("templates")), CLONE, "150 is no template: acme, globex"),
    ("a container among templates", added(150, container("templates")), CLONE, "150 is a container: acme, globex can"),
    ("ISOs on the disk storage", holding("ceph-vm", "iso", "images"), STORAGES, "ceph-vm holds images, iso: set its"),
    ("disks on its ISO storage", holding("iso-globex", "images"), STORAGES, "iso-globex holds images: set its content"),
    ("no ISO storage", lambda state: state["storages"].pop("iso-globex"), STORAGES, "iso-globex is on no node"),
    ("another version", lambda state: state.__setitem__("pve", 8), "Proxmox VE 9", "it runs 8: write `pve: 8`"),
]


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_is_wrong(
    given: dict[str, HandedOver],
    servers: LabServers,
    folder: Path,
    case: tuple[str, Callable[[dict[str, Any]], None], str, str],
) -> None:
    _, change, row, detail = case
    with edit(folder, ENDPOINT) as state:
        change(state)
    found = not_ok(tokens(SETTINGS, given, servers))
    assert all(key.startswith("WRONG") for key in found if "lab/acme" not in key)
    (said,) = [text for key, text in found.items() if row in key and "lab/acme" not in key]
    assert detail in said


def test_a_template_is_one_by_its_configuration_and_may_be_called_cloudinit(
    given: dict[str, HandedOver], servers: LabServers, folder: Path
) -> None:
    with edit(folder, ENDPOINT) as state:
        state["machines"]["9000"]["name"] = "talos-without-cloudinit"
    assert not_ok(tokens(SETTINGS, given, servers)) == {}


@pytest.mark.parametrize("number", ["2000", "9500"], ids=["acme's machine", "a template that is in no pool"])
def test_a_right_to_clone_that_one_tenant_alone_has_is_wrong_whichever_tenant_it_is(
    given: dict[str, HandedOver], servers: LabServers, folder: Path, number: str
) -> None:
    with edit(folder, ENDPOINT) as state:
        state["machines"][number] = machine("lab-acme" if number == "2000" else "", template=number != "2000")
        granted(f"/vms/{number}", "template")(state)
    said = [line[2] for line in tokens(SETTINGS, given, servers) if line[1] == "WRONG"]
    assert f"{number} can be cloned by globex alone, so not because of the pool templates: see `pveum acl list`" in said


def test_a_tenant_that_has_lost_its_templates_does_not_make_the_others_wrong(
    given: dict[str, HandedOver], servers: LabServers, folder: Path
) -> None:
    with edit(folder, ENDPOINT) as state:
        taken("/pool/templates")(state)
    found = not_ok(tokens(SETTINGS, given, servers))
    assert found == {
        f"WRONG lab/globex: the token's {LIST}": "/pool/templates lacks VM.Audit, VM.Clone",
        "WRONG lab: what tenants can clone": "globex can not clone template 9000: put it into the pool templates",
    }


@pytest.mark.parametrize("spoilt", ["\n", "\N{REPLACEMENT CHARACTER}", " x"])
def test_a_token_that_was_spoilt_by_hand_is_wrong_never_sent_and_never_shown(
    given: dict[str, HandedOver], servers: LabServers, spoilt: str
) -> None:
    bad = {key: value + spoilt if key.endswith("token") else value for key, value in given["globex"].handover.items()}
    pve = {"lab": {**given["globex"].pve["lab"], "secret": given["globex"].pve["lab"]["secret"] + spoilt}}
    changed = {**given, "globex": HandedOver(bad, pve)}
    found = {**not_ok(tokens(SETTINGS, changed, servers)), **not_ok(projects(SETTINGS, changed, servers))}
    assert list(found) == [
        "WRONG lab/globex: the Secrets that carry the token",
        "WRONG fsn1/globex: the token sees its own project alone",
    ]
    assert all("has not the form of a token: run `pulumi up`" in text for text in found.values())
    assert not any(secret in text for secret in (UUID.format(1), CLOUD["globex"]) for text in found.values())


def test_a_token_that_is_refused_is_wrong_and_a_server_that_is_away_is_not_checked(
    given: dict[str, HandedOver], servers: LabServers, folder: Path
) -> None:
    with edit(folder, ENDPOINT) as state:
        del state["tokens"][ITS_TOKEN]
    (folder / "pve.dc.example_8006.json").unlink()
    assert not_ok(tokens(SETTINGS, given, servers)) == {
        "WRONG lab/globex: the token's permissions": f"{ENDPOINT} refuses the token that the tenant has: {RUN}",
        "not checked dc/acme: the token's permissions": "https://pve.dc.example:8006: HTTP 500",
    }


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"insecure": "true"}, "differs from the environment in insecure"),
        ({"url": "https://elsewhere:8006"}, "in url"),
        ({"secret": "x"}, "in secret"),
        ({"root_ca": "-----BEGIN CERTIFICATE-----"}, "in root_ca"),
    ],
)
def test_a_secret_that_differs_from_the_environment_is_wrong_and_not_shown(
    given: dict[str, HandedOver], servers: LabServers, changes: dict[str, str], said: str
) -> None:
    pve = {**given["globex"].pve, "lab": {**given["globex"].pve["lab"], **changes}}
    found = not_ok(tokens(SETTINGS, {**given, "globex": HandedOver(given["globex"].handover, pve)}, servers))
    ((key, detail),) = found.items()
    assert key == "WRONG lab/globex: the Secrets that carry the token"
    assert said in detail
    assert UUID.format(1) not in detail


def test_a_tenant_without_its_secrets_is_wrong(given: dict[str, HandedOver], servers: LabServers) -> None:
    without = {**given, "globex": HandedOver({}, {})}
    found = {**not_ok(tokens(SETTINGS, without, servers)), **not_ok(projects(SETTINGS, without, servers))}
    assert list(found) == [
        "WRONG lab/globex: the Secrets that carry the token",
        "WRONG fsn1/globex: the token sees its own project alone",
    ]


def test_what_was_handed_over_is_not_in_its_repr(given: dict[str, HandedOver]) -> None:
    assert UUID.format(0) not in repr(given)
    assert CLOUD["acme"] not in repr(given)


def project_line(given: dict[str, HandedOver], servers: LabServers, tenant: str = "globex") -> tuple[str, str]:
    ((outcome, detail),) = [line[1:] for line in projects(SETTINGS, given, servers) if tenant in line[0]]
    return outcome, detail


def test_a_network_of_another_tenant_in_a_project_is_wrong(
    given: dict[str, HandedOver], servers: LabServers, folder: Path
) -> None:
    with edit(folder, "hcloud") as state:
        both = state["projects"]
        both["fsn1-globex"]["networks"]["5000"] = {**both["fsn1-acme"]["networks"]["5000"], "labels": {}}
    assert project_line(given, servers) == ("WRONG", "it sees network lab-acme-fsn1 of acme")
    assert project_line(given, servers, "acme")[0] == "ok"


def test_a_server_of_another_tenant_is_wrong_and_one_of_nobody_is_not(
    given: dict[str, HandedOver], servers: LabServers, folder: Path
) -> None:
    server = {"name": "prod-cloud-0", "labels": {"environment": "other", "tenant": "acme"}, "status": "running"}
    with edit(folder, "hcloud") as state:
        servers_of = state["projects"]["fsn1-globex"]["servers"]
        servers_of["6000"] = {**server, "attached": {}}
    assert project_line(given, servers)[0] == "ok"
    with edit(folder, "hcloud") as state:
        state["projects"]["fsn1-globex"]["servers"]["6000"]["labels"]["environment"] = "lab"
    assert project_line(given, servers) == ("WRONG", "it sees server prod-cloud-0 of acme")


def test_something_on_the_last_of_several_pages_is_seen(
    given: dict[str, HandedOver], servers: LabServers, folder: Path
) -> None:
    with edit(folder, "hcloud") as state:
        networks = state["projects"]["fsn1-globex"]["networks"]
        for number in range(120):
            networks[str(7000 + number)] = {**networks["5001"], "name": f"n{number}", "labels": {}}
        networks["7119"]["labels"] = labels("acme")
    assert project_line(given, servers) == ("WRONG", "it sees network n119 of acme")


def test_one_token_for_two_tenants_and_one_of_another_project_are_wrong(
    given: dict[str, HandedOver], servers: LabServers, folder: Path
) -> None:
    shared = {**given["globex"].handover, "fsn1.token": CLOUD["acme"]}
    outcome, detail = project_line({**given, "globex": HandedOver(shared)}, servers)
    assert (outcome, detail.partition(":")[0]) == ("WRONG", "it is the token of fsn1/acme")
    with edit(folder, "hcloud") as state:
        state["projects"]["fsn1-globex"]["networks"].clear()
    assert "does not see its own network 5001" in project_line(given, servers)[1]


def test_a_project_that_refuses_its_token_is_wrong(
    given: dict[str, HandedOver], servers: LabServers, folder: Path
) -> None:
    with edit(folder, "hcloud") as state:
        state["projects"]["fsn1-globex"]["token"] = "n" * 64
    said = "https://api.hetzner.cloud refuses the token that the tenant has: set the project's, and " + RUN
    assert project_line(given, servers) == ("WRONG", said)


def test_the_paths_that_are_asked_for_are_never_the_tenants_own() -> None:
    for tenant in ("acme", "globex"):
        own = {grant.path for grant in grants(SETTINGS, "lab", tenant)}
        asked = foreign_paths(SETTINGS, "lab", tenant)
        assert not own & set(asked)
        assert {BRIDGE, f"{BRIDGE}/2", "/"} <= set(asked)
        assert len(asked) == len(set(asked))


def test_nothing_at_all_is_all_missing() -> None:
    said = differences(SETTINGS, "lab", "globex", {})
    assert len(said) == len(grants(SETTINGS, "lab", "globex"))
    assert all(" lacks " in line for line in said)
