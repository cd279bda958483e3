"""The simulated Hetzner Cloud API: every call is made with one project's token and sees only that project."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab.clouds import faults
from lab.clouds.errors import CloudError, LostAnswerError
from lab.clouds.schema import Failure
from lab.clouds.state import HCLOUD, edit, look
from lab.clouds.values import UNKNOWN

_LABEL_KEY = re.compile(r"^([a-z0-9.-]{1,253}/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$")
_LABEL_VALUE = re.compile(r"^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$")


class Session:
    """One call: the whole state, and the caller's project."""

    def __init__(self, state: dict[str, Any], project: dict[str, Any]) -> None:
        """Take the whole state and the caller's part of it."""
        self.state = state
        self.project = project

    def new_id(self) -> str:
        """Return an id that nothing in the cloud has had."""
        number: int = self.state["next_id"]
        self.state["next_id"] = number + 1
        return str(number)

    def get(self, kind: str, identity: Any, what: str) -> dict[str, Any]:
        """Return one thing of the project, by id."""
        found: dict[str, Any] | None = self.project[kind].get(str(identity))
        if found is None:
            message = f"{what} with ID '{identity}' not found (not_found)"
            raise CloudError(message)
        return found

    def free_name(self, kind: str, name: str, what: str, besides: str = "") -> None:
        """Refuse a name that the project has already for something of the kind."""
        for identity, entry in self.project[kind].items():
            if entry["name"] == name and identity != besides:
                message = f"{what} name is already used (uniqueness_error)"
                raise CloudError(message)


class HetznerApi:
    """The API as one token sees it."""

    def __init__(self, folder: Path, token: str, endpoint: str) -> None:
        """Take the state folder, the project's token and an endpoint other than Hetzner's (else empty)."""
        self.folder = folder
        self.endpoint = endpoint
        self._token = token

    @contextmanager
    def call(self, name: str) -> Iterator[Session]:
        """Make one call. What it changes is kept when it ends well, or when only its answer is lost (`faults`)."""
        fault = faults.take(self.folder, HCLOUD, name)
        if fault == "error":
            message = f"the lab was told to fail this call ({name}) (server_error)"
            raise CloudError(message)
        with (look if name.startswith("get_") else edit)(self.folder, HCLOUD) as state:
            if not state or self.endpoint:
                place = self.endpoint or "Hetzner Cloud"
                message = f"{place}: connect: connection refused (no such endpoint in the lab)"
                raise CloudError(message)
            yield Session(state, self._project(state))
        if fault == "lost_answer":
            message = f"hcloud: {name}: EOF"
            raise LostAnswerError(message)

    def _project(self, state: Mapping[str, Any]) -> dict[str, Any]:
        for project in state["projects"].values():
            if project["token"] == self._token:
                found: dict[str, Any] = project
                return found
        message = "the API token is invalid or has been revoked: 401 unauthorized (unauthorized)"
        raise CloudError(message)


def check_labels(labels: Any) -> Iterator[Failure]:
    """Refuse labels that the plugin refuses, at preview already."""
    if not isinstance(labels, Mapping):
        return
    for key, value in labels.items():
        if not _LABEL_KEY.match(key):
            yield Failure(f"labels.{key}", f"label key '{key}' is not correctly formatted")
        if value is not UNKNOWN and not _LABEL_VALUE.match(str(value)):
            yield Failure(f"labels.{key}", f"label value '{value}' (key: {key}) is not correctly formatted")


def selected(labels: Mapping[str, str], selector: str) -> bool:
    """Tell whether labels match a selector such as `os=talos,version!=v1,role`."""
    for part in filter(None, (each.strip() for each in selector.split(","))):
        if "!=" in part:
            key, _, value = part.partition("!=")
            matches = labels.get(key.strip()) != value.strip()
        elif "=" in part:
            key, _, value = part.replace("==", "=").partition("=")
            matches = labels.get(key.strip()) == value.strip()
        elif part.startswith("!"):
            matches = part[1:].strip() not in labels
        else:
            matches = part in labels
        if not matches:
            return False
    return True
