"""`hybrid:credentials`, decrypted: which tokens an environment needs, and what is wrong with those it has.

No problem reported here carries a value.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from settings.environment import Environment, HcloudLocation
from settings.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HIDDEN = "(not shown)"
PROXMOX_TOKEN = re.compile(r"[^@\s!=]+@[^@\s!=]+![^@\s!=]+=[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
HCLOUD_TOKEN = re.compile(r"[A-Za-z0-9]{64}")
HOW = "pulumi config set --secret hybrid:credentials '<JSON>', see docs/credentials.md for its shape"


def check_credentials(environment: Environment, credentials: Mapping[str, Any]) -> list[Problem]:
    """Report tokens that are missing, of no shape that the provider takes, unknown, or shared by two tenants."""
    return list(_problems(environment, credentials))


def _problems(environment: Environment, credentials: Mapping[str, Any]) -> Iterator[Problem]:
    for name in sorted(credentials.keys() - environment.locations.keys()):
        yield Problem("UNKNOWN_KEY", f"credentials.{name}", HIDDEN, "no location has this name", HOW)
    seen: dict[str, str] = {}
    for name, location in sorted(environment.locations.items()):
        given = credentials.get(name)
        if not isinstance(given, dict):
            yield Problem("MISSING_CREDENTIALS", f"credentials.{name}", HIDDEN, "the location has no credentials", HOW)
            continue
        hcloud = isinstance(location, HcloudLocation)
        wanted = sorted(location.tenants) if hcloud else ["token"]
        shape = HCLOUD_TOKEN if hcloud else PROXMOX_TOKEN
        for key in sorted(given.keys() - set(wanted)):
            yield Problem("UNKNOWN_KEY", f"credentials.{name}.{key}", HIDDEN, f"expected: {', '.join(wanted)}", HOW)
        for key in wanted:
            path = f"credentials.{name}.{key}"
            token = given.get(key)
            if not isinstance(token, str) or not shape.fullmatch(token):
                why = "a Hetzner Cloud token has 64 letters and digits" if hcloud else "a token is user@realm!id=uuid"
                code = "MISSING_CREDENTIALS" if token is None else "NOT_A_TOKEN"
                yield Problem(code, path, HIDDEN, why if token is not None else f"no token here; {why}", HOW)
            elif hcloud and token in seen:
                why = f"the same token as {seen[token]}: a Hetzner token has no scopes, so both would share one project"
                yield Problem("SHARED_TOKEN", path, HIDDEN, why, "make a project and a token for each tenant")
            elif hcloud:
                seen[token] = path
