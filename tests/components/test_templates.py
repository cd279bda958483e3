"""A pool's last template stays until the pool's next change of templates."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from pulumi.runtime.rpc import UNKNOWN

from components.backends.capi_proxmox import kept
from tests.components.examples import run_tenant, tenant_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.components.engine import Run

MACHINE = "ProxmoxMachineTemplate"
CONFIG = "TalosConfigTemplate"


def _run(memory: int, last: Run | None = None, **how: Any) -> Run:
    """Run acme with so many GiB in its `capi-proxmox` pool, after another run."""
    settings = tenant_settings(
        "acme", lambda raw: raw["clusters"]["prod"]["pools"]["lab"]["size"].update(memory=f"{memory}Gi")
    )
    return run_tenant(settings, templates=last.outputs["templates"] if last else None, **how)


def _names(run: Run, kind: str = MACHINE) -> list[str]:
    return [item.name for item in run.of(kind)]


def _current(run: Run) -> str:
    name = run["MachineDeployment/tenant-acme/prod-lab"].inputs["spec"]["template"]["spec"]["infrastructureRef"]["name"]
    return f"{MACHINE}/tenant-acme/{name}"


def _template(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"of": name}}


def _last(current: str | None, previous: str | None = None) -> Mapping[str, Any]:
    def texts(name: str | None) -> dict[str, str]:
        return {} if name is None else {MACHINE: json.dumps(_template(name))}

    return {"current": texts(current), "previous": texts(previous)}


def _kept(current: str, last: Mapping[str, Any]) -> str | None:
    found = kept({MACHINE: _template(current)}, last)
    return json.loads(found[MACHINE])["metadata"]["name"] if found else None


def test_a_first_run_keeps_nothing() -> None:
    assert _kept("a", {}) is None


def test_a_new_template_keeps_the_one_before_it() -> None:
    assert _kept("b", _last("a")) == "a"


def test_a_run_without_change_keeps_what_was_kept() -> None:
    assert _kept("b", _last("b", "a")) == "a"
    assert _kept("a", _last("a")) is None


def test_the_next_new_template_lets_the_oldest_go() -> None:
    assert _kept("c", _last("b", "a")) == "b"


def test_a_template_that_comes_back_is_not_kept_beside_itself() -> None:
    assert _kept("a", _last("b", "a")) == "b"
    assert _kept("a", {"current": None, "previous": {MACHINE: json.dumps(_template("a"))}}) is None


def test_kinds_are_kept_each_by_itself() -> None:
    last = {
        "current": {MACHINE: json.dumps(_template("m1")), CONFIG: json.dumps(_template("c1"))},
        "previous": {CONFIG: json.dumps(_template("c0"))},
    }
    found = kept({MACHINE: _template("m2"), CONFIG: _template("c1")}, last)
    assert {kind: json.loads(text)["metadata"]["name"] for kind, text in found.items()} == {MACHINE: "m1", CONFIG: "c0"}


def test_a_kept_template_is_the_whole_object_as_it_was() -> None:
    (text,) = kept({MACHINE: _template("b")}, _last("a")).values()
    assert json.loads(text) == _template("a")


def test_eight_sixteen_sixty_four_keeps_one_old_template() -> None:
    eight = _run(8)
    sixteen = _run(16, eight)
    sixty_four = _run(64, sixteen)
    assert _names(eight) == [_current(eight)]
    assert _names(sixteen) == sorted([_current(eight), _current(sixteen)])
    assert _names(sixty_four) == sorted([_current(sixteen), _current(sixty_four)])
    assert len({_current(eight), _current(sixteen), _current(sixty_four)}) == 3


def test_a_second_run_changes_nothing() -> None:
    sixteen = _run(16, _run(8))
    again = _run(16, sixteen)
    assert again.texts == sixteen.texts
    assert again.outputs == sixteen.outputs


def test_a_kept_template_is_registered_byte_for_byte_as_it_was() -> None:
    eight = _run(8)
    sixteen = _run(16, eight)
    for kind in (MACHINE, CONFIG):
        for item in eight.of(kind):
            assert sixteen[item.name].text == item.text


def test_the_deployment_and_its_health_check_go_before_the_kept_template() -> None:
    eight = _run(8)
    run = _run(16, eight)
    assert _current(eight) in run["MachineDeployment/tenant-acme/prod-lab"].depends_on
    assert _current(eight) not in run["Cluster/tenant-acme/prod"].depends_on
    assert run[_current(eight)].depends_on == {"Cluster/tenant-acme/prod"}


def test_removing_the_pool_drops_its_templates_and_its_output() -> None:
    sixteen = _run(16, _run(8))
    without = tenant_settings("acme", lambda raw: raw["clusters"]["prod"]["pools"].pop("lab"))
    run = run_tenant(without, templates=sixteen.outputs["templates"])
    assert _names(run) == []
    assert run.outputs["templates"] == {}


def test_a_pools_templates_are_its_own() -> None:
    def second(raw: dict[str, Any]) -> None:
        pools = raw["clusters"]["prod"]["pools"]
        pools["more"] = {**pools["lab"], "vmIds": "2020-2039"}

    eight = _run(8)
    run = run_tenant(tenant_settings("acme", second), templates=eight.outputs["templates"])
    assert _names(eight)[0] in _names(run)
    assert len(_names(run)) == 2
    assert run.outputs["templates"]["prod-more"]["previous"] == {}


def test_the_output_says_current_only_once_the_deployment_has_changed() -> None:
    run = _run(16, _run(8), unknown=True)
    assert run.outputs["templates"]["prod-lab"]["current"] == UNKNOWN
    assert len(run.outputs["templates"]["prod-lab"]["previous"]) > 0


def test_kept_templates_are_the_same_without_known_outputs() -> None:
    eight = _run(8)
    assert _run(16, eight, unknown=True).keys == _run(16, eight).keys


def test_the_outputs_are_text_so_that_no_number_comes_back_as_another() -> None:
    templates = _run(8).outputs["templates"]["prod-lab"]["current"]
    assert templates.keys() == {MACHINE, CONFIG}
    memory = json.loads(templates[MACHINE])["spec"]["template"]["spec"]["memoryMiB"]
    assert isinstance(memory, int)
    assert memory == 8192


def _after(change: Callable[[dict[str, Any]], None]) -> tuple[str, Run]:
    """Run acme with 8 GiB, then with 16 in a changed environment; give the first template's name and the second run."""
    eight = _run(8)
    bigger = tenant_settings(
        "acme", lambda raw: raw["clusters"]["prod"]["pools"]["lab"]["size"].update(memory="16Gi"), change
    )
    return _current(eight), run_tenant(bigger, templates=eight.outputs["templates"])


NEWER = {"tags": ["talos", "v1.14.0"], "id": 9001, "node": "pve1"}
OLD = {"tags": ["v1.13.6", "talos"], "id": 9000, "node": "pve1"}


@pytest.mark.parametrize(
    "change",
    [
        lambda raw: raw["zones"]["workers"]["networks"]["acme-lab"].update(vlan=203),
        lambda raw: raw["locations"]["lab"]["storage"].update(name="other"),
        lambda raw: raw["locations"]["lab"].update(template=NEWER),
        lambda raw: raw["locations"]["lab"].update(template=NEWER, formerTemplates=[{**OLD, "tags": ["talos"]}]),
    ],
    ids=["another VLAN", "another storage", "another template", "a former template of other tags"],
)
def test_a_template_that_is_no_longer_all_the_tenants_own_is_not_kept(change: Callable[[Any], None]) -> None:
    old, run = _after(change)
    assert old not in _names(run)
    assert _names(run) == [_current(run)]


def test_a_template_of_a_former_vm_template_is_kept_through_its_rolling_update() -> None:
    old, run = _after(lambda raw: raw["locations"]["lab"].update(template=NEWER, formerTemplates=[OLD]))
    assert _names(run) == sorted([old, _current(run)])
