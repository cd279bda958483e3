"""Breaking the glass: a binding that for a while warns instead of refusing, and says who opened it, why, until when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from manifests.common import ADMISSION
from manifests.isolation import ALWAYS_ENFORCED, zone_bindings
from manifests.policies.parts import BINDING, POLICY
from operations.api import CREATED, OK, collection
from operations.canaries import policy_canaries, wait, zone_canaries
from operations.managers import BY_HAND, foreign_fields
from operations.rendered import differing, guard_objects, of_kind, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from operations.api import Api
    from operations.canaries import Canary
    from settings.stack import EnvironmentSettings

_PREFIX = "hybrid.cozystack.io/opened-"
WHO, WHY, UNTIL = f"{_PREFIX}by", f"{_PREFIX}because", f"{_PREFIX}until"
ACTIONS = ["Audit", "Warn"]
HOURS = 4.0
MOST_HOURS = 168
"""How long a binding may be meant to stay open: a week."""


class OpeningError(RuntimeError):
    """A binding can not be opened or closed; the message says why."""


@dataclass(frozen=True)
class Opening:
    """Who opened a binding, why, and until when (as they wrote it)."""

    who: str
    why: str
    until: str

    @property
    def annotations(self) -> dict[str, str]:
        """Give them as the binding's annotations."""
        return {WHO: self.who, WHY: self.why, UNTIL: self.until}

    def overdue(self, now: datetime) -> bool:
        """Say whether the time is over; a time that can't be read is."""
        try:
            return datetime.fromisoformat(self.until) < now
        except (ValueError, TypeError):
            return True

    def __str__(self) -> str:
        """Give it as a person reads it."""
        return f"opened by {self.who} until {self.until}: {self.why}"


def opening(binding: Mapping[str, Any] | None) -> Opening | None:
    """Give what a live binding's annotations say, None where it was not opened by this command."""
    found = ((binding or {}).get("metadata", {}).get("annotations")) or {}
    if WHO not in found:
        return None
    return Opening(found[WHO], found.get(WHY, ""), found.get(UNTIL, ""))


def opened(body: Mapping[str, Any], how: Opening) -> dict[str, Any]:
    """Give a binding as it is while it is open."""
    meta = {**body["metadata"], "annotations": {**body["metadata"].get("annotations", {}), **how.annotations}}
    return {**body, "metadata": meta, "spec": {**body["spec"], "validationActions": ACTIONS}}


def break_glass(  # noqa: PLR0913 - what is opened, by whom, why and for how long
    api: Api, settings: EnvironmentSettings, *, zone: str | None, binding: str | None, why: str, hours: float = HOURS
) -> list[str]:
    """Open a zone's bindings, or one binding by its name; give a line for each."""
    names = _names(settings, zone, binding)
    if not why.strip():
        message = "say why: WHY='…'"
        raise OpeningError(message)
    for name in names:
        if name in ALWAYS_ENFORCED:
            message = f"binding {name} is never opened: through it a tenant could have its own code executed"
            raise OpeningError(message)
    until = (datetime.now(UTC) + timedelta(hours=hours)).isoformat(timespec="seconds")
    how = Opening(_who(api), why.strip(), until)
    for name, body in names.items():
        _apply(api, name, opened(body, how))
    return [f"{name}: {how}" for name in names]


def close(api: Api, settings: EnvironmentSettings, *, zone: str | None, binding: str | None) -> list[str]:
    """Set them back to the environment's mode, and wait until they are in force."""
    names = _names(settings, zone, binding)
    for name, body in names.items():
        _apply(api, name, body)
    _compare(api, settings, names)
    canaries = zone_canaries(settings, zone) if zone else _one(settings, *names)
    seconds = wait(api, canaries)
    return [f"{name}: closed, in force after {seconds:.1f} s" for name in names]


