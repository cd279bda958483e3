"""The policy pack passes all that the program registers, for any legal environment and whatever the settings say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given

from manifests.policy_config import environment_config
from tests.components.engine import Secret
from tests.components.examples import environment_settings, run_environment, run_tenant, tenant_settings
from tests.components.test_properties import SPARING, environment_up, handed_over, tenants_of
from tests.policy.analyzer import POLICY
from tests.policy.conftest import PACK  # noqa: F401 - it puts the pack on the import path
from tests.strategies import environments

from tests.policy.cases import Example  # isort: skip - it imports the pack
from tests.policy.offline import arguments, judged  # isort: skip - likewise
from tenant_isolation.policy import tenant_isolation  # isort: skip - likewise

if TYPE_CHECKING:
    from collections.abc import Callable

    from settings.stack import EnvironmentSettings
    from tests.components.engine import Run
    from tests.strategies import Settings

VALIDATE = tenant_isolation().validate


def _plain(value: Any) -> Any:
    if isinstance(value, Secret):
        return _plain(value.value)
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list) else value


def _refusals(run: Run, stack: str, settings: EnvironmentSettings) -> list[str]:
    """Give what the pack says to everything that a run registered."""
    config = environment_config(settings)[POLICY]
    found = []
    for item in run:
        provider = run[item.provider] if item.provider else None
        given = (provider.type, _plain(dict(provider.inputs))) if provider else None
        example = Example(item.name, item.type, _plain(dict(item.inputs)), given, stack)
        found += [f"{item.type} {item.name}: {text}" for text in judged(VALIDATE, arguments(example, config))]
    return found


@SPARING
@given(environments())
def test_whatever_a_legal_environment_and_its_tenants_register_passes(
    drawn: tuple[Settings, dict[str, Settings]],
) -> None:
    environment, ups = environment_up(drawn[0])
    assert _refusals(ups, environment.stack, environment) == []
    for tenant in tenants_of(environment, drawn[1]):
        run = run_tenant(tenant, values=handed_over(ups, tenant.namespace))
        assert _refusals(run, tenant.stack, environment) == []


def _rotated(raw: dict[str, Any]) -> None:
    raw["locations"]["lab"]["tenants"]["globex"]["rotation"] = 2
    raw["tenants"]["globex"]["rotation"] = 2


def _protected(raw: dict[str, Any]) -> None:
    raw["management"]["protect"] = True


def _opened(raw: dict[str, Any]) -> None:
    raw["management"] |= {"openBridges": ["vmbr8", "vmbr9"], "openVlans": {"vmbr8": ["100-199"]}}


def _former(raw: dict[str, Any]) -> None:
    raw["locations"]["lab"]["formerTemplates"] = [{"tags": ["talos", "old"], "id": 8999, "node": "pve1"}]


def _newer(raw: dict[str, Any]) -> None:
    raw["management"]["generation"] = "capi-1.12"


@pytest.mark.parametrize("change", [_rotated, _protected, _opened, _former, _newer])
def test_an_environment_with_other_settings_passes(change: Callable[[dict[str, Any]], None]) -> None:
    settings = environment_settings(change)
    assert _refusals(run_environment(settings), settings.stack, settings) == []


@pytest.mark.parametrize("change", [_rotated, _protected, _opened, _former])
def test_a_tenant_of_an_environment_with_other_settings_passes(change: Callable[[dict[str, Any]], None]) -> None:
    settings = environment_settings(change)
    for tenant in ("acme", "globex"):
        chosen = tenant_settings(tenant, environment=change)
        assert _refusals(run_tenant(chosen), chosen.stack, settings) == []


def test_a_run_judged_by_the_table_of_another_environment_is_refused() -> None:
    def other(raw: dict[str, Any]) -> None:
        raw["zones"]["workers"]["networks"]["globex-lab"]["vlan"] = 203

    settings = environment_settings(other)
    said = _refusals(run_tenant(tenant_settings("globex")), "lab-globex", settings)
    assert any("asks for VLAN 202 on bridge vmbr1." in text for text in said)
