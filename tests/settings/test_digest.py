from __future__ import annotations

import re
from typing import Any

import pytest

from settings.digest import digest
from settings.environment import Environment
from tests.settings.files import edited, settings_of


def _digest(tenant: str, **edits: Any) -> str:
    places: dict[str | tuple[str, ...], Any] = {place.replace("__", "."): value for place, value in edits.items()}
    return digest(Environment.model_validate(edited("lab", places)["lab"]), tenant)


def test_a_digest_is_a_sha256_in_hex() -> None:
    assert re.fullmatch(r"[0-9a-f]{64}", _digest("acme"))
    assert _digest("acme") != _digest("globex")


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("management.generation", "capi-1.12"),
        ("management.podCidr", "10.244.0.0/16"),
        ("management.serviceCidr", "10.96.0.0/16"),
        ("management.kamajiServicePorts", True),
        ("tenants.acme.namespace", "acme"),
        ("tenants.acme.clusters", ["prod", "test"]),
        ("locations.lab.endpoint", "https://other.example:8006"),
        ("locations.lab.ca", "PEM"),
        ("locations.lab.nodes.pve3", {"memory": "1Gi"}),
        ("locations.lab.storage.name", "other"),
        ("locations.lab.template.id", 9001),
        ("locations.lab.template.disk", "20Gi"),
        ("locations.lab.region", "eu"),
        ("locations.lab.dnsServers", ["10.0.0.53"]),
        ("locations.lab.tenants.acme.vmIds", "2000-2098"),
        ("locations.lab.tenants.acme.isoStorage", "iso-other"),
        ("locations.dc.uplink.mtu", 1390),
        ("locations.fsn1.image.selector", "os=talos"),
        ("locations.fsn1.tenants.acme.subnet", "10.100.2.0/24"),
        ("zones.workers.bridge", "vmbr2"),
        ("zones.workers.networks.acme-lab.vlan", 203),
        ("zones.workers.networks.acme-lab.gateway", "10.201.0.2"),
        ("zones.workers.networks.acme-lab.range", "10.201.0.20-10.201.0.198"),
    ],
)
def test_a_change_of_what_the_tenant_uses_changes_its_digest(place: str, value: Any) -> None:
    assert _digest("acme", **{place: value}) != _digest("acme")


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("management.context", "another"),
        ("management.protect", True),
        ("tenants.globex.namespace", "globex"),
        ("tenants.third", {"namespace": "third", "clusters": []}),
        ("locations.lab.tenants.globex.vmIds", "2200-2299"),
        ("locations.lab.template.tags", ["v1.13.6", "talos"]),
        ("zones.workers.networks.globex-lab.vlan", 203),
        ("zones.workers.mode", "audit"),
        ("zones.workers.retired", [999]),
    ],
)
def test_a_change_of_what_the_tenant_does_not_use_leaves_its_digest(place: str, value: Any) -> None:
    assert _digest("acme", **{place: value}) == _digest("acme")


def test_what_is_written_out_is_as_good_as_its_default() -> None:
    plain = settings_of("lab")
    plain["management"] |= {"protect": False, "guard": "enforce"}
    plain["locations"]["lab"]["ca"] = None

    assert digest(Environment.model_validate(plain), "acme") == _digest("acme")
