"""What the management cluster's own controllers must not have: Proxmox VE credentials for all clusters at once."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Literal

from operations.api import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from operations.api import Api

_ACCOUNT = "system:serviceaccount:"
_PREFIX = "PROXMOX_"
_WHAT = f"no {_PREFIX}* in its Deployment's environment"

Line = tuple[str, Literal["ok", "WRONG", "not checked"], str]


def controllers(api: Api, user: str) -> Iterator[Line]:
    """Look for `PROXMOX_*` in capmox's environment: with it, capmox ignores every cluster's own credentials.

    `user` is capmox's user name. What can't be found or read is said to be not checked.
    """
    namespace, _, account = user.removeprefix(_ACCOUNT).partition(":")
    found = api.items(f"/apis/apps/v1/namespaces/{namespace}/deployments") if user.startswith(_ACCOUNT) else None
    own = [
        item for item in found or () if item["spec"]["template"]["spec"].get("serviceAccountName", "default") == account
    ]
    if not own:
        yield _WHAT, "not checked", f"no Deployment of {user} found"
    for item in own:
        search = _Search(api, namespace)
        for container in item["spec"]["template"]["spec"].get("containers", []):
            search.variables(container.get("env") or ())
            search.sources(container.get("envFrom") or ())
        name = item["metadata"]["name"]
        if search.carried:
            yield _WHAT, "WRONG", f"{name} has {', '.join(sorted(search.carried))}"
        elif search.unread:
            yield _WHAT, "not checked", f"{name}: not readable: {', '.join(sorted(search.unread))}"
        else:
            yield _WHAT, "ok", name


class _Search:
    """Collects the names of variables that are set; one that comes empty, or from what is not there, is not."""

    def __init__(self, api: Api, namespace: str) -> None:
        self._api = api
        self._namespace = namespace
        self.carried: set[str] = set()
        self.unread: set[str] = set()

    def variables(self, env: Any) -> None:
        for variable in env:
            if not variable["name"].startswith(_PREFIX):
                continue
            source = variable.get("valueFrom") or {}
            if "secretKeyRef" in source:
                if self._keys("secrets", source["secretKeyRef"]["name"]).get(source["secretKeyRef"]["key"]):
                    self.carried.add(variable["name"])
            elif source or variable.get("value"):
                self.carried.add(variable["name"])

    def sources(self, env: Any) -> None:
        for source in env:
            for field, plural in (("secretRef", "secrets"), ("configMapRef", "configmaps")):
                if field in source:
                    keys = self._keys(plural, source[field]["name"])
                    names = {f"{source.get('prefix', '')}{key}" for key, is_set in keys.items() if is_set}
                    self.carried |= {name for name in names if name.startswith(_PREFIX)}

    def _keys(self, plural: str, name: str) -> Mapping[str, bool]:
        """Give which keys hold something; never what."""
        try:
            found = self._api.read(f"/api/v1/namespaces/{self._namespace}/{plural}/{name}")
        except UnreadableError:
            self.unread.add(f"{plural}/{name}")
            return {}
        data = (found or {}).get("data") or {}
        return {key: bool(base64.b64decode(value) if plural == "secrets" else value) for key, value in data.items()}
