"""What an audit asks of the API itself, as the real one answers it: `GET /v1/…` with a project's token."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lab.clouds.errors import CloudError
from lab.clouds.hcloud.api import HetznerApi

_SCHEME = "Bearer "
_PAGE, _LARGEST_PAGE = 25, 50


def answer(folder: Path, path: str, query: Mapping[str, str], authorization: str) -> Any:
    """Return what `GET path` answers; raises CloudError with the HTTP status in front for a refusal."""
    kind = path.removeprefix("/v1/")
    if kind not in {"networks", "servers"}:
        message = f"404 route not found: {path}"
        raise CloudError(message)
    api = HetznerApi(folder, authorization.removeprefix(_SCHEME) if authorization.startswith(_SCHEME) else "", "")
    with api.call(f"get_{kind}") as session:
        found = [_described(kind, number, entry) for number, entry in session.project[kind].items()]
    size = min(int(query.get("per_page", _PAGE)), _LARGEST_PAGE)
    page, last = int(query.get("page", 1)), max(1, -(-len(found) // size))
    pagination = {
        "page": page,
        "per_page": size,
        "previous_page": page - 1 or None,
        "next_page": page + 1 if page < last else None,
        "last_page": last,
        "total_entries": len(found),
    }
    return {kind: found[(page - 1) * size : page * size], "meta": {"pagination": pagination}}


def _described(kind: str, number: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    found = {"id": int(number), "name": entry["name"], "labels": entry.get("labels") or {}}
    if kind == "networks":
        return {**found, "ip_range": entry["ipRange"], "subnets": [{"ip_range": cidr} for cidr in entry["subnets"]]}
    return {**found, "status": entry["status"], "private_net": [{"network": int(each)} for each in entry["attached"]]}
