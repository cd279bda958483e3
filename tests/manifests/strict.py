"""A strict reading of a CustomResourceDefinition's schema, as an API server does with `fieldValidation: Strict`.

Unknown fields, missing required ones, types, bounds, patterns, enumerations and sets are judged; the CEL rules of a
schema are not (the engine tests send the objects to a real API server).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from pathlib import Path

_TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
}
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_ROOT = {"apiVersion", "kind", "metadata"}


class Definitions:
    """The CRDs of a folder; `errors` says what is wrong with an object."""

    def __init__(self, folder: Path) -> None:
        """Read every definition of the folder."""
        self._schemas: dict[tuple[str, str], dict[str, Any]] = {}
        self._scopes: dict[str, str] = {}
        for file in sorted(folder.glob("*.yaml")):
            self.add(yaml.load(file.read_text(encoding="utf-8"), Loader=_LOADER))  # noqa: S506 - both are safe ones

    def add(self, definition: dict[str, Any]) -> None:
        """Take one more definition in."""
        spec = definition["spec"]
        kind = spec["names"]["kind"]
        self._scopes[kind] = spec["scope"]
        for version in spec["versions"]:
            if version["served"]:
                name = f"{spec['group']}/{version['name']}"
                self._schemas[name, kind] = version["schema"]["openAPIV3Schema"]

    def errors(self, body: dict[str, Any]) -> list[str]:
        """Say everything that is wrong with an object; nothing for one that is accepted."""
        schema = self._schemas.get((body["apiVersion"], body["kind"]))
        if schema is None:
            return [f"no definition serves {body['kind']} in {body['apiVersion']}"]
        found = _errors({key: value for key, value in body.items() if key not in _ROOT}, schema, "")
        if ("namespace" in body["metadata"]) != (self._scopes[body["kind"]] == "Namespaced"):
            found.append("the namespace does not fit the kind's scope")
        return found


def _errors(data: Any, schema: dict[str, Any], path: str) -> list[str]:
    if schema.get("x-kubernetes-int-or-string"):
        return (
            [] if isinstance(data, int | str) and not isinstance(data, bool) else [f"{path}: neither number nor text"]
        )
    wanted = schema.get("type")
    if wanted is None:
        return []
    if not isinstance(data, _TYPES[wanted]) or (wanted != "boolean" and isinstance(data, bool)):
        return [f"{path}: {data!r} is no {wanted}"]
    if isinstance(data, dict):
        return _object(data, schema, path)
    if isinstance(data, list):
        return _array(data, schema, path)
    return _scalar(data, schema, path)


def _object(data: dict[str, Any], schema: dict[str, Any], path: str) -> list[str]:
    properties = schema.get("properties", {})
    others = schema.get("additionalProperties")
    found = [f"{path}.{key}: missing" for key in schema.get("required", []) if key not in data and path]
    found += [f"{key}: missing" for key in schema.get("required", []) if key not in data and not path]
    for key, value in data.items():
        if key in properties:
            found += _errors(value, properties[key], f"{path}.{key}")
        elif isinstance(others, dict):
            found += _errors(value, others, f"{path}.{key}")
        elif not schema.get("x-kubernetes-preserve-unknown-fields"):
            found.append(f"{path}.{key}: unknown field")
    return found


def _array(data: list[Any], schema: dict[str, Any], path: str) -> list[str]:
    found = []
    if not schema.get("minItems", 0) <= len(data) <= schema.get("maxItems", len(data)):
        found.append(f"{path}: {len(data)} items")
    keys = schema.get("x-kubernetes-list-map-keys")
    kind = schema.get("x-kubernetes-list-type")
    identities = [tuple(item.get(key) for key in keys) for item in data] if keys else data
    if kind in ("set", "map") and any(identities.count(item) > 1 for item in identities):
        found.append(f"{path}: an item twice")
    for index, item in enumerate(data):
        found += _errors(item, schema["items"], f"{path}[{index}]")
    return found


def _scalar(data: Any, schema: dict[str, Any], path: str) -> list[str]:
    found = []
    if "enum" in schema and data not in schema["enum"]:
        found.append(f"{path}: {data!r} is none of {schema['enum']}")
    if isinstance(data, str):
        if not schema.get("minLength", 0) <= len(data) <= schema.get("maxLength", len(data)):
            found.append(f"{path}: {len(data)} characters")
        pattern = schema.get("pattern", "").replace("^(?i)", "(?i)^")  # Go takes the flag anywhere
        if pattern and not re.search(pattern, data):
            found.append(f"{path}: {data!r} is not {schema['pattern']}")
    else:
        if not schema.get("minimum", data) <= data <= schema.get("maximum", data):
            found.append(f"{path}: {data!r} is out of bounds")
        if data % schema.get("multipleOf", 1):
            found.append(f"{path}: {data!r} is no multiple of {schema['multipleOf']}")
    return found
