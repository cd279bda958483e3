"""An API server that answers from a dict, and judges dry runs by a function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from operations.api import NOT_FOUND, OK, Answer, Api, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class FakeApi(Api):
    """Objects and lists by path; `judge` answers a POST of a body; every request is kept."""

    def __init__(
        self, found: Mapping[str, Any] | None = None, judge: Callable[[Any, Mapping[str, str]], Answer] | None = None
    ) -> None:
        """Take what is there."""
        self.found = dict(found or {})
        self.judge = judge
        self.asked: list[tuple[str, str, Any]] = []

    def request(  # noqa: PLR0913 - as what it stands for
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        query: Mapping[str, Any] | None = None,
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Answer; what is an UnreadableError is raised."""
        assert content_type
        self.asked.append((method, path, {"body": body, "query": dict(query or {})}))
        if method == "POST" and self.judge:
            return self.judge(body, headers or {})
        found = self.found.get(path)
        if isinstance(found, UnreadableError):
            raise found
        return Answer(NOT_FOUND, {}) if found is None else Answer(OK, found)


def refusal(policy: str, binding: str | None = None, why: str = "no") -> Answer:
    """Give a refusal as the API server words it."""
    text = (
        f"x is forbidden: ValidatingAdmissionPolicy '{policy}' with binding '{binding or policy}' denied request: {why}"
    )
    return Answer(422, {"message": text})


def warning(policy: str, binding: str | None = None, why: str = "no") -> Answer:
    """Give an admission with a warning as the API server words it."""
    text = f"Validation failed for ValidatingAdmissionPolicy '{policy}' with binding '{binding or policy}': {why}"
    return Answer(201, {}, (text,))
