"""What differs between the state and what the program wants, path by path, as the real plugins report it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from lab.clouds.values import UNKNOWN


class Change(NamedTuple):
    """One difference: a path in Pulumi's spelling (`networkDevices[0].vlanId`) and add, delete or update."""

    path: str
    kind: str

    @property
    def top(self) -> str:
        """The property of the resource that the change is in."""
        return self.path.split(".")[0].split("[")[0]


def compare(
    wanted: Mapping[str, Any],
    state: Mapping[str, Any],
    *,
    gone: Iterable[str] = (),
    whole: Iterable[str] = (),
) -> list[Change]:
    """Return the differences of `wanted` (inputs with the plugin's defaults) to the state's outputs.

    Only what `wanted` names is compared: what the program does not ask for, the cloud may choose. `gone` are
    properties that earlier inputs had and the new ones have not; those in `whole` are equal or not, as one value
    (maps such as labels, in which a missing key means something).
    """
    changes: list[Change] = []
    for key, value in wanted.items():
        have = state.get(key)
        if key in whole:
            if value is UNKNOWN or (value or None) != (have or None):
                changes.append(Change(key, _kind(value, have)))
        else:
            changes.extend(_walk(key, value, have))
    changes.extend(Change(key, "delete") for key in gone if key not in wanted and state.get(key))
    return changes


def _walk(path: str, want: Any, have: Any) -> Iterator[Change]:
    if want is UNKNOWN:
        yield Change(path, _kind(want, have))
    elif isinstance(want, Mapping) and isinstance(have, Mapping):
        for key, value in want.items():
            yield from _walk(f"{path}.{key}", value, have.get(key))
    elif isinstance(want, list) and isinstance(have, list):
        for index in range(max(len(want), len(have))):
            inner = f"{path}[{index}]"
            if index >= len(have):
                yield Change(inner, "add")
            elif index >= len(want):
                yield Change(inner, "delete")
            else:
                yield from _walk(inner, want[index], have[index])
    elif not _same(want, have):
        yield Change(path, _kind(want, have))


def _same(want: Any, have: Any) -> bool:
    """Nothing, zero, false and empty are one value to the real plugins."""
    return want == have or (not want and not have)


def _kind(want: Any, have: Any) -> str:
    if want is UNKNOWN or (want and have):
        return "update"
    return "add" if want else "delete"


def without_ignored(changes: Iterable[Change], ignored: Iterable[str]) -> list[Change]:
    """Leave out changes at or below an ignored path. A `[*]` in it matches nothing, as with the real plugins."""
    return [change for change in changes if not any(_inside(change.path, path) for path in ignored)]


def _inside(path: str, ignored: str) -> bool:
    return path == ignored or path.startswith((f"{ignored}.", f"{ignored}["))
