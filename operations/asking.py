"""Ask the API server whether it would let an object in, by a dry-run create: nothing is kept."""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from manifests.policies.parts import JUDGE
from operations.api import CONFLICT, CREATED, INVALID, OK, collection

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from operations.api import Api

MANAGER = "hybrid-audit"
"""The field manager of these dry runs, by which they are told apart in an audit log."""

NO_NAMESPACE, NO_IMPERSONATION = "HTTP 404", "HTTP 403"

NOT_READY = "failed to configure policy"
"""What the API server says while it has not found a policy's parameters, up to half a minute after its start."""

_BY = re.compile(r"ValidatingAdmissionPolicy '([^']+)' with binding '([^']+)'")
_SERVERS_OWN = (
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generation",
    "managedFields",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
)
_CONTROLLERS_OWN = ("providerID", "virtualMachineID")


@dataclass(frozen=True)
class Verdict:
    """What the API server said: which bindings refuse, which only warn, and whether anything else stood in the way.

    `admitted` means that nothing refused it; an object of that name may be there already. Where it was neither admitted
    nor refused by a policy, `other` says what stood in the way (a missing namespace, a schema, another webhook).
    """

    admitted: bool
    refused_by: frozenset[tuple[str, str]] = frozenset()
    warned_by: frozenset[tuple[str, str]] = frozenset()
    text: str = ""
    other: str = ""
    ready: bool = True

    def refusing(self, policies: Iterable[str]) -> bool:
        """Say whether one of these policies refused it."""
        return bool({policy for policy, _ in self.refused_by} & set(policies))

    def warning(self, policies: Iterable[str]) -> bool:
        """Say whether one of these policies only warned."""
        return bool({policy for policy, _ in self.warned_by} & set(policies))


def ask(api: Api, body: Mapping[str, Any], user: str | None = None) -> Verdict:
    """Ask about one object; `user` is whom to be, with an administrator's rights: some policies look at who asks."""
    headers = {"Impersonate-User": user, "Impersonate-Group": "system:masters"} if user else None
    path = collection(body["apiVersion"], body["kind"], body["metadata"].get("namespace"))
    if body["kind"] == "InClusterIPPool":
        meta = body["metadata"]
        body = {**body, "metadata": {**meta, "annotations": {**(meta.get("annotations") or {}), JUDGE: ""}}}
    query = {"dryRun": "All", "fieldManager": MANAGER, "fieldValidation": "Strict"}
    answer = api.request("POST", path, body, query=query, headers=headers)
    warned = frozenset((found[0], found[1]) for text in answer.warnings for found in _BY.findall(text))
    texts = [text for text in answer.warnings if _BY.search(text)]
    if answer.status in (OK, CREATED, CONFLICT):
        return Verdict(admitted=True, warned_by=warned, text="; ".join(texts))
    said = answer.message
    refused = frozenset((found[0], found[1]) for found in _BY.findall(said))
    ready = NOT_READY not in said
    if refused and answer.status == INVALID and ready:
        return Verdict(admitted=False, refused_by=refused, warned_by=warned, text=_short(said))
    return Verdict(admitted=False, warned_by=warned, text=_short(said), other=f"HTTP {answer.status}", ready=ready)


def copy_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """Give a live object as it would be made anew, without what the server and controllers wrote on it."""
    found: dict[str, Any] = copy.deepcopy({key: value for key, value in body.items() if key != "status"})
    meta = found["metadata"]
    for key in _SERVERS_OWN:
        meta.pop(key, None)
    if found["kind"] == "ProxmoxMachine":
        for key in _CONTROLLERS_OWN:
            found.get("spec", {}).pop(key, None)
    return found


def _short(text: str) -> str:
    """Keep the policy's own words."""
    _, found, rest = text.partition("denied request: ")
    return (rest if found else text).strip()
