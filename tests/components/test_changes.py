"""A change to one part of a file leaves every other registration byte for byte as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.components.examples import (
    CREDENTIALS,
    environment_settings,
    example,
    raw,
    run_environment,
    run_tenant,
    tenant_settings,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.components.engine import Registration, Run

POOLS = ("lab", "dc", "cloud")


def _without(run: Run, part: Callable[[Registration], bool]) -> dict[str, str]:
    return {f"{item.type} {item.name}": item.text for item in run if not part(item)}


@pytest.mark.parametrize("pool", POOLS)
def test_removing_one_of_three_pools_leaves_everything_else_as_it_was(pool: str, *, unknown: bool) -> None:
    before = example("lab-acme", unknown=unknown)
    fewer = tenant_settings("acme", lambda found: found["clusters"]["prod"]["pools"].pop(pool))
    after = run_tenant(fewer, unknown=unknown)
    location = {"dc": "proxmox-dc", "cloud": "hcloud-fsn1"}.get(pool)
    own = _without(before, lambda item: f"prod-{pool}" in (item.name, item.parent) or item.name == location)
    assert after.texts == own
    assert len(after.registrations) < len(before.registrations)


def test_adding_a_pool_leaves_everything_else_as_it_was(*, unknown: bool) -> None:
    def more(found: dict[str, Any]) -> None:
        pools = found["clusters"]["prod"]["pools"]
        pools["a"] = {**pools["dc"], "vmIds": "3010-3019", "replicas": 1}

    before = example("lab-acme", unknown=unknown)
    after = run_tenant(tenant_settings("acme", more), unknown=unknown)
    assert _without(after, lambda item: "prod-a" in (item.name, item.parent)) == before.texts
    assert len(after.registrations) == len(before.registrations) + 3


def test_adding_a_tenant_changes_nothing_of_the_other_tenants(*, unknown: bool) -> None:
    def more(found: dict[str, Any]) -> None:
        found["tenants"]["aaa"] = {"namespace": "tenant-aaa", "clusters": ["prod"]}
        found["locations"]["lab"]["tenants"]["aaa"] = {"vmIds": "2200-2299", "isoStorage": "iso-aaa"}
        found["zones"]["workers"]["networks"]["aaa-lab"] = {
            "tenant": "aaa",
            "location": "lab",
            "vlan": 210,
            "cidr": "10.210.0.0/24",
            "gateway": "10.210.0.1",
            "range": "10.210.0.20-10.210.0.199",
        }

    before = example("lab", unknown=unknown)
    after = run_environment(environment_settings(more), unknown=unknown)
    changed = {name for name, text in before.texts.items() if after.texts[name] != text}
    # The table itself and the policies that read every tenant's rows; nothing of another tenant.
    assert {name.split()[1].partition("/")[0] for name in changed} <= {
        "ProxmoxNetworkTable",
        "ProxmoxNetworkZone",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
    }
    assert "ProxmoxNetworkZone/workers" in {name.split()[1] for name in changed}
    new = after.keys - before.keys
    assert new
    assert all("aaa" in name for _, name, _ in new)
    own = example("lab-acme", unknown=unknown).texts
    assert run_tenant(tenant_settings("acme", environment=more), unknown=unknown).texts == own


def test_adding_a_location_changes_nothing_elsewhere(*, unknown: bool) -> None:
    def more(found: dict[str, Any]) -> None:
        found["locations"]["aaa"] = {
            **found["locations"]["dc"],
            "endpoint": "https://pve.aaa.example:8006",
            "tenants": {"globex": {"vmIds": "4000-4099", "isoStorage": "iso-globex"}},
        }

    credentials = {**CREDENTIALS, "aaa": {"token": "root@pam!x=55555555-5555-4555-8555-555555555555"}}
    before = example("lab", unknown=unknown).texts
    after = run_environment(environment_settings(more), credentials, unknown=unknown)
    changed = {name.split()[1] for name, text in before.items() if after.texts[name] != text}
    assert changed == {
        "ProxmoxNetworkTable/all",
        "Secret/tenant-globex/hybrid-handover",
        "ValidatingAdmissionPolicy/hybrid-clusters",
    }
    for item in after:
        if f"{item.type} {item.name}" not in before:
            assert item.parent == "aaa" or item.name in ("aaa", "Secret/tenant-globex/pve-aaa")
    own = example("lab-acme", unknown=unknown).texts
    assert run_tenant(tenant_settings("acme", environment=more), unknown=unknown).texts == own


def test_a_second_cluster_changes_nothing_of_the_first(*, unknown: bool) -> None:
    def more(found: dict[str, Any]) -> None:
        found["clusters"]["aaa"] = {
            **found["clusters"]["prod"],
            "controlPlane": {"type": "kamaji", "address": "203.0.113.30"},
            "pools": {},
        }

    before = example("lab-acme", unknown=unknown)
    after = run_tenant(tenant_settings("acme", more), unknown=unknown)
    assert _without(after, lambda item: "aaa" in (item.name, item.parent)) == before.texts


def _shuffled(draw: st.DataObject, value: Any) -> Any:
    """Put every map in another order; lists keep theirs."""
    if isinstance(value, dict):
        keys = draw.draw(st.permutations(list(value)))
        return {key: _shuffled(draw, value[key]) for key in keys}
    return value


def _reorder(draw: st.DataObject) -> Callable[[dict[str, Any]], None]:
    def reorder(found: dict[str, Any]) -> None:
        shuffled = _shuffled(draw, dict(found))
        found.clear()
        found.update(shuffled)

    return reorder


SPARING = settings(max_examples=3, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@SPARING
@given(st.data())
def test_the_order_of_an_environments_file_means_nothing(data: st.DataObject) -> None:
    assert run_environment(environment_settings(_reorder(data))).texts == example("lab").texts


@SPARING
@given(st.data())
def test_the_order_of_a_tenants_file_means_nothing(data: st.DataObject) -> None:
    shuffled = run_tenant(tenant_settings("acme", _reorder(data), environment=_reorder(data)))
    assert shuffled.error is None
    own = example("lab-acme")
    assert shuffled.texts == own.texts
    assert shuffled.outputs == own.outputs


def test_the_example_is_not_changed_by_a_changed_copy() -> None:
    before = raw("lab")
    environment_settings(lambda found: found["zones"]["workers"]["networks"].clear())
    assert raw("lab") == before


def test_a_change_of_generation_updates_the_guard_and_takes_only_the_rows_pools_away(*, unknown: bool) -> None:
    settings = environment_settings(lambda found: found["management"].update(generation="capi-1.12"))
    before = {f"{item.type} {item.name}" for item in example("lab", unknown=unknown)}
    after = {f"{item.type} {item.name}" for item in run_environment(settings, unknown=unknown)}
    gone = {name.split()[1] for name in before - after}
    pools = ("tenant-acme/acme-dc", "tenant-acme/acme-lab", "tenant-globex/globex-lab")
    assert gone == {f"InClusterIPPool/{name}" for name in pools}
    assert {name.split()[1] for name in after - before} == {
        "ValidatingAdmissionPolicy/hybrid-cluster-ranges",
        "ValidatingAdmissionPolicyBinding/hybrid-cluster-ranges",
    }
