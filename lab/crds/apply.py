"""Put CRDs and namespaces into the lab's API server, and wait until they can be used."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import yaml

from lab.crds import permissive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from lab.cluster import Cluster

_MANAGER = "hybrid-lab"
_APPLY = "application/apply-patch+yaml"
_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_WAIT_SECONDS = 60.0
_POLL_SECONDS = 0.1
_OK, _CREATED, _NOT_FOUND = 200, 201, 404
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the upstream files are 700 kB: ten times faster in C


class CrdError(RuntimeError):
    """CRDs or namespaces could not be loaded; the message names the file or object and the server's reason."""


def load(cluster: Cluster, source: Path | None, report: Callable[[str], None] = print) -> list[str]:
    """Apply the CRDs of a folder, or permissive stand-ins without one; return their names once all are served.

    A folder's files are `*.yaml`; objects of other kinds in them are an error. Conversion by webhook is turned off,
    because no webhook runs in the lab; `report` gets a line that says so, and one about what was loaded.
    """
    if source is None:
        definitions = permissive.definitions()
        report(
            f"{len(definitions)} permissive stand-ins for the CRDs of capi-1.10 loaded: they accept any content. "
            "`make lab CRDS=DIR` loads the real ones from DIR"
        )
    else:
        definitions = [without_webhook(each, report) for each in _read(source)]
        report(f"{len(definitions)} CRDs loaded from {source}")
    definitions = [_fitting(cluster, each, report) for each in definitions]
    for each in definitions:
        _apply(cluster, f"{_CRDS}/{each['metadata']['name']}", each)
    for each in definitions:
        _established(cluster, each["metadata"]["name"])
        _served(cluster, each)
    return [each["metadata"]["name"] for each in definitions]


def loaded(cluster: Cluster) -> bool:
    """Say whether CRDs of these kinds are there already, whichever: a restarted lab keeps those that it had."""
    status, _ = cluster.request("GET", f"{_CRDS}/proxmoxmachinetemplates.infrastructure.cluster.x-k8s.io")
    return status == _OK


def namespaces(cluster: Cluster, names: Iterable[str]) -> None:
    """Make namespaces that are not there; one that is being deleted is awaited and made again."""
    for name in names:
        path = f"/api/v1/namespaces/{name}"
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}

        def active(path: str = path, body: dict[str, Any] = body) -> bool:
            answer = _apply(cluster, path, body)
            return bool(answer["status"].get("phase") == "Active")

        _until(active, f"namespace {name} is still being deleted")


def without_webhook(definition: dict[str, Any], report: Callable[[str], None]) -> dict[str, Any]:
    """Return the CRD with its versions converted by name only, if a webhook was to do it."""
    spec = definition["spec"]
    if spec.get("conversion", {}).get("strategy") != "Webhook":
        return definition
    report(f"{definition['metadata']['name']}: conversion webhook turned off, versions differ in apiVersion only")
    return definition | {"spec": spec | {"conversion": {"strategy": "None"}}}


def _read(source: Path) -> Iterator[dict[str, Any]]:
    files = sorted(source.glob("*.yaml"))
    if not files:
        message = f"{source} has no CRDs: no *.yaml in it" if source.is_dir() else f"{source} is not a folder"
        raise CrdError(message)
    for file in files:
        for each in yaml.load_all(file.read_text(), Loader=_Loader):
            if each is None:
                continue
            kind = each.get("kind") if isinstance(each, dict) else type(each).__name__
            if kind != "CustomResourceDefinition":
                message = f"{file}: {kind} is not a CustomResourceDefinition"
                raise CrdError(message)
            yield each


def _apply(cluster: Cluster, path: str, body: dict[str, Any]) -> dict[str, Any]:
    query = f"?fieldManager={_MANAGER}&force=true"
    status, answer = cluster.request("PATCH", path + query, body, content_type=_APPLY)
    if status not in (_OK, _CREATED):
        reason = answer.get("message", answer) if isinstance(answer, dict) else answer
        message = f"{body['kind']} {body['metadata']['name']} was refused (HTTP {status}): {reason}"
        raise CrdError(message)
    return dict(answer)


def _fitting(cluster: Cluster, definition: dict[str, Any], report: Callable[[str], None]) -> dict[str, Any]:
    """Give a CRD that the server takes in the place of the one that is there.

    The server refuses one that lacks a version in which objects may be stored, whether there are objects or not. Where
    there are none, the old CRD is deleted; else its version is kept beside the new ones, served and no longer stored.
    """
    name = definition["metadata"]["name"]
    status, present = cluster.request("GET", f"{_CRDS}/{name}")
    if status != _OK:
        return definition
    spec = present["spec"]
    if spec.get("conversion", {}).get("strategy") == "Webhook":  # the lab's own: it is put back when all are there
        change = {"spec": {"conversion": {"strategy": "None", "webhook": None}}}
        cluster.request("PATCH", f"{_CRDS}/{name}", change, content_type="application/merge-patch+json")
    gone = set(present["status"]["storedVersions"]) - {each["name"] for each in definition["spec"]["versions"]}
    if not gone:
        return definition
    served = next(each["name"] for each in spec["versions"] if each["served"])
    objects = cluster.request("GET", f"/apis/{spec['group']}/{served}/{spec['names']['plural']}?limit=1")[1]["items"]
    if objects:
        report(f"{name}: {', '.join(sorted(gone))} is kept beside the new versions, since objects are stored in it")
        kept = [{**each, "storage": False} for each in spec["versions"] if each["name"] in gone]
        return definition | {"spec": {**definition["spec"], "versions": [*definition["spec"]["versions"], *kept]}}
    cluster.request("DELETE", f"{_CRDS}/{name}")
    _until(lambda: cluster.request("GET", f"{_CRDS}/{name}")[0] == _NOT_FOUND, f"CRD {name} is still being deleted")
    return definition


def _established(cluster: Cluster, name: str) -> None:
    def done() -> bool:
        status, answer = cluster.request("GET", f"{_CRDS}/{name}")
        conditions = answer.get("status", {}).get("conditions", []) if status == _OK else []
        refused = [each for each in conditions if each["type"] == "NamesAccepted" and each["status"] == "False"]
        if refused:
            message = f"CRD {name}: {refused[0]['message']}"
            raise CrdError(message)
        return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)

    _until(done, f"CRD {name} is not established")


def _served(cluster: Cluster, definition: dict[str, Any]) -> None:
    """Wait until requests for the kind are answered: a moment after the CRD says that it is established."""
    spec = definition["spec"]
    for version in (each["name"] for each in spec["versions"] if each["served"]):
        path = f"/apis/{spec['group']}/{version}/{spec['names']['plural']}?limit=1"

        def answered(path: str = path) -> bool:
            return cluster.request("GET", path)[0] == _OK

        _until(answered, f"{path} is not served")


def _until(done: Callable[[], bool], otherwise: str) -> None:
    deadline = time.monotonic() + _WAIT_SECONDS
    while not done():
        if time.monotonic() > deadline:
            message = f"{otherwise} after {_WAIT_SECONDS:.0f} s"
            raise CrdError(message)
        time.sleep(_POLL_SECONDS)
