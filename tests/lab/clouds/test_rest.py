"""The simulated APIs over HTTP: who may ask what, and what the answers look like."""

from __future__ import annotations

import json
import urllib.request
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.parse import quote

import pytest

from lab.clouds import edit
from lab.clouds.rest import serving
from tests.lab.clouds.conftest import ACME, ADMIN, ENDPOINT, GLOBEX

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.lab.clouds.engine import Engine

PVE = f"{quote(ENDPOINT, safe='')}/api2/json"
AS_ADMIN = f"PVEAPIToken={ADMIN}"


@pytest.fixture
def base(folder: Path) -> Iterator[str]:
    with serving(folder) as found:
        yield found


def get(base: str, path: str, authorization: str = "") -> tuple[int, Any]:
    headers = {"Authorization": authorization} if authorization else {}
    request = urllib.request.Request(f"{base}/{path}", headers=headers)  # noqa: S310 - loopback
    try:
        with urllib.request.urlopen(request) as answer:  # noqa: S310 - loopback
            return answer.status, json.loads(answer.read())
    except HTTPError as error:
        return error.code, json.loads(error.read())


@pytest.mark.parametrize(
    ("path", "authorization", "status"),
    [
        ("version", "", 401),
        ("version", "Basic eDp5", 401),
        ("version", AS_ADMIN[:-1] + "6", 401),
        ("version", AS_ADMIN, 200),
        ("nowhere", AS_ADMIN, 501),
        ("nodes/pve1/qemu/9000/config", AS_ADMIN, 200),
        ("nodes/pve1/qemu/12345/config", AS_ADMIN, 500),
    ],
)
@pytest.mark.usefixtures("pve")
def test_a_proxmox_ve_answers_its_tokens_alone(base: str, path: str, authorization: str, status: int) -> None:
    assert get(base, f"{PVE}/{path}", authorization)[0] == status


def test_a_template_shows_its_nics_and_that_it_is_one(base: str, pve: Engine) -> None:
    assert pve
    bare, with_nic = (
        get(base, f"{PVE}/nodes/pve1/qemu/{number}/config", AS_ADMIN)[1]["data"] for number in (9000, 9001)
    )
    assert (bare["template"], "net0" in bare) == (1, False)
    assert with_nic["net0"].endswith("bridge=vmbr0")


def test_permissions_are_privileges_with_their_spreading_on_all_paths_or_on_one(base: str, pve: Engine) -> None:
    assert pve
    everything = get(base, f"{PVE}/access/permissions", AS_ADMIN)[1]["data"]
    assert everything["/"]["Permissions.Modify"] == 1
    one = get(base, f"{PVE}/access/permissions?path=/vms/100", AS_ADMIN)[1]["data"]
    assert list(one) == ["/vms/100"]


def test_a_hetzner_token_sees_its_project_page_by_page(base: str, acme: Engine, folder: Path) -> None:
    assert acme
    with edit(folder, "hcloud") as state:
        network = {"name": "n", "ipRange": "10.0.0.0/16", "subnets": {}, "labels": {}}
        state["projects"]["acme"]["networks"] = {str(number): dict(network) for number in range(30)}
    _, first = get(base, "hcloud/v1/networks", f"Bearer {ACME}")
    _, second = get(base, "hcloud/v1/networks?page=2", f"Bearer {ACME}")
    assert (len(first["networks"]), len(second["networks"])) == (25, 5)
    assert [page["meta"]["pagination"]["next_page"] for page in (first, second)] == [2, None]
    assert get(base, "hcloud/v1/networks", f"Bearer {GLOBEX}")[1]["networks"] == []
    for authorization in ("", "Bearer x", ACME):
        assert get(base, "hcloud/v1/networks", authorization)[0] == 401
    assert get(base, "hcloud/v1/images", f"Bearer {ACME}")[0] == 404
