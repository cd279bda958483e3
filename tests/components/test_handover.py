"""A tenant's run reads its handover, and compares it, before it registers anything else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.components.examples import handover, run_tenant, tenant_settings
from tests.components.frozen import GLOBEX

if TYPE_CHECKING:
    from tests.components.engine import Run

SECRET = "read kubernetes:core/v1:Secret"
FIRST = ["pulumi:providers:kubernetes", SECRET]


def test_nothing_but_the_provider_is_registered_before_the_handover_was_read(acme: Run, globex: Run) -> None:
    for run in (acme, globex):
        assert run.order[:2] == FIRST
        assert run.order.count(SECRET) == 1


def test_the_read_that_fails_in_the_engine_has_a_name_that_says_what_to_do(acme: Run) -> None:
    (read,) = [read for read in acme.reads if read.type == "kubernetes:core/v1:Secret"]
    assert (read.name, read.id) == ("run-pulumi-up-of-lab-first", "tenant-acme/hybrid-handover")


def test_an_environment_changed_since_its_last_up_stops_an_up_before_anything_is_registered() -> None:
    settings = tenant_settings("acme")
    run = run_tenant(settings, values=handover(settings, digest="0" * 64))
    assert run.order == FIRST
    assert str(run.error) == (
        "the environment file of `lab` says other things about tenant `acme` than the last `pulumi up` of it did; "
        "run `pulumi up -s lab` first"
    )


@pytest.mark.parametrize("unknown", [False, True])
def test_an_environment_changed_since_its_last_up_is_a_warning_at_preview(unknown: bool) -> None:  # noqa: FBT001 - parametrized
    settings = tenant_settings("globex")
    run = run_tenant(settings, values=handover(settings, digest="0" * 64), preview=True, unknown=unknown)
    assert run.error is None
    assert len(run.warnings) == 1
    assert run.warnings[0].endswith("run `pulumi up -s lab` first")
    assert len(run.registrations) == sum(len(names) for kinds in GLOBEX.values() for names in kinds.values())


def test_a_handover_that_fits_warns_of_nothing(acme: Run) -> None:
    assert acme.warnings == []


def test_a_change_to_another_tenants_part_of_the_environment_is_no_difference() -> None:
    old = tenant_settings("acme")
    new = tenant_settings("acme", environment=lambda raw: raw["zones"]["workers"]["networks"].pop("globex-lab"))
    assert run_tenant(new, values=handover(old)).error is None


def test_a_change_to_the_tenants_own_row_is_a_difference() -> None:
    old = tenant_settings("acme")
    new = tenant_settings(
        "acme", environment=lambda raw: raw["zones"]["workers"]["networks"]["acme-dc"].update(vlan=302)
    )
    assert run_tenant(new, values=handover(old)).order == FIRST


@pytest.mark.parametrize("key", ["digest", "dc.token", "fsn1.token", "fsn1.subnet"])
def test_a_key_that_the_handover_lacks_stops_with_what_to_do_before_anything_is_registered(key: str) -> None:
    settings = tenant_settings("acme")
    run = run_tenant(settings, values=handover(settings, **{key: None}))
    assert str(run.error) == f"the handover has no {key}; run `pulumi up -s lab` first"
    assert run.order == FIRST


def test_all_keys_that_the_handover_lacks_are_named_at_once() -> None:
    settings = tenant_settings("acme")
    run = run_tenant(settings, values=handover(settings, **{"dc.token": None, "fsn1.subnet": None}))
    assert str(run.error) == "the handover has no dc.token, fsn1.subnet; run `pulumi up -s lab` first"


def test_a_key_of_a_location_without_direct_machines_is_not_missed() -> None:
    settings = tenant_settings("acme")
    assert run_tenant(settings, values=handover(settings, **{"lab.token": None})).error is None


@pytest.mark.parametrize("preview", [False, True])
def test_an_empty_handover_stops_with_what_to_do(preview: bool) -> None:  # noqa: FBT001 - parametrized
    run = run_tenant(tenant_settings("acme"), values={}, preview=preview)
    assert str(run.error) == "the handover has no digest; run `pulumi up -s lab` first"
    assert run.order == FIRST
