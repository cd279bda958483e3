"""A tenant's stack is told nothing of other tenants."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.settings.files import GONE, problems, said, write_edited

if TYPE_CHECKING:
    from pathlib import Path

POOL = "clusters.prod.pools.small"


@pytest.mark.parametrize("place", [f"{POOL}.network", "clusters.prod.network"])
def test_another_tenants_network_and_no_network_are_refused_in_the_same_words(place: str, tmp_path: Path) -> None:
    texts = []
    for name in ("acme-lab", "acme-dc", "nobodys"):
        write_edited(tmp_path, "lab-globex", {place: name})
        (found,) = problems(tmp_path, "lab-globex")
        assert found.code == "NOT_YOURS"
        texts.append(str(found).replace(name, "NAME"))

    assert len(set(texts)) == 1
    assert "globex-lab" in texts[0]
    assert "acme" not in texts[0]


def test_a_location_without_a_place_for_the_tenant_and_no_location_are_refused_in_the_same_words(
    tmp_path: Path,
) -> None:
    texts = []
    for name in ("dc", "fsn1", "nowhere"):
        write_edited(tmp_path, "lab-globex", {"clusters.prod.home": name})
        (found,) = problems(tmp_path, "lab-globex")
        assert found.code == "UNKNOWN_LOCATION"
        texts.append(str(found).replace(name, "NAME"))

    assert len(set(texts)) == 1
    assert "acme" not in texts[0]


@pytest.mark.parametrize("key", ["bridge", "vlan", "gateway", "range"])
def test_a_raw_vlan_is_answered_with_the_tenants_own_networks_alone(key: str, tmp_path: Path) -> None:
    write_edited(tmp_path, "lab-globex", {f"{POOL}.{key}": 201, f"{POOL}.network": GONE})

    (found,) = problems(tmp_path, "lab-globex")

    assert (found.code, found.path) == ("PLATFORM_OWNS", f"{POOL}.{key}")
    assert "globex-lab" in found.fix
    assert "acme" not in str(found)


def test_a_raw_vlan_beside_a_network_is_answered_with_the_networks_of_that_place(tmp_path: Path) -> None:
    write_edited(tmp_path, "lab-acme", {"clusters.prod.pools.dc.vlan": 301})

    (found,) = problems(tmp_path, "lab-acme")

    assert "acme-dc" in found.fix
    assert "acme-lab" not in found.fix


def test_a_fault_of_another_tenant_in_the_environment_is_not_told(tmp_path: Path) -> None:
    write_edited(tmp_path, "lab-globex", {"lab:locations.lab.tenants.acme.isoStorage": "ceph-vm"})

    assert said(tmp_path, "lab-globex") == [("ENVIRONMENT_REFUSED", "environment")]
    assert "acme" not in str(problems(tmp_path, "lab-globex")[0])


@pytest.mark.parametrize(
    "address", ["10.201.0.1", "10.201.0.30", "10.201.0.250", "10.202.0.1", "10.202.0.30", "10.231.0.7", "10.100.77.1"]
)
def test_a_control_planes_address_in_anybodys_network_is_refused_in_the_same_words(
    address: str, tmp_path: Path
) -> None:
    write_edited(tmp_path, "lab-globex", {"clusters.prod.controlPlane.address": address})

    (found,) = problems(tmp_path, "lab-globex")

    assert found.code == "ADDRESS_TAKEN"
    assert found.why == "it is in a network of the platform's table"
    assert not any(word in str(found) for word in ("acme", "globex", "gateway"))


KEY = "-----BEGIN PRIVATE KEY----- MIIEvQ"


@pytest.mark.parametrize("value", [[KEY], {"pem": KEY}, {KEY: 1}, 7, KEY])
def test_what_is_given_as_a_private_ca_is_never_shown(value: object, tmp_path: Path) -> None:
    write_edited(tmp_path, "lab", {"locations.lab.ca": value})

    (found,) = problems(tmp_path, "lab")

    assert found.path == "locations.lab.ca"
    assert found.value is None
    assert "MIIEvQ" not in str(found)


@pytest.mark.parametrize("place", ["locations.lab.cas", "locations.lab.endpoint", "management.guard", "management.x"])
def test_a_key_that_stands_in_a_wrong_place_is_not_shown(place: str, tmp_path: Path) -> None:
    for value in (KEY, [KEY]):
        write_edited(tmp_path, "lab", {place: value})

        assert "MIIEvQ" not in str(problems(tmp_path, "lab"))


@pytest.mark.parametrize("endpoint", ["root:pw1@pve:8006", "https://pw1/x@pve:8006", "https://root:pw1@pve lab"])
def test_a_password_in_an_endpoint_is_not_shown(endpoint: str, tmp_path: Path) -> None:
    write_edited(tmp_path, "lab", {"locations.lab.endpoint": endpoint})

    (found,) = problems(tmp_path, "lab")

    assert found.code == "BAD_ENDPOINT"
    assert "pw1" not in str(found)
