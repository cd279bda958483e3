"""One Kubernetes object that the program wants, with its place in the program and in the order of things."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Manifest:
    """A Kubernetes object as a plain dict.

    `part` names the component that registers it: "isolation", "zone/<zone>", "tenant/<tenant>", "cluster/<cluster>"
    or "pool/<cluster>-<pool>". `after` holds the names of the objects that must be there first, and that go later.
    """

    body: dict[str, Any]
    part: str
    after: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Give the logical name: "Kind/namespace/name", or "Kind/name" for what has no namespace."""
        return named(self.kind, self.body["metadata"]["name"], self.namespace)

    @property
    def kind(self) -> str:
        """Give the object's kind."""
        return str(self.body["kind"])

    @property
    def namespace(self) -> str | None:
        """Give the object's namespace, None for what has none."""
        namespace: str | None = self.body["metadata"].get("namespace")
        return namespace

    def with_after(self, names: Iterable[str]) -> Manifest:
        """Give the same object, coming after `names` too."""
        return replace(self, after=(*self.after, *(name for name in names if name not in self.after)))


def named(kind: str, name: str, namespace: str | None = None) -> str:
    """Give the logical name of an object."""
    return f"{kind}/{namespace}/{name}" if namespace else f"{kind}/{name}"