def _compare(api: Api, settings: EnvironmentSettings, names: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise OpeningError where a binding or its policy is not as the environment says: few answers prove little."""
    policies = of_kind(guard_objects(settings), POLICY)
    bound = {str(body["spec"]["policyName"]) for body in names.values()}
    problems = []
    for body in (*names.values(), *(policies[name].body for name in sorted(bound))):
        name, kind = body["metadata"]["name"], body["kind"]
        found = api.read(f"{collection(ADMISSION, kind)}/{name}")
        if found is None:
            problems.append(f"{kind} {name} is not in the cluster: run `pulumi up`")
        elif plain(found["spec"]) != plain(body["spec"]):
            problems.append(
                f"{kind} {name} is not as the environment says ({differing(body['spec'], found['spec'])}): if the file "
                f"was changed since, run `pulumi up`; if the object was, `kubectl delete {kind.lower()} {name}` first"
            )
    if problems:
        message = "\n".join(["the bindings are written, but what they bind is not whole:", *problems])
        raise OpeningError(message)


def _one(settings: EnvironmentSettings, binding: str) -> list[Canary]:
    """Give the canaries of one binding."""
    zoned = [canary for zone in sorted(settings.environment.zones) for canary in zone_canaries(settings, zone)]
    return [*policy_canaries(settings, [binding]), *(canary for canary in zoned if canary.binding == binding)]


def _names(settings: EnvironmentSettings, zone: str | None, binding: str | None) -> dict[str, dict[str, Any]]:
    """Give the rendered bindings by name; raises OpeningError for a zone or binding that the environment lacks."""
    known = of_kind(guard_objects(settings), BINDING)
    if zone is not None:
        if zone not in settings.environment.zones:
            message = (
                f"no zone `{zone}` in {settings.stack}; its zones: {', '.join(sorted(settings.environment.zones))}"
            )
            raise OpeningError(message)
        chosen = zone_bindings(zone)
    elif binding in known:
        chosen = [binding]
    else:
        message = f"say ZONE=…, or BINDING=… of {', '.join(sorted(known))}"
        raise OpeningError(message)
    return {name: known[name].body for name in chosen}


def _apply(api: Api, name: str, body: Mapping[str, Any]) -> None:
    """Write a binding under the field manager that wrote it before, so that the next `up` finds its own fields.

    `validationActions` is a set whose items belong to managers one by one: under another name the old action would
    stay beside the new one, or come back with the next `up`.
    """
    path = f"{collection(ADMISSION, BINDING)}/{name}"
    live = api.read(path)
    if live is None:
        message = f"binding {name} is not in the cluster: nothing is enforced by it; run `pulumi up`"
        raise OpeningError(message)
    managers, others = owners(live)
    if others:
        # Take the spec from whoever wrote in it by hand, or the API server would keep theirs beside the program's.
        kept = [each for each in live["metadata"]["managedFields"] if each["manager"] in managers]
        for change in ({"spec": _correction(plain(live["spec"]), body["spec"])}, {}):
            sent = {**change, "metadata": {"managedFields": kept or [{}]}}
            _send(api, path, sent, {"fieldManager": BY_HAND}, "application/merge-patch+json")
    query = {"fieldManager": managers[0] if managers else BY_HAND, "force": "true"}
    _send(api, path, body, query, "application/apply-patch+yaml")


def owners(binding: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Give the field managers that apply a live binding, the program's first, and those that wrote in it by hand.

    Where the program has not applied it, whoever did stands in for it.
    """
    fields = binding["metadata"].get("managedFields") or []
    strangers = foreign_fields(binding)
    applied = [each["manager"] for each in fields if each.get("operation") == "Apply"]
    own = [name for name in applied if name not in strangers] or applied
    return own, [name for name in strangers if name not in own]


def _correction(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Give the merge patch that makes one object of the other: what is too much is null."""
    surplus = {key: None for key in found if key not in wanted}
    return surplus | {
        key: _correction(found.get(key) or {}, value) if isinstance(value, dict) else value
        for key, value in wanted.items()
    }


def _send(api: Api, path: str, body: Mapping[str, Any], query: Mapping[str, str], content_type: str) -> None:
    answer = api.request("PATCH", path, body, query=query, content_type=content_type)
    if answer.status not in (OK, CREATED):
        message = f"{path}: HTTP {answer.status}: {answer.message}"
        raise OpeningError(message)


def _who(api: Api) -> str:
    """Ask the API server who this is."""
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    answer = api.request("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", review)
    if answer.status != CREATED:
        return "unknown"
    return str(answer.body.get("status", {}).get("userInfo", {}).get("username", "unknown"))
