"""The simulated API of one Proxmox VE endpoint: every call is made with the provider's token."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab.clouds import faults
from lab.clouds.errors import CloudError, LostAnswerError
from lab.clouds.proxmox.rights import privileges
from lab.clouds.proxmox.token import ApiToken
from lab.clouds.state import edit, look


class Session:
    """One call: the endpoint's state and who asks."""

    def __init__(self, state: dict[str, Any], identity: str) -> None:
        """Take the state and the caller, a token's or a user's id."""
        self.state = state
        self.identity = identity

    def has(self, path: str, *any_of: str) -> bool:
        """Tell whether the caller has one of the privileges on the path."""
        return not privileges(self.state, self.identity, path).isdisjoint(any_of)

    def require(self, path: str, *any_of: str) -> None:
        """Refuse as the API does unless the caller has one of the privileges on the path."""
        if not self.has(path, *any_of):
            message = f"403 Permission check failed ({path}, {'|'.join(any_of)})"
            raise CloudError(message)

    def node(self, name: str) -> None:
        """Refuse a node that the cluster does not have."""
        if name not in self.state["nodes"]:
            message = f"500 hostname lookup '{name}' failed - failed to get address info: Name or service not known"
            raise CloudError(message)

    def storage(self, name: str, content: str) -> None:
        """Refuse a storage that is not there or may not hold such content."""
        storage = self.state["storages"].get(name)
        if storage is None:
            message = f"500 storage '{name}' does not exist"
            raise CloudError(message)
        if content not in storage["content"]:
            message = f"500 storage '{name}' does not support content-type '{content}'"
            raise CloudError(message)

    def machine(self, vm_id: int | str) -> dict[str, Any]:
        """Return a machine of the cluster."""
        machine: dict[str, Any] | None = self.state["machines"].get(str(vm_id))
        if machine is None:
            message = f"500 Configuration file 'qemu-server/{vm_id}.conf' does not exist"
            raise CloudError(message)
        return machine


class ProxmoxApi:
    """The API of one endpoint, as one token (or one user with a password) sees it."""

    def __init__(
        self, folder: Path, endpoint: str, token: ApiToken | None, password: tuple[str, str] | None = None
    ) -> None:
        """Take the state folder, the endpoint's URL, and a token or else a user's name and password."""
        self.folder = folder
        self.endpoint = endpoint
        self._token = token
        self._password = password

    @contextmanager
    def call(self, name: str, *others: str) -> Iterator[Session]:
        """Make one call. What it changes is kept when it ends well, or when only its answer is lost (`faults`).

        With `others` it stands for several calls in a row, each of which may be told to fail.
        """
        ordered = [faults.take(self.folder, self.endpoint, each) for each in (name, *others)]
        fault = "error" if "error" in ordered else next(filter(None, ordered), None)
        if fault == "error":
            message = f"received an HTTP 500 response - Reason: the lab was told to fail this call ({name})"
            raise CloudError(message)
        with (look if name == "read" else edit)(self.folder, self.endpoint) as state:
            yield Session(state, self._authenticate(state))
        if fault == "lost_answer":
            message = f'failed to perform HTTP request ({name}): "{self.endpoint}": EOF'
            raise LostAnswerError(message)

    def _authenticate(self, state: dict[str, Any]) -> str:
        if not state:
            message = (
                f"failed to perform HTTP request: {self.endpoint}: connection refused (the lab has no such endpoint)"
            )
            raise CloudError(message)
        if self._token is not None:
            known = state["tokens"].get(self._token.identity)
            if known is None or known["secret"] != self._token.secret:
                message = f"received an HTTP 401 response - Reason: invalid token value! ({self._token.identity})"
                raise CloudError(message)
            if not state["users"].get(self._token.user, {}).get("enabled", False):
                message = f"received an HTTP 401 response - Reason: user '{self._token.user}' is disabled or gone"
                raise CloudError(message)
            return self._token.identity
        user, password = self._password or ("", "")
        known = state["users"].get(user, {})
        if not password or known.get("password") != password:
            message = "received an HTTP 401 response - Reason: authentication failure"
            raise CloudError(message)
        return user
