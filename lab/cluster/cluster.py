"""What a program needs to talk to the lab's API server."""

from __future__ import annotations

import base64
import json
import ssl
import urllib.error
import urllib.request
from dataclasses import dataclass
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class Cluster:
    """A running API server: `https://127.0.0.1:PORT`, the PEM of its CA, and a token of group `system:masters`."""

    server: str
    ca: bytes
    admin_token: str

    @property
    def port(self) -> int:
        """The API server's port on loopback."""
        return int(self.server.rsplit(":", 1)[1])

    def kubeconfig(self, context: str, token: str | None = None) -> dict[str, Any]:
        """Return a kubeconfig with one context of that name, for the admin or for the holder of `token`."""
        authority = base64.b64encode(self.ca).decode()
        cluster = {"server": self.server, "certificate-authority-data": authority}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": context, "cluster": cluster}],
            "users": [{"name": context, "user": {"token": token or self.admin_token}}],
            "contexts": [{"name": context, "context": {"cluster": context, "user": context}}],
            "current-context": context,
        }

    def request(  # noqa: PLR0913 - the parts of one HTTP request
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        *,
        content_type: str = "application/json",
        token: str | None = None,
        as_user: str | None = None,
        timeout: float = 30.0,
    ) -> tuple[int, Any]:
        """Send one request; return the HTTP status and the decoded answer (text where it is not JSON).

        `path` starts with `/` and may carry a query; `as_user` is a user as whom the admin acts. A refusal (4xx, 5xx)
        is an answer, not an exception; `OSError` is raised if the server can not be reached.
        """
        message = urllib.request.Request(  # noqa: S310 - the lab's own https address
            self.server + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {token or self.admin_token}", "Content-Type": content_type},
        )
        if as_user:
            message.add_header("Impersonate-User", as_user)
        try:
            with self._opener.open(message, timeout=timeout) as answer:
                return answer.status, _decode(answer.read())
        except urllib.error.HTTPError as refusal:
            with refusal:
                return refusal.code, _decode(refusal.read())

    @cached_property
    def _opener(self) -> urllib.request.OpenerDirector:
        context = ssl.create_default_context(cadata=self.ca.decode())
        no_proxy = urllib.request.ProxyHandler({})  # it is loopback, whatever the environment says
        return urllib.request.build_opener(no_proxy, urllib.request.HTTPSHandler(context=context))


def _decode(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return content.decode(errors="replace")
