"""Take a tenant's objects over into the versions of the environment's generation, as they are.

capmox's newer version keeps a ProxmoxCluster's lists as sets, each item with an owner of its own; in the older a list
is one value. An `up` that changes such a list together with the version does not take the old items away, since nobody
has ever owned them one by one (seen on a real API server: the sentinel stays beside the new range, and the guard
refuses both). So the object is first written once more as it is, in the newer version and under the program's own
manager.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manifests.generations import api_version
from operations.api import CREATED, OK, UnreadableError, place
from operations.managers import program_entry

if TYPE_CHECKING:
    from operations.api import Api
    from settings.stack import TenantSettings

KIND = "ProxmoxCluster"
"""The kind of a tenant's stack whose lists are sets in one version and not in the other."""


class NotMovedError(RuntimeError):
    """An object that the API server did not take; the message says why."""


def older(api: Api, settings: TenantSettings) -> list[dict[str, Any]]:
    """Give the tenant's objects that the program has written in another version than the generation's only."""
    found = []
    for name in sorted(settings.clusters):
        wanted = api_version(KIND, settings.environment.management.generation)
        meta = {"name": name, "namespace": settings.namespace}
        live = api.read(place({"apiVersion": wanted, "kind": KIND, "metadata": meta}))
        entry = program_entry(live or {})
        if live and entry and entry["apiVersion"] != wanted:
            found.append(live)
    return found


def move(api: Api, settings: TenantSettings) -> list[str]:
    """Write each of them once more as it is; give a line for each. Nothing in their content changes."""
    lines = []
    for live in older(api, settings):
        entry = program_entry(live) or {}
        own = (entry.get("fieldsV1") or {}).get("f:spec") or {}
        meta = {key: live["metadata"][key] for key in ("name", "namespace", "labels") if key in live["metadata"]}
        body = {
            "apiVersion": live["apiVersion"],
            "kind": live["kind"],
            "metadata": meta,
            "spec": {key: value for key, value in live["spec"].items() if f"f:{key}" in own},
        }
        query = {"fieldManager": entry["manager"], "force": "true"}
        answer = api.request("PATCH", place(body), body, query=query, content_type="application/apply-patch+yaml")
        where = f"{KIND} {meta['namespace']}/{meta['name']}"
        if answer.status not in (OK, CREATED):
            message = f"{where}: HTTP {answer.status}: {answer.message}"
            raise NotMovedError(message)
        lines.append(f"{where}: from {entry['apiVersion']} to {live['apiVersion']}")
    return lines


def not_moved(api: Api, settings: TenantSettings) -> str | None:
    """Say what must be run before an `up`, None where nothing must; also where the cluster can not be asked."""
    try:
        names = [f"{KIND} {item['metadata']['namespace']}/{item['metadata']['name']}" for item in older(api, settings)]
    except UnreadableError:
        return None
    if not names:
        return None
    return (
        f"{', '.join(names)}: last written in the version of another generation, so that a changed list would keep its "
        f"old items; run `make move-versions STACK={settings.stack}` first"
    )
