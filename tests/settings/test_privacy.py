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
