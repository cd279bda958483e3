"""The guard as a folder of plain YAML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from manifests.__main__ import main
from manifests.chainsaw import CONVERTED, IDENTITIES, PLAIN, SCRATCH
from manifests.generations import CAPI_1_10, CAPI_1_12
from manifests.guard_cases import cases
from manifests.render import NotOurFolder, files, manifests, write
from manifests.render_guard import GUARD, guard, guard_files
from tests.manifests.examples import STACKS, environment

if TYPE_CHECKING:
    from pathlib import Path


def tree(folder: Path) -> dict[str, str]:
    return {str(file.relative_to(folder)): file.read_text() for file in sorted(folder.rglob("*")) if file.is_file()}


def in_suite(texts: dict[str, str], suite: str) -> list[dict[str, Any]]:
    found = [
        yaml.safe_load_all(text) for path, text in texts.items() if path.startswith(f"{suite}/") and "test" in path
    ]
    return [test for documents in found for test in documents]


def test_the_kustomization_names_every_object_in_the_order_in_which_it_can_be_applied() -> None:
    settings = environment()
    texts = guard_files(settings)
    resources = yaml.safe_load(texts["kustomization.yaml"])["resources"]
    bodies = [yaml.safe_load(texts[path]) for path in resources]
    assert bodies == [item.body for item in guard(settings)]
    other = {path for path in texts if not path.startswith(("chainsaw", "README", "kustomization"))}
    assert set(resources) == other
    seen: set[str] = set()
    for item in guard(settings):
        assert set(item.after) <= seen
        seen.add(item.name)


def test_no_identity_and_no_secret_is_rendered() -> None:
    texts = guard_files(environment())
    objects = [yaml.safe_load(texts[path]) for path in yaml.safe_load(texts["kustomization.yaml"])["resources"]]
    assert {body["kind"] for body in objects} == {
        "CustomResourceDefinition",
        "InClusterIPPool",
        "ProxmoxNetworkTable",
        "ProxmoxNetworkZone",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
    }
    assert not any("set by pulumi up" in text for text in texts.values())


@pytest.mark.parametrize("generation", [CAPI_1_10, CAPI_1_12])
def test_each_refusal_is_tried_beside_its_twin(generation: str) -> None:
    settings = environment({"management.generation": generation})
    texts = guard_files(settings)
    tried = {suite: in_suite(texts, suite) for suite in (PLAIN, IDENTITIES, SCRATCH, CONVERTED)}
    assert bool(tried[CONVERTED]) == (generation == CAPI_1_12)
    by_name = {case.name: case for case in cases(settings.environment, settings.stack)}
    done: set[str] = set()
    for test in (test for suite in tried.values() for test in suite):
        twin, *refused = (by_name[step["description"]] for step in test["spec"]["steps"])
        assert twin.verdict == "admit"
        assert refused
        assert {case.twin for case in refused} == {twin.name}
        done |= {twin.name, *(case.name for case in refused)}
    left = [case for name, case in by_name.items() if name not in done and not case.deleting]
    assert all(each.before or each.user != "admin" for each in left if each.verdict == "admit")
    assert all(by_name[each.twin] in left for each in left)
    assert all(not case.body["apiVersion"].endswith("v1alpha2") for case in left)
    assert not left or generation == CAPI_1_12


def test_nothing_but_objects_to_be_updated_is_really_made() -> None:
    texts = guard_files(environment())
    for suite in (PLAIN, IDENTITIES, SCRATCH):
        for test in in_suite(texts, suite):
            for step in test["spec"]["steps"]:
                *made, last = step["try"]
                (operation,) = last.values()
                assert operation["dryRun"] is True
                assert suite != SCRATCH or not made
                for each in made:
                    annotations = each["create"]["resource"]["metadata"]["annotations"]
                    assert annotations["cluster.x-k8s.io/paused"] == "true"


def test_requests_of_other_users_are_in_suites_of_their_own() -> None:
    texts = guard_files(environment())
    text = {suite: yaml.safe_dump(in_suite(texts, suite)) for suite in (PLAIN, IDENTITIES, SCRATCH)}
    assert "cluster: capmox" not in text[PLAIN]
    for name in ("capmox", "tenant-acme", "tenant-globex"):
        assert f"cluster: {name}\n" in text[IDENTITIES]
        assert f"--cluster {name}=$KEYS/{name}" in texts["README.md"]


def test_the_page_names_what_is_in_mode_audit() -> None:
    assert "audit" not in guard_files(environment())["README.md"]
    page = guard_files(environment({"management.guard": "audit", "zones.workers.mode": "audit"}))["README.md"]
    assert "zone `workers` and everything that belongs to no zone" in page


def test_an_environment_without_tenants_is_rendered_too() -> None:
    texts = guard_files(environment({"tenants": {}, "zones": {}, "locations": {}}))
    assert "kustomization.yaml" in texts
    assert not any(path.startswith("chainsaw") for path in texts)


def test_the_command_writes_a_folder_and_writes_it_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    command = ["render-guard", "lab", "--out", str(out), "--stacks", str(STACKS)]
    assert main(command) == 0
    assert "README.md there says how to use it" in capsys.readouterr().out
    first = tree(out)
    assert main(command) == 0
    assert tree(out) == first


def test_a_tenants_stack_has_no_guard(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["render-guard", "lab-acme", "--out", str(tmp_path / "out"), "--stacks", str(STACKS)]) == 1
    assert "a tenant's stack" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("place", "content"),
    [
        ("README.md", "# Mine\n"),
        ("notes.txt", "# The guard of environment lab\n"),
        ("chainsaw/hybrid-clusters/mine.yaml", "# The guard of environment lab\n"),
        ("_cluster/clusterrole.mine.yaml", "kind: ClusterRole\n"),
    ],
)
def test_a_folder_that_holds_anything_else_is_left_alone(tmp_path: Path, place: str, content: str) -> None:
    write(tmp_path, guard_files(environment()), GUARD)
    (tmp_path / place).write_text(content)
    before = tree(tmp_path)
    with pytest.raises(NotOurFolder, match="was not rendered"):
        write(tmp_path, guard_files(environment()), GUARD)
    assert tree(tmp_path) == before


def test_the_folder_of_a_rendered_stack_is_another_one(tmp_path: Path) -> None:
    write(tmp_path / "stack", files("lab", manifests(environment())))
    with pytest.raises(NotOurFolder):
        write(tmp_path / "stack", guard_files(environment()), GUARD)
    write(tmp_path / "guard", guard_files(environment()), GUARD)
    with pytest.raises(NotOurFolder):
        write(tmp_path / "guard", files("lab", manifests(environment())))
