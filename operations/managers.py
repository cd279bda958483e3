"""Who wrote which part of an object of the guard, by the field managers that the API server keeps of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

PROGRAM = "pulumi-kubernetes"
"""How the names of the managers begin under which the program's provider applies."""

BY_HAND = "hybrid"
"""The manager of a break-glass that finds no binding of the program's."""


def managers(body: Mapping[str, Any]) -> list[str]:
    """Name everybody who wrote in an object."""
    return sorted({each["manager"] for each in _entries(body)})


def made_by_program(body: Mapping[str, Any]) -> bool:
    """Say whether the program's own manager is among an object's."""
    return any(manager.startswith(PROGRAM) for manager in managers(body))


def program_entry(body: Mapping[str, Any]) -> dict[str, Any] | None:
    """Give what the program applied of an object, and in which version; None where it has not."""
    entries = (each for each in _entries(body) if each["manager"].startswith(PROGRAM))
    return next((each for each in entries if each.get("operation") == "Apply"), None)


def foreign_fields(body: Mapping[str, Any]) -> dict[str, list[str]]:
    """Give the fields right below `spec` that others than the program and break-glass wrote, by their managers.

    What the API server fills in belongs to nobody, and controllers write `status` only.
    """
    found: dict[str, set[str]] = {}
    for each in _entries(body):
        manager = each["manager"]
        if manager.startswith(PROGRAM) or manager == BY_HAND:
            continue
        below = (each.get("fieldsV1") or {}).get("f:spec") or {}
        names = {key.removeprefix("f:") for key in below if key.startswith("f:")}
        if names:
            found.setdefault(manager, set()).update(names)
    return {manager: sorted(names) for manager, names in sorted(found.items())}


def _entries(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    return body.get("metadata", {}).get("managedFields") or []
