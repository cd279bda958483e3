"""The management cluster's API, as an administrator reaches it: plain paths, plain dicts, and the server's warnings."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from manifests.generations import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

SECONDS = 20.0
"""How long one request may take."""

METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
"""How a list is asked for without the objects' contents."""

PAGE = 500
"""Objects of one page of a list."""

OK, CREATED, FORBIDDEN, NOT_FOUND, CONFLICT, INVALID = 200, 201, 403, 404, 409, 422

_PLURALS = {
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
    "CustomResourceDefinition": "customresourcedefinitions",
}
# RFC 7234: 299 - "text", with quotes and backslashes in the text escaped.
_WARNING = re.compile(r'299 \S+ "((?:[^"\\]|\\.)*)"')


class UnreadableError(RuntimeError):
    """Something in the cluster could not be read; the message names what, and holds nothing that was read."""


@dataclass(frozen=True)
class Answer:
    """An HTTP status, the decoded body (text where it is not JSON), and the server's warnings."""

    status: int
    body: Any
    warnings: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """Give what the server says about a refusal."""
        return str(self.body.get("message", "")) if isinstance(self.body, dict) else str(self.body)


class Api:
    """One context of a kubeconfig."""

    def __init__(self, context: str, kubeconfig: Path | None = None) -> None:
        """Read the kubeconfig (`KUBECONFIG`'s without one); raises UnreadableError where it has no such context."""
        from kubernetes import config  # noqa: PLC0415 - a third of a second that a tenant's run need not wait

        try:
            self._client = config.new_client_from_config(  # type: ignore[no-untyped-call]  # the client ships without types
                str(kubeconfig) if kubeconfig else None, context
            )
        except (config.ConfigException, OSError) as error:
            message = f"kubeconfig: no usable context `{context}` ({type(error).__name__})"
            raise UnreadableError(message) from None

    def request(  # noqa: PLR0913 - the parts of one HTTP request
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        query: Mapping[str, Any] | None = None,
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send one request. A refusal (4xx, 5xx) is an answer; a server that can't be reached is UnreadableError."""
        from kubernetes import client  # noqa: PLC0415 - as above
        from urllib3.exceptions import HTTPError  # noqa: PLC0415 - as above

        sent = {"Accept": "application/json", "Content-Type": content_type, **(headers or {})}
        serialized = self._client.param_serialize(
            method, path, query_params=list((query or {}).items()), header_params=sent, auth_settings=["BearerToken"]
        )
        _, url, header_params, _, _ = serialized
        try:
            found = self._client.call_api(method, url, header_params, body, _request_timeout=SECONDS)
            data = found.read()
        except client.ApiException as error:
            message = f"{method} {path}: {error.reason}"
            raise UnreadableError(message) from None
        except (HTTPError, OSError) as error:
            message = f"{method} {path}: the API server can not be reached ({type(error).__name__})"
            raise UnreadableError(message) from None
        warnings = found.response.headers.getlist("Warning")
        return Answer(found.status, _decoded(data), tuple(_texts(warnings)))

    def read(self, path: str) -> dict[str, Any] | None:
        """Give an object, None where it is not there; raises UnreadableError for any other answer."""
        answer = self.request("GET", path)
        if answer.status == NOT_FOUND:
            return None
        if answer.status != OK:
            message = f"{path}: HTTP {answer.status}"
            raise UnreadableError(message)
        found: dict[str, Any] = answer.body
        return found

    def items(self, path: str, *, fields: str = "", metadata_only: bool = False) -> list[dict[str, Any]] | None:
        """Give all objects of a list, page by page; None where the kind itself is not there.

        `fields` is a field selector. With `metadata_only` the server leaves everything else of the objects out.
        """
        found: list[dict[str, Any]] = []
        query: dict[str, Any] = {"limit": PAGE, **({"fieldSelector": fields} if fields else {})}
        headers = {"Accept": METADATA} if metadata_only else None
        while True:
            answer = self.request("GET", path, query=query, headers=headers)
            if answer.status == NOT_FOUND:
                return None
            if answer.status != OK:
                message = f"{path}: HTTP {answer.status}"
                raise UnreadableError(message)
            found += answer.body.get("items") or []  # null where there is none
            following = answer.body.get("metadata", {}).get("continue")
            if not following:
                return found
            query = {**query, "continue": following}


def collection(api_version: str, kind: str, namespace: str | None = None) -> str:
    """Give the path of a kind's objects, of one namespace or of all."""
    plural = KINDS[kind].plural if kind in KINDS else _PLURALS.get(kind, f"{kind.lower()}s")
    below = f"/namespaces/{namespace}" if namespace else ""
    return f"{'/apis' if '/' in api_version else '/api'}/{api_version}{below}/{plural}"


def place(body: Mapping[str, Any]) -> str:
    """Give the path of one object."""
    meta = body["metadata"]
    return f"{collection(body['apiVersion'], body['kind'], meta.get('namespace'))}/{meta['name']}"


def _decoded(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return data.decode(errors="replace")


def _texts(headers: list[str]) -> Iterator[str]:
    for header in headers:
        for text in _WARNING.findall(header):
            yield re.sub(r"\\(.)", r"\1", text)
