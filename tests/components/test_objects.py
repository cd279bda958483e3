"""The one way in which a Kubernetes object is registered: its order, its aliases, its secrets, its protection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pulumi
import pulumi_kubernetes as kubernetes
import pytest

from components.objects import Objects
from manifests.environment import environment as environment_manifests
from manifests.generations import API_VERSIONS, KINDS
from manifests.identity import value_keys
from manifests.manifest import Manifest
from manifests.tenant import tenant as tenant_manifests
from tests.components.engine import Run, Secret, run
from tests.components.examples import environment_settings, example, run_environment, run_tenant, tenant_settings

if TYPE_CHECKING:
    from collections.abc import Callable


def _objects(found: Run) -> dict[str, Any]:
    return {item.name: item for item in found if item.type.startswith("kubernetes:")}


def _environment_manifests() -> list[Manifest]:
    settings = environment_settings()
    values = {tenant: dict.fromkeys(value_keys(settings, tenant), "?") for tenant in settings.environment.tenants}
    return environment_manifests(settings, values)


def _run(program: Callable[[Objects, pulumi.Resource], object], **how: Any) -> Run:
    def whole() -> None:
        objects = Objects(kubernetes.Provider("management", context="x"))
        program(objects, pulumi.ComponentResource("hybrid:index:Isolation", "parent"))

    return run(whole, stack_name="lab", **how)


def _manifest(kind: str, name: str, *after: str, api_version: str | None = None, **more: Any) -> Manifest:
    body = {"apiVersion": api_version or "v1", "kind": kind, "metadata": {"name": name, "namespace": "n"}, **more}
    return Manifest(body, "isolation", after)


def test_an_environments_objects_come_after_all_that_their_manifests_name(lab: Run) -> None:
    found = _objects(lab)
    wanted = {manifest.name: manifest for manifest in _environment_manifests()}
    assert found.keys() == wanted.keys()
    for name, manifest in wanted.items():
        assert set(manifest.after) <= found[name].depends_on, name
        others = found[name].depends_on & found.keys()
        # A Secret whose owner is the ServiceAccount also depends on it through the uid.
        assert others - set(manifest.after) <= {f"ServiceAccount/{manifest.namespace}/hybrid"}, name


def test_a_tenants_objects_come_after_exactly_what_their_manifests_name(acme: Run) -> None:
    found = _objects(acme)
    wanted = {manifest.name: manifest for manifest in tenant_manifests(tenant_settings("acme"))}
    assert found.keys() == wanted.keys()
    for name, manifest in wanted.items():
        assert found[name].depends_on == set(manifest.after), name


def test_the_bridges_are_opened_to_tenants_only_when_their_tables_are_enforced(lab: Run) -> None:
    policy = lab["ValidatingAdmissionPolicy/hybrid-closed-bridges"]
    assert policy.parent == "isolation"
    assert "ValidatingAdmissionPolicyBinding/hybrid-zone-machines-workers" in policy.depends_on


def test_the_handover_comes_after_the_tokens_rights_and_the_guard(lab: Run) -> None:
    after = lab["Secret/tenant-globex/hybrid-handover"].depends_on
    assert "lab-globex-pool" in after
    assert {item.name for item in lab.of("Acl") if "globex" in item.name} <= lab["lab-globex-pool"].depends_on
    assert "ValidatingAdmissionPolicyBinding/hybrid-closed-bridges" in after
    assert "InClusterIPPool/tenant-globex/globex-lab" in after
    assert not [name for name in after if "acme" in name]


SECOND = _manifest("ConfigMap", "second", "ConfigMap/n/first")
FIRST = _manifest("ConfigMap", "first")


def test_an_object_waits_for_one_that_is_registered_later(*, unknown: bool) -> None:
    def program(objects: Objects, parent: pulumi.Resource) -> None:
        objects.register_all([_manifest("ConfigMap", "third", "ConfigMap/n/second"), SECOND], parent)
        objects.register_all([FIRST], parent)
        objects.close()

    found = _run(program, unknown=unknown)
    assert found["ConfigMap/n/second"].depends_on == {"ConfigMap/n/first"}
    kinds = [item.name for item in found if "ConfigMap" in item.name]
    assert kinds == ["ConfigMap/n/first", "ConfigMap/n/second", "ConfigMap/n/third"]


def test_an_object_that_waits_for_what_nobody_registers_ends_the_run_with_both_names(*, unknown: bool) -> None:
    def program(objects: Objects, parent: pulumi.Resource) -> None:
        objects.register_all([SECOND], parent)
        objects.close()

    with pytest.raises(RuntimeError, match=r"^ConfigMap/n/second come after .*: ConfigMap/n/first$"):
        _run(program, unknown=unknown)


def test_objects_that_wait_for_each_other_end_the_run() -> None:
    def program(objects: Objects, parent: pulumi.Resource) -> None:
        objects.register_all([SECOND, _manifest("ConfigMap", "first", "ConfigMap/n/second")], parent)
        objects.close()

    with pytest.raises(RuntimeError, match="ConfigMap/n/first"):
        _run(program)


@pytest.mark.parametrize("missing", ["components.network_zone.zone", "components.isolation.isolation"])
def test_an_environment_that_leaves_an_object_waiting_ends(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def deserted(raw: dict[str, Any]) -> None:
        raw["tenants"] = {}
        raw["locations"] = {}
        raw["zones"]["workers"]["networks"] = {}

    monkeypatch.setattr(missing, lambda *_: [])
    with pytest.raises(RuntimeError, match="come after what is not in this program"):
        run_environment(environment_settings(deserted), {})


def test_a_tenant_that_leaves_an_object_waiting_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("components.tenant_cluster.cluster", lambda *_: [SECOND])
    without_pools = tenant_settings("acme", lambda raw: raw["clusters"]["prod"]["pools"].clear())
    with pytest.raises(RuntimeError, match="ConfigMap/n/second come after what is not in this program"):
        run_tenant(without_pools)


def test_a_single_object_can_not_wait() -> None:
    with pytest.raises(RuntimeError, match=r"ConfigMap/n/second comes after .* ConfigMap/n/first"):
        _run(lambda objects, parent: objects.register(SECOND, parent))


def test_a_program_that_fails_while_objects_wait_ends_with_its_own_error(*, unknown: bool) -> None:
    def program(objects: Objects, parent: pulumi.Resource) -> None:
        objects.register_all([SECOND], parent)
        message = "half-way"
        raise KeyError(message)

    with pytest.raises(KeyError, match="half-way"):
        _run(program, unknown=unknown)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_an_object_has_an_alias_for_each_version_of_its_kind_in_the_other_generations(kind: str) -> None:
    for version in API_VERSIONS[kind]:

        def program(objects: Objects, parent: pulumi.Resource, version: str = version) -> None:
            objects.register(_manifest(kind, "x", api_version=version), parent)

        item = _run(program)[f"{kind}/n/x"]
        assert item.type == f"kubernetes:{version}:{kind}"
        others = {f"kubernetes:{other}:{kind}" for other in API_VERSIONS[kind] if other != version}
        assert item.aliases == others


def test_kinds_whose_version_differs_between_generations_have_aliases_in_the_real_stacks(acme: Run) -> None:
    assert acme["Cluster/tenant-acme/prod"].aliases == {"kubernetes:cluster.x-k8s.io/v1beta2:Cluster"}
    assert acme["ProxmoxCluster/tenant-acme/prod"].aliases == {
        "kubernetes:infrastructure.cluster.x-k8s.io/v1alpha2:ProxmoxCluster"
    }
    (template,) = acme.of("ProxmoxMachineTemplate")
    assert template.aliases == {"kubernetes:infrastructure.cluster.x-k8s.io/v1alpha2:ProxmoxMachineTemplate"}


def test_only_what_owns_machines_may_take_an_hour_to_go(lab: Run, acme: Run) -> None:
    slow = {item.name for found in (lab, acme) for item in found if item.delete_timeout}
    assert slow == {"Cluster/tenant-acme/prod", "MachineDeployment/tenant-acme/prod-lab"}
    assert {acme[name].delete_timeout for name in slow} == {"60m"}


def test_a_secrets_contents_are_secret_on_their_way_and_in_the_state(lab: Run) -> None:
    secrets = lab.of("Secret")
    assert len(secrets) == 7
    for item in secrets:
        assert item.secret_outputs == {"data", "stringData"}
        if item.inputs["type"] == "Opaque":
            assert isinstance(item.inputs["stringData"], Secret)
        assert "data" not in item.inputs


def test_what_a_handover_holds_is_what_the_infrastructure_gave() -> None:
    found = example("lab")["Secret/tenant-acme/hybrid-handover"].inputs["stringData"].value
    assert found.keys() == {"digest", "dc.token", "lab.token", "fsn1.token", "fsn1.network", "fsn1.subnet"}
    assert found["lab.token"].startswith("lab-acme@pve!hybrid=00000000-0000-4000-8000-")
    assert found["fsn1.subnet"] == f"{found['fsn1.network']}-10.100.1.0/24"


def test_a_pve_secret_has_the_token_in_two_parts_and_is_owned_by_the_serviceaccount() -> None:
    found = example("lab")
    item = found["Secret/tenant-globex/pve-lab"]
    whole = found["Secret/tenant-globex/hybrid-handover"].inputs["stringData"].value["lab.token"]
    held = item.inputs["stringData"].value
    assert f"{held['token']}={held['secret']}" == whole
    (owner,) = item.inputs["metadata"]["ownerReferences"]
    assert owner["uid"].startswith("uid-")
    other = found["Secret/tenant-acme/pve-lab"].inputs["metadata"]["ownerReferences"][0]
    assert owner["uid"] != other["uid"]


def test_nothing_is_protected_where_the_environment_does_not_say_so(lab: Run, acme: Run) -> None:
    assert not [item for found in (lab, acme) for item in found if item.protect]


def test_zones_and_bindings_are_protected_where_the_environment_says_so(*, unknown: bool) -> None:
    settings = environment_settings(lambda raw: raw["management"].update(protect=True))
    found = run_environment(settings, unknown=unknown)
    protected = {item.name for item in found if item.protect}
    assert protected == {
        "ProxmoxNetworkTable/all",
        "ProxmoxNetworkZone/workers",
        *(item.name for item in found.of("ValidatingAdmissionPolicyBinding")),
    }
    assert len(protected) == 11
