from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
import yaml

from manifests.__main__ import main
from manifests.render import NotOurFolder, files, manifests, placeholders, write
from tests.manifests.examples import STACKS, environment, tenant

if TYPE_CHECKING:
    from pathlib import Path


def tree(folder: Path) -> dict[str, str]:
    return {str(file.relative_to(folder)): file.read_text() for file in sorted(folder.rglob("*")) if file.is_file()}


def test_each_object_is_a_file_below_its_namespace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["render", "lab-acme", "--out", str(tmp_path / "out"), "--stacks", str(STACKS)]) == 0
    found = tree(tmp_path / "out")
    assert "tenant-acme/kamajicontrolplane.prod.yaml" in found
    assert "tenant-acme/machinedeployment.prod-lab.yaml" in found
    assert f"{len(found)} objects of stack lab-acme" in capsys.readouterr().out
    for path, text in found.items():
        body = yaml.safe_load(text)
        assert path == f"{body['metadata']['namespace']}/{body['kind'].lower()}.{body['metadata']['name']}.yaml"


def test_what_has_no_namespace_has_a_folder_of_its_own() -> None:
    texts = files("lab", manifests(environment()))
    assert "_cluster/proxmoxnetworkzone.workers.yaml" in texts
    assert "_cluster/customresourcedefinition.proxmoxnetworkzones.proxmox.cozystack.io.yaml" in texts
    assert {path.partition("/")[0] for path in texts} == {"_cluster", "tenant-acme", "tenant-globex"}


def test_what_only_a_cluster_knows_names_itself() -> None:
    found = placeholders(environment())["acme"]
    assert found["pve.lab.token"] == "<set by pulumi up: Proxmox token of acme in lab>"
    assert found["hcloud.fsn1.subnet"] == "<set by pulumi up: Hetzner Cloud subnet's id of acme in fsn1>"
    assert found["serviceaccount.uid"] == "<set by pulumi up: uid of ServiceAccount hybrid in tenant-acme>"
    assert len(set(found.values())) == len(found)


def test_a_second_run_gives_the_same_bytes_and_leaves_nothing_of_the_first(tmp_path: Path) -> None:
    write(tmp_path, files("lab", manifests(environment())))
    first = tree(tmp_path)
    write(tmp_path, files("lab", manifests(environment())))
    assert tree(tmp_path) == first
    write(tmp_path, files("lab-globex", manifests(tenant("globex"))))
    assert {path.partition("/")[0] for path in tree(tmp_path)} == {"tenant-globex"}


@pytest.mark.parametrize(
    ("place", "content"),
    [
        ("README.md", "hello"),
        ("tenant-acme/notes.txt", "hello"),
        ("tenant-acme/cluster.prod.yaml", "kind: Cluster\n"),
        ("tenant-acme/deeper/cluster.prod.yaml", "# Rendered from stack lab\n"),
        (".git/config", "[core]\n"),
    ],
)
def test_a_folder_that_holds_anything_else_is_left_alone(
    tmp_path: Path, place: str, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, files("lab-globex", manifests(tenant("globex"))))
    file = tmp_path / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)
    before = tree(tmp_path)
    assert main(["render", "lab", "--out", str(tmp_path), "--stacks", str(STACKS)]) == 1
    assert tree(tmp_path) == before
    assert "was not rendered" in capsys.readouterr().err


def test_a_link_in_the_folder_is_never_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    write(elsewhere, files("lab", manifests(environment())))
    before = tree(elsewhere)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "tenant-acme").symlink_to(elsewhere / "tenant-acme")
    with pytest.raises(NotOurFolder):
        write(tmp_path / "out", {})
    (tmp_path / "link").symlink_to(elsewhere)
    with pytest.raises(NotOurFolder, match="not a folder"):
        write(tmp_path / "link", {})
    assert tree(elsewhere) == before


def test_settings_that_are_refused_are_printed_as_the_check_prints_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stacks = shutil.copytree(STACKS, tmp_path / "stacks")
    file = stacks / "Pulumi.lab-acme.yaml"
    file.write_text(file.read_text().replace("network: acme-lab", "network: globex-lab"))
    out = tmp_path / "out"
    assert main(["render", "lab-acme", "--out", str(out), "--stacks", str(stacks)]) == 1
    printed = capsys.readouterr().err
    assert "clusters.prod.pools.lab.network" in printed
    assert "fix:" in printed
    assert not out.exists()
