"""What tenants' Proxmox VE tokens may do: nothing beyond the list, whatever the environment, and what the page says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from lab.clouds.proxmox.roles import known
from settings.access import ROLES, grants, resource_pool, token_name
from settings.environment import Environment, ProxmoxLocation
from settings.stack import EnvironmentSettings
from tests.conftest import ROOT
from tests.settings.files import settings_of
from tests.strategies import ENVIRONMENT, environments

if TYPE_CHECKING:
    from tests.strategies import Settings

PAGE = ROOT / "docs" / "proxmox-permissions.md"
NEVER = {
    "Group.Allocate",
    "Mapping.Use",
    "Permissions.Modify",
    "Pool.Allocate",
    "SDN.Allocate",
    "Sys.Console",
    "Sys.Modify",
    "User.Modify",
    "VM.Backup",
    "VM.Config.Cloudinit",
    "VM.Console",
    "VM.Migrate",
    "VM.Snapshot",
}
PATHS = {
    "vm": r"/pool/[^/]+",
    "template": r"/pool/[^/]+",
    "network": r"/sdn/zones/localnetwork/[A-Za-z][A-Za-z0-9_]*/[0-9]+",
    "disk": r"/storage/[^/]+",
    "iso": r"/storage/[^/]+",
    "node": r"/nodes/[^/]+",
}


def test_no_role_holds_a_privilege_with_which_a_tenant_leaves_its_own() -> None:
    for role, privileges in ROLES.items():
        assert not NEVER & set(privileges), role
        assert not [name for name in privileges if name.startswith("VM.GuestAgent")]
    assert [role for role in ROLES if "Datastore.Allocate" in ROLES[role]] == ["iso"]
    assert [role for role in ROLES if "Sys.Audit" in ROLES[role]] == ["node"]


@pytest.mark.parametrize("version", [8, 9])
def test_one_text_of_the_roles_fits_both_versions(version: int) -> None:
    for privileges in ROLES.values():
        assert set(privileges) <= known(version)
    assert known(8) - known(9) == {"VM.Monitor"}


@given(environments())
def test_in_any_legal_environment_no_tenant_gets_a_path_beyond_the_list_or_one_of_another_tenant(
    drawn: tuple[Settings, dict[str, Settings]],
) -> None:
    settings = EnvironmentSettings(ENVIRONMENT, Environment.model_validate(drawn[0]))
    environment = settings.environment
    for name, location in environment.locations.items():
        if not isinstance(location, ProxmoxLocation):
            continue
        owners: dict[str, set[str]] = {}
        for tenant, own in location.tenants.items():
            given_here = grants(settings, name, tenant)
            assert len(set(given_here)) == len(given_here)
            paths = {role: {grant.path for grant in given_here if grant.role == role} for role in ROLES}
            for role, found in paths.items():
                assert all(re.fullmatch(PATHS[role], path) for path in found), role
            assert paths["vm"] == {f"/pool/{resource_pool(ENVIRONMENT, tenant)}"}
            assert paths["template"] == {f"/pool/{location.template.pool}"}
            assert paths["disk"] == {f"/storage/{location.storage.name}"}
            assert paths["iso"] == {f"/storage/{own.iso_storage}"}
            assert paths["node"] == {f"/nodes/{node}" for node in location.nodes}
            assert paths["network"] == {
                f"/sdn/zones/localnetwork/{zone.bridge}/{row.vlan}"
                for zone in environment.zones.values()
                for row in zone.networks.values()
                if (row.tenant, row.location) == (tenant, name)
            }
            owners[tenant] = {path for role in ("vm", "network", "iso") for path in paths[role]}
            assert not owners[tenant] & (paths["template"] | paths["disk"] | paths["node"])
        together = [path for found in owners.values() for path in found]
        assert len(together) == len(set(together))


def test_another_rotation_is_another_name_of_the_token_and_the_first_has_none() -> None:
    assert token_name(1) == "hybrid"
    names = [token_name(number) for number in range(1, 40)]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9.\-_]+", name) for name in names)  # pve-access-control: tokenid


def test_a_hetzner_location_has_no_paths() -> None:
    settings = EnvironmentSettings("lab", Environment.model_validate(settings_of("lab")))
    with pytest.raises(TypeError, match="fsn1"):
        grants(settings, "fsn1", "acme")


def _table() -> list[list[str]]:
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_page_lists_every_role_with_its_path_its_privileges_and_no_propagation() -> None:
    settings = EnvironmentSettings("lab", Environment.model_validate(settings_of("lab")))
    rows = [row for row in _table() if row[0].strip("`") in ROLES]
    assert [row[0].strip("`") for row in rows] == list(ROLES)
    examples = {grant.role: grant.path for grant in grants(settings, "lab", "acme")}
    for role, path, privileges, propagate, why in rows:
        name = role.strip("`")
        pattern = re.sub(r"<[^>]+>", "[^/]+", re.findall(r"`([^`]+)`", path)[0])
        assert re.fullmatch(pattern, examples[name]), name
        assert sorted(re.split(r",\s*", privileges)) == sorted(ROLES[name]), name
        assert propagate == "no"
        assert len(why) > 20
