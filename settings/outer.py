"""What stands in a stack file around its settings: which keys, which kind, and how credentials are kept."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from settings.places import CREDENTIALS_KEY, ENVIRONMENT_KEY, TENANT_KEY, UNREAD, choose
from settings.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

BESIDE_CONFIG = ("encryptionsalt", "encryptedkey", "secretsprovider")
_STACK = re.compile(r"([a-z][a-z0-9]{0,29})(?:-([a-z][a-z0-9]{0,29}))?")


@dataclass(frozen=True)
class Identity:
    """What a stack's name says: an environment's stack, or a tenant's in an environment."""

    stack: str
    environment: str
    tenant: str | None

    @property
    def kind(self) -> Literal["environment", "tenant"]:
        """Which of the two it is; nothing inside the file can change it."""
        return "environment" if self.tenant is None else "tenant"

    @property
    def key(self) -> str:
        """The key under `config` that holds the settings of such a stack."""
        return ENVIRONMENT_KEY if self.tenant is None else TENANT_KEY


def identity(stack: str) -> Identity | Problem:
    """Read a stack's name."""
    match = _STACK.fullmatch(stack)
    if match:
        return Identity(stack, match[1], match[2])
    why = "the stack's name alone says what it is: an environment, or a tenant of one"
    fix = "name it <environment> or <environment>-<tenant>, each of lower-case letters and digits (30 at most)"
    return Problem("BAD_STACK_NAME", "stack", stack, why, fix)


def check(file: Mapping[str, Any], who: Identity) -> Iterator[Problem]:
    """Check every key of a stack file outside its settings. No value is ever shown: it may be a secret."""
    for key in file:
        if key != "config" and key not in BESIDE_CONFIG:
            why = (
                "beside `config:` stand only the lines in which the engine keeps how the stack's secrets are encrypted"
            )
            yield Problem("UNKNOWN_KEY", str(key), None, why, choose(key, ("config", *BESIDE_CONFIG)))
    config = file.get("config")
    if config is None or config is UNREAD:
        return
    if not isinstance(config, dict):
        yield Problem("NOT_A_MAP", "config", None, "`config:` holds a map of keys", f"write {who.key} below it")
        return
    for key, value in config.items():
        if key == CREDENTIALS_KEY:
            yield from _credentials(value, who)
        elif key != who.key:
            yield _unknown(key, who)


def _unknown(key: str, who: Identity) -> Problem:
    if key in (ENVIRONMENT_KEY, TENANT_KEY):
        why = f"the name {who.stack} says that this is {'an' if who.tenant is None else 'a'} {who.kind}'s stack"
        return Problem("WRONG_KIND", key, None, why, f"leave it out; this file holds {who.key}")
    if key.startswith("pulumi:"):
        why = "settings of the engine are the program's (Pulumi.yaml), not one stack's"
        return Problem("UNKNOWN_KEY", key, None, why, "leave it out")
    why = f"{'an' if who.tenant is None else 'a'} {who.kind}'s stack file holds no such key, so nothing would read it"
    return Problem("UNKNOWN_KEY", key, None, why, choose(key, (who.key, CREDENTIALS_KEY)))


def _credentials(value: Any, who: Identity) -> Iterator[Problem]:
    if value is UNREAD:
        return  # what is wrong with it has been told
    if isinstance(value, dict) and set(value) == {"secure"} and isinstance(value["secure"], str):
        return
    why = "credentials stand in the file in the clear; treat them as known to everybody who can read it"
    fix = f"take them out, make new ones, and: pulumi config set --secret {CREDENTIALS_KEY} --stack {who.stack}"
    yield Problem("CREDENTIALS_IN_CLEAR", CREDENTIALS_KEY, None, why, fix)
