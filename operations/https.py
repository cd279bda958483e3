"""Reads of an infrastructure's own API over HTTPS: the certificate is verified, nothing is followed, nothing kept."""

from __future__ import annotations

import json
import ssl
from typing import TYPE_CHECKING, Any

import urllib3

if TYPE_CHECKING:
    from collections.abc import Mapping

SECONDS = 10.0
"""How long a connection, and then its answer, may take."""

AT_ONCE = 8
"""Questions to one server that may be open at a time."""

_OK, _UNAUTHORIZED = 200, 401


class UnansweredError(RuntimeError):
    """An API gave no answer to a question; the message says why, and holds nothing of the token."""


class RefusedError(UnansweredError):
    """An API does not know the token, or not any more."""


class Server:
    """One server; `ca` is the PEM of a private CA, which is then the only one that is trusted."""

    def __init__(self, url: str, ca: str | None = None) -> None:
        """Take the URL below which the paths are; nothing is asked yet."""
        self._url = url.rstrip("/")
        self._ca = ca
        self._pool: urllib3.PoolManager | None = None

    def get(self, path: str, headers: Mapping[str, str], query: Mapping[str, str] | None = None) -> Any:
        """Give the decoded JSON of an answer; any other answer, and none at all, is UnansweredError."""
        try:
            answer = self._connections().request(
                "GET", self._url + path, fields=query or None, headers=headers, redirect=False
            )
        except urllib3.exceptions.HTTPError as error:
            raise UnansweredError(_reason(error)) from None
        except ValueError:  # whose text is the header, and so the token
            message = "the question can not be sent: there are characters in the token that no token has"
            raise UnansweredError(message) from None
        if answer.status != _OK:
            message = f"HTTP {answer.status}"
            raise (RefusedError if answer.status == _UNAUTHORIZED else UnansweredError)(message)
        try:
            return json.loads(answer.data)
        except ValueError:
            message = "the answer is no JSON"
            raise UnansweredError(message) from None

    def _connections(self) -> urllib3.PoolManager:
        if self._pool is None:
            try:
                context = ssl.create_default_context(cadata=self._ca)
            except (ssl.SSLError, ValueError):
                message = "the location's `ca` is no certificate"
                raise UnansweredError(message) from None
            if self._ca is not None:
                # Python 3.13 and later also ask for extensions that Proxmox VE's own authority does not have.
                context.verify_flags &= ~ssl.VERIFY_X509_STRICT
            timeout = urllib3.Timeout(connect=SECONDS, read=SECONDS)
            self._pool = urllib3.PoolManager(ssl_context=context, retries=False, timeout=timeout, maxsize=AT_ONCE)
        return self._pool


class Servers:
    """Where servers are found: where their endpoints say."""

    def at(self, endpoint: str, ca: str | None = None) -> Server:
        """Give the server of an endpoint (`https://host:port`)."""
        return Server(endpoint, ca)


def _reason(error: urllib3.exceptions.HTTPError) -> str:
    if isinstance(error, urllib3.exceptions.SSLError):
        cause = error.args[0] if error.args else None
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"its certificate is refused: {cause.verify_message}"
        return "no TLS connection"
    unreached = isinstance(error, urllib3.exceptions.NewConnectionError)  # which is a kind of TimeoutError
    if isinstance(error, urllib3.exceptions.TimeoutError) and not unreached:
        return f"no answer within {SECONDS:g} seconds"
    return f"it can not be reached ({type(error).__name__})"
