"""The shape of a stack file against its model: every fault of it, and what is left when the faulty entries are out."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from settings.places import CREDENTIALS_KEY, UNREAD, Place, dotted
from settings.problems import Problem
from settings.wording import PLATFORM_KEYS, Fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pydantic_core import ErrorDetails

Root = TypeVar("Root", bound=BaseModel)

CUT = object()
"""Take the key out."""
_TRIES = 5

StandIns = Mapping[Place, Any]
"""Place (`*` for any name) to what takes the place of something faulty there: CUT, a value, or a function giving one.

The longest place on the way to a fault counts. What was cut or replaced is remembered as broken.
"""


@dataclass(frozen=True)
class Examined(Generic[Root]):
    """What one settings map says: the model of what is sound, the names of all that stands there, and the problems.

    `model` is None when nothing could be made of it. `data` is the map with misspelt keys put right and nothing cut.
    `broken` are the places that were cut or replaced.
    """

    model: Root | None
    data: dict[str, Any]
    broken: frozenset[Place]
    problems: tuple[Problem, ...]
    renamed: Mapping[str, str]
    """Dotted places of the keys that were put right: as they should be, and as they stand in the file."""

    def sound(self, *place: str | int) -> bool:
        """Say whether what stands at a place is what the file says."""
        return not any(place[: len(cut)] == cut for cut in self.broken)

    def believes(self, problem: Problem) -> bool:
        """Say whether a rule's problem is about what the file says, not about what stands in for something faulty."""
        broken = [dotted(place) for place in self.broken]
        return not any(problem.path == path or problem.path.startswith(f"{path}.") for path in broken)

    def names(self, *place: str | int) -> frozenset[str]:
        """Give the names of all entries in a map of the file, the faulty ones too."""
        found = _at(self.data, place)
        return frozenset(map(str, found)) if isinstance(found, dict) else frozenset()

    def raw(self, *place: str | int) -> Any:
        """Give what stands at a place of the file, unchecked, or None."""
        return _at(self.data, place)

    def as_in_file(self, problem: Problem) -> Problem:
        """Name a place by the keys that really stand in the file."""
        for right, written in self.renamed.items():
            if problem.path == right or problem.path.startswith(f"{right}."):
                path = written + problem.path[len(right) :]
                return Problem(problem.code, path, problem.value, problem.why, problem.fix, problem.severity)
        return problem


class Examiner(Generic[Root]):
    """Checks one settings map against its model, finding all faults in one go."""

    def __init__(
        self,
        model: type[Root],
        root: str,
        stand_ins: StandIns,
        own_networks: Callable[[Mapping[str, Any]], Sequence[str]] = lambda _: (),
    ) -> None:
        """Take the model, the key that holds it, what replaces faulty things, and a pool's nameable networks."""
        self._model = model
        self._root = root
        self._stand_ins = stand_ins
        self._own_networks = own_networks
        self._numbers = count(1)

    def examine(self, raw: Mapping[str, Any]) -> Examined[Root]:
        """Find every fault of the shape. Takes plain data as a reader gives it; never changes it."""
        data = deepcopy(dict(raw))
        problems: list[Problem] = []
        renamed: dict[str, str] = {}
        broken: set[Place] = set()
        secret = list(_places_of(_is_secret, data, ()))
        problems += [_secret_in_settings(dotted(place) or self._root) for place in secret]
        hidden = [*secret, *_places_of(_is_unread, data, ())]
        rest = deepcopy(data)
        for place in hidden:
            _blank(rest, place)
            broken.add(place)
        model, faults = self._validate(rest)
        while faults and (wrong := next((fault for fault in faults if _can_be_put_right(fault, rest)), None)):
            problems.append(wrong.problem())
            right = str(wrong.meant)
            renamed[dotted((*wrong.place[:-1], right))] = dotted(wrong.place)
            for version in (data, rest):
                parent = _at(version, wrong.place[:-1])
                if isinstance(parent, dict) and wrong.name in parent:
                    parent[right] = parent.pop(wrong.name)
            model, faults = self._validate(rest)
        problems += [fault.problem() for fault in _without_echoes(faults, hidden)]
        for _ in range(_TRIES):
            if not faults:
                break
            tried = frozenset(broken)
            for fault in faults:
                self._repair(rest, fault, broken, tried)
            model, faults = self._validate(rest)
        found = Examined(model, data, frozenset(broken), tuple(problems), renamed)
        return Examined(model, data, found.broken, tuple(found.as_in_file(problem) for problem in problems), renamed)

    def _validate(self, data: Mapping[str, Any]) -> tuple[Root | None, list[Fault]]:
        try:
            return self._model.model_validate(data), []
        except ValidationError as error:
            return None, [self._fault(detail, data) for detail in error.errors(include_url=False)]

    def _fault(self, detail: ErrorDetails, data: Mapping[str, Any]) -> Fault:
        place, keys, is_key = _follow(self._model, detail["loc"])
        context = detail.get("ctx", {})
        if detail["type"] in ("union_tag_invalid", "union_tag_not_found"):
            place = (*place, str(context["discriminator"]).strip("'"))
        pool = _at(data, place[:4])
        own = self._own_networks(pool) if isinstance(pool, dict) and place[:1] == ("clusters",) else ()
        return Fault(detail["type"], place, detail["input"], context, detail["msg"], keys, is_key, own)

    def _repair(self, data: dict[str, Any], fault: Fault, broken: set[Place], tried: frozenset[Place]) -> None:
        """Take a fault out, as little around it as makes it legal: more than was tried for it before."""
        if fault.kind == "extra_forbidden":
            _cut(data, fault.place)
            return
        for length in range(len(fault.place), 0, -1):
            here = fault.place[:length]
            if here in tried:
                continue
            stand_in = next((value for pattern, value in self._stand_ins.items() if _fits(pattern, here)), None)
            if stand_in is None:
                continue
            broken.add(here)
            if stand_in is CUT:
                _cut(data, here)
            else:
                parent = _at(data, here[:-1])
                if isinstance(parent, dict):
                    parent[str(here[-1])] = stand_in(next(self._numbers)) if callable(stand_in) else deepcopy(stand_in)
                elif isinstance(parent, list):
                    parent[int(here[-1])] = stand_in(next(self._numbers)) if callable(stand_in) else deepcopy(stand_in)
            return


