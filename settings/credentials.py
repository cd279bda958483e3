"""`hybrid:credentials`, decrypted: which tokens an environment needs, and what is wrong with those it has.

No problem reported here carries a value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from settings.environment import Environment, HcloudLocation
from settings.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

HIDDEN = "(not shown)"
PROXMOX_TOKEN = re.compile(r"[^@\s!=]+@[^@\s!=]+![^@\s!=]+=[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
HCLOUD_TOKEN = re.compile(r"[A-Za-z0-9]{64}")
HOW = "pulumi config set --secret hybrid:credentials < FILE, see docs/credentials.md for its shape"


_NAME = re.compile(r"[a-z][a-z0-9-]{0,29}")
"""What a key must look like to be shown: a token that somebody wrote as a key does not."""


def parse_credentials(text: str | None) -> Any:
    """Read the decrypted text: `{}` for none, None for what is no JSON (the SDK's reader would show it all)."""
    try:
        return json.loads(text) if text is not None else {}
    except ValueError:
        return None


def check_credentials(environment: Environment, credentials: Any) -> list[Problem]:
    """Report tokens that are missing, of no shape that the provider takes, unknown, or shared by two tenants."""
    if not isinstance(credentials, Mapping):
        return [Problem("NOT_A_MAP", "credentials", HIDDEN, "credentials are a map of locations, as JSON", HOW)]
    return list(_problems(environment, credentials))


def _problems(environment: Environment, credentials: Mapping[str, Any]) -> Iterator[Problem]:
    for name in sorted(credentials.keys() - environment.locations.keys()):
        yield Problem("UNKNOWN_KEY", f"credentials.{_shown(name)}", HIDDEN, "no location has this name", HOW)
    seen: dict[str, tuple[str, str]] = {}
    for name, location in sorted(environment.locations.items()):
        hcloud = isinstance(location, HcloudLocation)
        wanted = sorted(location.tenants) if hcloud else ["token"]
        given = credentials.get(name, {} if not wanted else None)
        if not isinstance(given, dict):
            yield Problem("MISSING_CREDENTIALS", f"credentials.{name}", HIDDEN, "the location has no credentials", HOW)
            continue
        shape = HCLOUD_TOKEN if hcloud else PROXMOX_TOKEN
        for key in sorted(given.keys() - set(wanted)):
            yield Problem(
                "UNKNOWN_KEY", f"credentials.{name}.{_shown(key)}", HIDDEN, f"expected: {', '.join(wanted)}", HOW
            )
        for key in wanted:
            path = f"credentials.{name}.{key}"
            token = given.get(key)
            if not isinstance(token, str) or not shape.fullmatch(token):
                why = "a Hetzner Cloud token has 64 letters and digits" if hcloud else "a token is user@realm!id=uuid"
                code = "MISSING_CREDENTIALS" if token is None else "NOT_A_TOKEN"
                yield Problem(code, path, HIDDEN, why if token is not None else f"no token here; {why}", HOW)
            elif hcloud and seen.setdefault(token, (key, path))[0] != key:
                why = f"the same token as {seen[token][1]}: it has no scopes, so both tenants would share one project"
                yield Problem("SHARED_TOKEN", path, HIDDEN, why, "make a project and a token for each tenant")


def _shown(key: str) -> str:
    return key if _NAME.fullmatch(key) else HIDDEN
