"""What a type token says of a Kubernetes object, and what every object must be, in whatever stack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tenant_isolation.reading import ABSENT, UNKNOWN, read
from tenant_isolation.verdicts import shown, strange

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PREFIX = "kubernetes:"
BODY = frozenset({"apiVersion", "kind", "metadata", "spec"})
ENGINE_ANNOTATIONS = ("pulumi.com/", "hybrid.cozystack.io/")
"""Annotations that change how an object is written (by force, without waiting), or who judges it."""


@dataclass(frozen=True)
class Kind:
    """What a type token says an object is."""

    group: str
    version: str
    name: str

    @property
    def api_version(self) -> str:
        """Give what the object's `apiVersion` must then be."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def pair(self) -> tuple[str, str]:
        """Give group and kind."""
        return self.group, self.name


def kind_of(token: str) -> Kind | None:
    """Read `kubernetes:<group>/<version>:<Kind>` or `…:<Kind>Patch`; None for anything else (charts, YAML files)."""
    parts = token.split(":")
    if len(parts) != 3 or parts[1].count("/") != 1:  # noqa: PLR2004 - package, module, name
        return None
    group, version = parts[1].split("/")
    return Kind("" if group == "core" else group, version, parts[2].removesuffix("Patch"))


def identity_problems(props: Mapping[str, Any], kind: Kind, fields: frozenset[str]) -> Iterator[str]:
    """Judge what an object says it is: what it is registered as, under a name of its own."""
    for field, wanted in (("apiVersion", kind.api_version), ("kind", kind.name)):
        found = read(props, field)
        if found != wanted:
            yield f"Its {field} is {shown(found)}, but it is registered as {kind.api_version} {kind.name}."
    yield from strange(props, fields, "It has fields")
    name = read(props, "metadata", "name")
    if not isinstance(name, str) or not name:
        yield f"Its metadata.name is {shown(name)}. Write a name that is known before anything is made."


def metadata_problems(props: Mapping[str, Any]) -> Iterator[str]:
    """Judge what a tenant's object may have beside its name and labels."""
    metadata = read(props, "metadata")
    if not isinstance(metadata, dict):
        return
    yield from strange(metadata, ("name", "namespace", "labels", "annotations"), "metadata has fields")
    annotations = read(metadata, "annotations")
    if annotations is UNKNOWN:
        yield f"metadata.annotations is {shown(annotations)}."
    elif annotations is not ABSENT:
        for key in sorted(annotations if isinstance(annotations, dict) else ()):
            if key.startswith(ENGINE_ANNOTATIONS):
                yield f"It has annotation {shown(key)}, which changes how it is written or judged. Leave it out."
