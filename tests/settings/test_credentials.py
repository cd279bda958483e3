"""`hybrid:credentials`: each refusal beside the twin that passes, and no message with a value in it."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest

from settings.credentials import HIDDEN, check_credentials, parse_credentials
from settings.environment import Environment
from settings.problems import SettingsError
from tests.settings.files import GONE, edit, settings_of

if TYPE_CHECKING:
    from collections.abc import Callable

UUID = "11111111-2222-4333-8444-555555555555"
LAB = f"root@pam!hybrid={UUID}"
ACME, GLOBEX = "A1" * 32, "B2" * 32

GOOD: dict[str, Any] = {
    "lab": {"token": LAB},
    "dc": {"token": f"hybrid@pve!dc={UUID}"},
    "fsn1": {"acme": ACME, "globex": GLOBEX},
    "hel1": {"acme": ACME},
}


def _environment() -> Environment:
    """Give the lab with a second tenant in Hetzner Cloud, a second place there, and one that nobody uses."""
    raw = settings_of("lab")
    clouds = raw["locations"]
    clouds["fsn1"]["tenants"]["globex"] = {"cidr": "10.101.0.0/16", "subnet": "10.101.1.0/24"}
    tenants = {"acme": {"cidr": "10.102.0.0/16", "subnet": "10.102.1.0/24"}}
    clouds["hel1"] = {**clouds["fsn1"], "region": "hel1", "tenants": tenants}
    clouds["ash"] = {**clouds["fsn1"], "region": "ash", "tenants": {}}
    return Environment.model_validate(raw)


def _found(change: Callable[[dict[str, Any]], Any]) -> list[tuple[str, str]]:
    given = copy.deepcopy(GOOD)
    change(given)
    problems = check_credentials(_environment(), given)
    _hides(problems, given)
    return [(problem.code, problem.path) for problem in problems]


def _hides(problems: list[Any], given: Any) -> None:
    """Check that nothing of the values is said, in text or in JSON."""
    said = str(SettingsError("lab", problems)) + json.dumps([problem.as_json() for problem in problems])
    for value in _values(given):
        if len(value) > 3:
            assert value not in said
    assert UUID not in said
    assert {problem.value for problem in problems} <= {HIDDEN}


def _values(given: Any) -> list[str]:
    if isinstance(given, dict):
        return [text for item in given.values() for text in _values(item)]
    if isinstance(given, list):
        return [text for item in given for text in _values(item)]
    return [str(given)]


def test_credentials_of_every_location_and_tenant_pass() -> None:
    assert check_credentials(_environment(), GOOD) == []


def test_one_tenants_token_may_serve_several_hetzner_locations_since_a_project_spans_them() -> None:
    assert GOOD["hel1"]["acme"] == GOOD["fsn1"]["acme"]
    assert check_credentials(_environment(), GOOD) == []


def test_a_location_that_no_tenant_uses_may_have_none() -> None:
    assert "ash" not in GOOD
    assert _found(lambda given: given.update(ash={})) == []


MISSING, UNKNOWN, SHAPE = "MISSING_CREDENTIALS", "UNKNOWN_KEY", "NOT_A_TOKEN"

CASES: list[tuple[str, str, str, Any]] = [
    (MISSING, "a Proxmox location without", "lab", GONE),
    (MISSING, "a Hetzner location without", "fsn1", GONE),
    (MISSING, "a location with a bare token", "lab", LAB),
    (MISSING, "a location with a list", "lab", [LAB]),
    (MISSING, "a location without its token", "dc.token", GONE),
    (MISSING, "a null token", "dc.token", None),
    (MISSING, "a tenant without", "fsn1.globex", GONE),
    (UNKNOWN, "an unknown location", "other", {"token": LAB}),
    (UNKNOWN, "an unknown key", "lab.password", "hunter22"),
    (UNKNOWN, "a tenant at a Proxmox location", "lab.acme", LAB),
    (UNKNOWN, "a tenant who is not there", "hel1.globex", GLOBEX),
    (UNKNOWN, "a tenant where nobody is", "ash.acme", ACME),
    ("SHARED_TOKEN", "two tenants with one token", "fsn1.globex", ACME),
    (SHAPE, "a token without its id", "lab.token", f"root@pam={UUID}"),
    (SHAPE, "a token without its realm", "lab.token", f"root!hybrid={UUID}"),
    (SHAPE, "a token without its secret", "lab.token", "root@pam!hybrid"),
    (SHAPE, "a token with half a secret", "lab.token", LAB[:-1]),
    (SHAPE, "a token with the header's word", "lab.token", f"PVEAPIToken={LAB}"),
    (SHAPE, "a token with a line break", "lab.token", f"{LAB}\n"),
    (SHAPE, "an empty token", "lab.token", ""),
    (SHAPE, "a number as a token", "lab.token", 123456),
    (SHAPE, "a Hetzner token that is too short", "fsn1.acme", "a" * 63),
    (SHAPE, "a Hetzner token that is too long", "fsn1.acme", "a" * 65),
    (SHAPE, "a Hetzner token with other signs", "fsn1.acme", "a-" * 32),
    (SHAPE, "a Proxmox token at Hetzner", "fsn1.acme", LAB),
]


@pytest.mark.parametrize(
    ("code", "place", "value"), [(case[0], *case[2:]) for case in CASES], ids=[c[1] for c in CASES]
)
def test_is_refused(code: str, place: str, value: Any) -> None:
    assert _found(lambda given: edit(given, place, value)) == [(code, f"credentials.{place}")]


def test_the_same_token_is_refused_across_locations_too() -> None:
    assert _found(lambda given: given["fsn1"].update(acme="C3" * 32, globex=ACME)) == [
        ("SHARED_TOKEN", "credentials.hel1.acme")
    ]


def test_everything_is_said_at_once() -> None:
    def all_wrong(given: dict[str, Any]) -> None:
        given.clear()
        given.update(lab={"token": "no"}, fsn1={"acme": ACME, "globex": ACME}, other={})

    assert sorted(_found(all_wrong)) == [
        ("MISSING_CREDENTIALS", "credentials.dc"),
        ("MISSING_CREDENTIALS", "credentials.hel1"),
        ("NOT_A_TOKEN", "credentials.lab.token"),
        ("SHARED_TOKEN", "credentials.fsn1.globex"),
        ("UNKNOWN_KEY", "credentials.other"),
    ]


@pytest.mark.parametrize("token", [LAB, ACME, UUID])
def test_a_token_that_stands_where_a_key_belongs_is_not_shown(token: str) -> None:
    for path, change in (
        (f"credentials.{HIDDEN}", {token: {}}),
        (f"credentials.lab.{HIDDEN}", {"lab": {"token": LAB, token: "x"}}),
    ):
        problems = check_credentials(_environment(), {**GOOD, **change})
        assert [(problem.code, problem.path) for problem in problems] == [("UNKNOWN_KEY", path)]
        assert token not in str(SettingsError("lab", problems))


@pytest.mark.parametrize("given", [None, [], [LAB], LAB, 7, True])
def test_what_is_no_map_is_refused(given: Any) -> None:
    problems = check_credentials(_environment(), given)
    _hides(problems, given)
    assert [(problem.code, problem.path) for problem in problems] == [("NOT_A_MAP", "credentials")]


def test_no_text_is_no_credentials() -> None:
    assert parse_credentials(None) == {}


def test_text_that_is_no_json_is_refused_without_being_shown() -> None:
    for text in (LAB, "", "{", f"lab: {{token: {LAB}}}"):
        assert parse_credentials(text) is None


def test_json_text_is_read() -> None:
    assert parse_credentials(json.dumps(GOOD)) == GOOD
