"""What holds for every legal environment and its tenants, from the environment's `up` to the tenants' machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given, settings

from settings.access import resource_pool
from settings.environment import Environment, ProxmoxLocation
from settings.stack import EnvironmentSettings, TenantSettings
from settings.tenant import TenantStack
from tests.components.examples import example, run_environment, run_tenant, tenant_settings
from tests.strategies import ENVIRONMENT, environments

if TYPE_CHECKING:
    from tests.components.engine import Run
    from tests.strategies import Settings

SPARING = settings(max_examples=3)
UUID = "11111111-1111-4111-8111-111111111111"


def _credentials(environment: Environment) -> dict[str, Any]:
    return {
        name: {"token": f"root@pam!{name}={UUID}"}
        if isinstance(location, ProxmoxLocation)
        else {tenant: tenant.ljust(64, "x") for tenant in location.tenants}
        for name, location in environment.locations.items()
    }


def environment_up(raw: Settings, *, unknown: bool = False) -> tuple[EnvironmentSettings, Run]:
    found = EnvironmentSettings(ENVIRONMENT, Environment.model_validate(raw))
    run = run_environment(found, _credentials(found.environment), unknown=unknown)
    assert run.error is None
    return found, run


def handed_over(run: Run, namespace: str) -> dict[str, str]:
    values: dict[str, str] = run[f"Secret/{namespace}/hybrid-handover"].inputs["stringData"].value
    return values


def tenants_of(environment: EnvironmentSettings, stacks: dict[str, Settings]) -> list[TenantSettings]:
    return [
        TenantSettings(
            stack,
            ENVIRONMENT,
            stack.partition("-")[2],
            environment.environment,
            TenantStack.model_validate(raw).clusters,
        )
        for stack, raw in stacks.items()
    ]


def test_a_tenant_can_work_with_what_the_environments_up_wrote_into_its_handover() -> None:
    for tenant in ("acme", "globex"):
        run = run_tenant(tenant_settings(tenant), values=handed_over(example("lab"), f"tenant-{tenant}"))
        assert run.error is None
        assert run.warnings == []
        assert run.keys == example(f"lab-{tenant}").keys


@SPARING
@given(environments())
def test_any_legal_environment_registers_the_same_whether_its_outputs_are_known(
    drawn: tuple[Settings, dict[str, Settings]],
) -> None:
    raw, _ = drawn
    (_, known), (_, unknown) = environment_up(raw), environment_up(raw, unknown=True)
    assert known.keys == unknown.keys
    assert len(known.keys) == len(known.registrations)
    providers = {item.name for item in known if item.is_provider}
    assert all(item.provider in providers for item in known if item.custom and not item.is_provider)


@SPARING
@given(environments())
def test_any_legal_tenants_machines_are_on_its_own_vlans_with_ids_of_their_own(
    drawn: tuple[Settings, dict[str, Settings]],
) -> None:
    environment, ups = environment_up(drawn[0])
    ids: list[tuple[str, int]] = []
    for tenant in tenants_of(environment, drawn[1]):
        run = run_tenant(tenant, values=handed_over(ups, tenant.namespace))
        assert run.error is None
        assert run.warnings == []
        assert run_tenant(tenant, values=handed_over(ups, tenant.namespace), unknown=True).keys == run.keys
        own = {(f"proxmox-{row.location}", row.bridge, row.vlan) for row in tenant.rows.values()}
        for vm in run.of("VmLegacy"):
            (nic,) = vm.inputs["networkDevices"]
            assert (vm.provider, nic["bridge"], int(nic["vlanId"])) in own
            assert vm.inputs["poolId"] == resource_pool(ENVIRONMENT, tenant.tenant)
            ids.append((vm.provider, int(vm.inputs["vmId"])))
        for server in run.of("Server"):  # no pools there: the token is one tenant's project
            assert run[server.provider].inputs["token"].value == tenant.tenant.ljust(64, "x")
        for template in run.of("ProxmoxMachineTemplate"):
            nic = template.inputs["spec"]["template"]["spec"]["network"]["default"]
            assert template.inputs["spec"]["template"]["spec"]["pool"] == resource_pool(ENVIRONMENT, tenant.tenant)
            home = {(bridge, vlan) for _, bridge, vlan in own}
            assert (nic["bridge"], int(nic["vlan"])) in home
    assert len(ids) == len(set(ids))