def _fits(pattern: Place, place: Place) -> bool:
    return len(pattern) == len(place) and all(want in ("*", step) for want, step in zip(pattern, place, strict=True))


def _at(data: Any, place: Place) -> Any:
    for step in place:
        try:
            data = data[step]
        except (KeyError, IndexError, TypeError):
            return None
    return data


def _blank(data: Any, place: Place) -> None:
    if place:
        _at(data, place[:-1])[place[-1]] = None


def _cut(data: dict[str, Any], place: Place) -> None:
    parent = _at(data, place[:-1])
    if isinstance(parent, dict):
        parent.pop(place[-1], None)


def _can_be_put_right(fault: Fault, data: Mapping[str, Any]) -> bool:
    if fault.kind != "extra_forbidden" or (fault.place[0] == "clusters" and fault.name in PLATFORM_KEYS):
        return False
    parent = _at(data, fault.place[:-1])
    return fault.meant is not None and isinstance(parent, dict) and fault.meant not in parent


def _without_echoes(faults: list[Fault], hidden: Sequence[Place]) -> Iterator[Fault]:
    """Leave out what only follows from another fault at its place or beside it."""
    spoken = {fault: fault.problem().code for fault in faults if fault.kind in ("literal_error", "extra_forbidden")}
    planned = {fault.place[:-1] for fault, code in spoken.items() if code == "NOT_AVAILABLE" and fault.name == "type"}
    raw_vlan = {fault.place[:-1] for fault, code in spoken.items() if code == "PLATFORM_OWNS"}
    parents = {fault.place[:-1] for fault in faults}
    for fault in faults:
        if fault.kind == "too_short" and fault.place in parents:
            continue  # its entries are there, and faulty themselves
        if any(fault.place[: len(place)] == place for place in hidden):
            continue
        if fault.place[:-1] in planned and fault.name != "type":
            continue
        if fault.kind == "missing" and fault.name == "network" and fault.place[:-1] in raw_vlan:
            continue
        yield fault


def _places_of(wanted: Callable[[Any], bool], data: Any, place: Place) -> Iterator[Place]:
    if wanted(data):
        yield place
    elif isinstance(data, dict):
        for key, value in data.items():
            yield from _places_of(wanted, value, (*place, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _places_of(wanted, value, (*place, index))


def _is_secret(data: Any) -> bool:
    return isinstance(data, dict) and "secure" in data


def _is_unread(data: Any) -> bool:
    return data is UNREAD


def _secret_in_settings(path: str) -> Problem:
    why = "a secret among plain settings makes all of them secret, and nothing can be checked or shown any more"
    fix = f"take it out; secrets stand in {CREDENTIALS_KEY} alone"
    return Problem("SECRET_IN_SETTINGS", path, None, why, fix)


def _bare(annotation: Any) -> Any:
    """Take `Annotated` and `| None` off."""
    if get_origin(annotation) is Annotated and not _tags(annotation):
        return _bare(get_args(annotation)[0])
    options = [option for option in get_args(annotation) if option is not type(None)]
    if type(None) in get_args(annotation) and len(options) == 1:
        return _bare(options[0])
    return annotation


def _tags(annotation: Any) -> dict[str, Any]:
    """Give the members of a discriminated union by their tags; nothing for anything else."""
    if get_origin(annotation) is not Annotated:
        return {}
    union, *notes = get_args(annotation)
    by = next((note.discriminator for note in notes if isinstance(note, FieldInfo) and note.discriminator), None)
    if not isinstance(by, str):
        return {}
    return {get_args(member.model_fields[by].annotation)[0]: member for member in get_args(union)}


@lru_cache(maxsize=128)
def _fields(model: type[BaseModel]) -> dict[str, Any]:
    return {found.alias or name: found.annotation for name, found in model.model_fields.items()}


def _follow(model: type[BaseModel], location: tuple[int | str, ...]) -> tuple[Place, tuple[str, ...], bool]:
    """Turn pydantic's location into a place of the file; give also the legal keys around its last step.

    At a union that a key decides: what that key can say.
    """
    place: list[str | int] = []
    keys: tuple[str, ...] = ()
    here: Any = model
    for step in location:
        if step == "[key]":
            return tuple(place), (), True
        here = _bare(here)
        tags = _tags(here)
        if step in tags:
            here = tags[str(step)]
            continue
        keys = tuple(_fields(here)) if isinstance(here, type) and issubclass(here, BaseModel) else ()
        place.append(step)
        here = _child(here, step)
    return tuple(place), tuple(_tags(_bare(here))) or keys, False


def _child(here: Any, step: str | int) -> Any:
    if isinstance(here, type) and issubclass(here, BaseModel):
        return _fields(here).get(str(step), Any)
    options = get_args(here)
    if get_origin(here) is dict:
        return options[1]
    return options[0] if options else Any
