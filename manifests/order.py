"""The order in which objects are made: what an object comes `after` stands before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from manifests.manifest import Manifest


def ordered(manifests: Iterable[Manifest]) -> list[Manifest]:
    """Sort objects so that each stands behind those it comes `after`, and else as they came.

    Raises ValueError for an object that is there twice, an `after` that names none of them, and a circle.
    """
    waiting = list(manifests)
    names = {manifest.name for manifest in waiting}
    if len(names) < len(waiting):
        twice = sorted({m.name for m in waiting if sum(other.name == m.name for other in waiting) > 1})
        message = f"objects that are there twice: {', '.join(twice)}"
        raise ValueError(message)
    missing = sorted({f"{m.name} comes after {name}" for m in waiting for name in m.after if name not in names})
    if missing:
        message = f"objects that nothing makes: {', '.join(missing)}"
        raise ValueError(message)
    placed: dict[str, Manifest] = {}
    while waiting:
        rest = []
        for manifest in waiting:
            if all(name in placed for name in manifest.after):
                placed[manifest.name] = manifest
            else:
                rest.append(manifest)
        if len(rest) == len(waiting):
            message = f"objects that wait for each other: {', '.join(m.name for m in rest)}"
            raise ValueError(message)
        waiting = rest
    return list(placed.values())
