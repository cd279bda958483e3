"""CRDs in the lab: the stand-ins, the upstream ones, and what is done about webhooks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from lab import cluster as lab_cluster
from lab import crds
from lab.crds import apply, permissive

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.cluster import Cluster

UPSTREAM = Path(__file__).parents[3] / "shared" / "crds"
upstream = pytest.mark.shared
POOLS = "/apis/ipam.cluster.x-k8s.io/v1alpha2/namespaces/acme/inclusterippools"


def pool(name: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "ipam.cluster.x-k8s.io/v1alpha2",
        "kind": "InClusterIPPool",
        "metadata": {"name": name},
        "spec": spec,
    }


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    state = tmp_path_factory.mktemp("crds")
    try:
        yield lab_cluster.start(state)
    finally:
        lab_cluster.stop(state)


@upstream
@pytest.mark.shared
def test_the_stand_ins_have_the_kinds_versions_scopes_and_subresources_of_upstream() -> None:
    stand_ins: dict[str, dict[str, Any]] = {each["metadata"]["name"]: each["spec"] for each in permissive.definitions()}
    files = {file.stem: file for file in (UPSTREAM / "capi-1.10").glob("*.yaml")}
    assert set(files) - set(stand_ins) == {"kamajicontrolplanetemplates.controlplane.cluster.x-k8s.io"}  # not used
    assert set(stand_ins) <= set(files)
    for name, stand_in in stand_ins.items():
        real = yaml.load(files[name].read_text(), Loader=yaml.CSafeLoader)["spec"]
        stored = next(version for version in real["versions"] if version["storage"])
        (version,) = stand_in["versions"]
        assert version["name"] == stored["name"], name
        assert version["subresources"] == (stored.get("subresources") or {}), name
        assert (stand_in["group"], stand_in["scope"]) == (real["group"], real["scope"]), name
        for key in ("kind", "listKind", "plural", "singular", "shortNames"):
            assert stand_in["names"].get(key) == real["names"].get(key), name


def test_conversion_by_webhook_is_turned_off_and_said() -> None:
    webhook = {"strategy": "Webhook", "webhook": {"clientConfig": {"service": {"name": "x"}}}}
    spec = {"group": "example.org", "conversion": webhook}
    definition: dict[str, Any] = {"metadata": {"name": "things.example.org"}, "spec": spec}
    lines: list[str] = []
    changed = apply.without_webhook(definition, lines.append)
    assert changed["spec"] == {"group": "example.org", "conversion": {"strategy": "None"}}
    assert lines == ["things.example.org: conversion webhook turned off, versions differ in apiVersion only"]
    assert definition["spec"]["conversion"] == webhook


def test_a_crd_without_webhook_is_left_alone() -> None:
    lines: list[str] = []
    for spec in ({}, {"conversion": {"strategy": "None"}}):
        definition: dict[str, Any] = {"metadata": {"name": "things.example.org"}, "spec": spec}
        assert apply.without_webhook(definition, lines.append) is definition
    assert lines == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "has no CRDs"),
        ("kind: ConfigMap", "ConfigMap is not a CustomResourceDefinition"),
        ("- 1", "list is not a CustomResourceDefinition"),
    ],
)
def test_a_folder_with_anything_but_crds_is_refused(tmp_path: Path, content: str | None, message: str) -> None:
    nowhere = lab_cluster.Cluster("https://127.0.0.1:1", b"", "")
    if content is not None:
        (tmp_path / "thing.yaml").write_text(content)
    with pytest.raises(crds.CrdError, match=message):
        crds.load(nowhere, tmp_path)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    nowhere = lab_cluster.Cluster("https://127.0.0.1:1", b"", "")
    with pytest.raises(crds.CrdError, match="missing is not a folder"):
        crds.load(nowhere, tmp_path / "missing")


@pytest.mark.lab
def test_the_stand_ins_take_any_content_and_say_what_they_are(cluster: Cluster) -> None:
    lines: list[str] = []
    names = crds.load(cluster, None, lines.append)
    assert len(names) == len(permissive.definitions())
    assert "permissive stand-ins" in lines[0]
    crds.namespaces(cluster, ["acme"])
    status, answer = cluster.request("POST", f"{POOLS}?fieldValidation=Strict", pool("any", anything={"goes": 1}))
    assert status == 201, answer
    assert answer["spec"] == {"anything": {"goes": 1}}
    assert cluster.request("DELETE", f"{POOLS}/any")[0] == 200


@upstream
@pytest.mark.shared
@pytest.mark.lab
def test_the_upstream_crds_replace_the_stand_ins_and_check_what_they_get(cluster: Cluster) -> None:
    crds.load(cluster, None, lambda _: None)
    crds.namespaces(cluster, ["acme"])
    lines: list[str] = []
    source = UPSTREAM / "capi-1.10"
    assert len(crds.load(cluster, source, lines.append)) == len(list(source.glob("*.yaml")))
    assert lines == [f"{len(list(source.glob('*.yaml')))} CRDs loaded from {source}"]
    good = pool("good", addresses=["10.201.0.20-10.201.0.199"], prefix=24, gateway="10.201.0.1")
    status, answer = cluster.request("POST", f"{POOLS}?fieldValidation=Strict", good)
    assert status == 201, answer
    bad = pool("bad", addresses=["10.201.0.20-10.201.0.199"], prefix=24, gatewey="10.201.0.1")
    status, answer = cluster.request("POST", f"{POOLS}?fieldValidation=Strict", bad)
    assert status == 400
    assert 'unknown field "spec.gatewey"' in answer["message"]


@upstream
@pytest.mark.shared
@pytest.mark.lab
def test_a_generation_that_drops_a_version_keeps_it_as_long_as_objects_are_stored_in_it(cluster: Cluster) -> None:
    crds.load(cluster, UPSTREAM / "capi-1.10", lambda _: None)
    crds.namespaces(cluster, ["acme"])
    old, new = (f"/apis/controlplane.cluster.x-k8s.io/{version}" for version in ("v1alpha1", "v1alpha2"))
    control_plane = {
        "apiVersion": "controlplane.cluster.x-k8s.io/v1alpha1",
        "kind": "KamajiControlPlane",
        "metadata": {"name": "prod"},
        "spec": {"version": "v1.35.6", "kubelet": {"cgroupfs": "systemd"}, "network": {"serviceType": "ClusterIP"}},
    }
    path = f"{old}/namespaces/acme/kamajicontrolplanes"
    status, answer = cluster.request("POST", path, control_plane)
    assert status == 201, answer
    said: list[str] = []
    crds.load(cluster, UPSTREAM / "capi-1.12", said.append)
    assert [line for line in said if line.startswith("kamajicontrolplanes.") and "v1alpha1 is kept" in line]
    assert {cluster.request("GET", f"{each}/namespaces/acme/kamajicontrolplanes/prod")[0] for each in (old, new)} == {
        200
    }
    assert cluster.request("DELETE", f"{path}/prod")[0] == 200
    crds.load(cluster, UPSTREAM / "capi-1.12", lambda _: None)
    assert cluster.request("GET", f"{new}/kamajicontrolplanes")[0] == 200
    assert cluster.request("GET", f"{old}/kamajicontrolplanes")[0] == 404


@pytest.mark.lab
def test_a_crd_that_the_server_refuses_is_named_with_the_reason(cluster: Cluster, tmp_path: Path) -> None:
    names = {"kind": "Thing", "plural": "things"}
    version = {"name": "v1", "served": True, "storage": True}
    broken = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.org"},
        "spec": {"group": "example.org", "names": names, "scope": "Namespaced", "versions": [version]},
    }
    (tmp_path / "thing.yaml").write_text(yaml.safe_dump(broken))
    with pytest.raises(crds.CrdError, match=r"things\.example\.org was refused \(HTTP 422\): .*schema"):
        crds.load(cluster, tmp_path, lambda _: None)
