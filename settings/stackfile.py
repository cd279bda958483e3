"""The one reader of stack files: YAML 1.2, plain data only, every fault of the text with its place."""

from __future__ import annotations

import io
import re
from copy import deepcopy
from dataclasses import dataclass, field
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from settings.places import UNREAD, Place, below_root, looks_like_a_key, may_be_secret
from settings.problems import Problem, SettingsError

if TYPE_CHECKING:
    from pathlib import Path

    from ruamel.yaml.nodes import Node

_CORE = "tag:yaml.org,2002:"
_SCALARS = {f"{_CORE}{name}" for name in ("str", "int", "float", "bool", "null", "timestamp")}
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)")
_DEEPEST = 40


def file_of(stack: str, stacks: Path) -> Path:
    """Name a stack's file."""
    return stacks / f"Pulumi.{stack}.yaml"


def stack_of(path: Path) -> str:
    """Name the stack whose file this is."""
    return path.name.removeprefix("Pulumi.").removesuffix(".yaml")


def read(path: Path) -> dict[str, Any]:
    """Read a whole stack file as plain dicts, lists and scalars.

    Raises SettingsError with codes STACK_FILE_MISSING, NOT_YAML, NOT_PLAIN_YAML, DUPLICATE_KEY, KEY_NOT_TEXT,
    ODD_NUMBER, ODD_TEXT or NOT_A_MAP.
    """
    found, problems = examine(path)
    if problems:
        raise SettingsError(stack_of(path), problems)
    return deepcopy(found)


def examine(path: Path) -> tuple[dict[str, Any], list[Problem]]:
    """Read a stack file, and give what is wrong with its text beside what could be read.

    Nobody changes what is given: the same text is read once (all tenants of an environment read its file).
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        there = sorted(stack_of(file) for file in path.parent.glob("Pulumi.*.yaml"))
        why = f"there is no file {path.name} in {path.parent}"
        fix = f"write it, or name one of the stacks that have a file: {', '.join(there) or 'none'}"
        return {}, [Problem("STACK_FILE_MISSING", "stack", stack_of(path), why, fix)]
    except (OSError, UnicodeDecodeError) as error:
        reason = "is not UTF-8" if isinstance(error, UnicodeDecodeError) else f"can not be read: {error.strerror}"
        return {}, [Problem("NOT_YAML", "stack", path.name, f"the file {reason}", "write it as a UTF-8 text file")]
    found, problems = _parse(path.name, text)
    return found, list(problems)


@lru_cache(maxsize=16)
def _parse(name: str, text: str) -> tuple[dict[str, Any], tuple[Problem, ...]]:
    try:
        node = YAML(typ="safe", pure=True).compose(io.StringIO(text))
    except (YAMLError, RecursionError, ValueError, OverflowError) as error:
        return {}, (_not_yaml(name, error),)
    reading = _Reading()
    if _BREAKS.search(text):
        why = "a line break or mark that not every reader of YAML skips (NEL, LS, PS, U+FEFF) hides what stands where"
        reading.report("NOT_PLAIN_YAML", (name,), why, "take it out; an editor can show it")
    if any(line.startswith("%") for line in text.splitlines()):
        reading.report("NOT_PLAIN_YAML", (name,), "a % directive changes how the file is read", "leave it out")
    if node is None:
        return {}, tuple(reading.problems)
    value = reading.value(node, ())
    if not isinstance(value, dict):
        if value is not UNREAD:
            reading.report("NOT_A_MAP", ("config",), "a stack file is a map", "begin it with `config:`")
        value = {"config": UNREAD}
    return value, tuple(reading.problems)


def _not_yaml(name: str, error: Exception) -> Problem:
    """Say where the text stops being YAML, quoting nothing of it: it may hold a secret."""
    place, what = "", ""
    if isinstance(error, MarkedYAMLError) and error.problem_mark is not None:
        place = f" at line {error.problem_mark.line + 1}, column {error.problem_mark.column + 1}"
        what = re.sub(r"""(['"]).*\1""", "something", error.problem or "", flags=re.DOTALL)
    why = f"the file stops being YAML{place}" + (f": {what}" if what else "")
    return Problem("NOT_YAML", "stack", name, why, "mend that line; an editor with the JSON Schema shows it in place")


_BREAKS = re.compile("[\u0085\u2028\u2029\ufeff]")
"""The engine's reader skips U+FEFF at the beginning of any line, this one at the beginning of the text alone."""
_HALF = re.compile("[\ud800-\udfff]")
_NOT_TEXT_ELSEWHERE = re.compile(
    r"(?i:y|yes|n|no|on|off)"  # bools
    r"|\d{4}-\d{1,2}-\d{1,2}([Tt\s].*)?"  # dates
    r"|[-+]?\d[\d_]*(:[0-5]?\d)+(\.[\d_]*)?"  # sexagesimal numbers: times, digit MACs
    r"|[-+]?(\d[\d_]*_[\d_]*|0[bBoOxX][\da-fA-F_]+)(\.[\d_]*)?"  # numbers with underscores, in other bases
    r"|[-+]?\.?\d[\d_.]*[eE][-+]?[\d_]+"  # numbers with an exponent
)
"""Plain text to YAML 1.2 that YAML 1.1 reads as something else."""


@dataclass
class _Reading:
    """One walk over a file's nodes."""

    problems: list[Problem] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)

    def report(self, code: str, place: Place, why: str, fix: str, value: Any = None) -> None:
        shown = None if may_be_secret(place) or looks_like_a_key(value) else value
        self.problems.append(Problem(code, below_root(place), shown, why, fix))

    def value(self, node: Node, place: Place) -> Any:
        if node.anchor or id(node) in self.seen or len(place) > _DEEPEST:
            why = "anchors, aliases and very deep nesting hide what stands where"
            self.report("NOT_PLAIN_YAML", place or ("config",), why, "write the value out in each place")
            return UNREAD
        self.seen.add(id(node))
        if isinstance(node, MappingNode):
            return self._mapping(node, place)
        if isinstance(node, SequenceNode):
            return [self.value(item, (*place, index)) for index, item in enumerate(node.value)]
        return self._scalar(node, place)

    def _mapping(self, node: MappingNode, place: Place) -> dict[str, Any]:
        found: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for key_node, value_node in node.value:
            key = self._key(key_node, place)
            if key is None:
                continue
            line = key_node.start_mark.line + 1
            if key in found:
                why = f"the key stands twice, in lines {lines[key]} and {line}, and readers differ in which one counts"
                self.report("DUPLICATE_KEY", (*place, key), why, "keep one of them")
                continue
            lines[key] = line
            found[key] = self.value(value_node, (*place, key))
        return found

    def _key(self, node: Node, place: Place) -> str | None:
        if self._is_half(node, place):
            return None
        if isinstance(node, ScalarNode) and str(node.tag) == f"{_CORE}str" and not node.anchor:
            self._text(node, (*place, str(node.value)))
            return str(node.value)
        if isinstance(node, ScalarNode) and str(node.tag) == f"{_CORE}merge":
            self.report("NOT_PLAIN_YAML", place or ("config",), "merge keys hide what stands where", "write it out")
            return None
        shown = (*place, str(node.value)) if isinstance(node, ScalarNode) else (place or ("config",))
        self.report("KEY_NOT_TEXT", shown, "YAML does not read this key as text", "put quotes around the key")
        return None

    def _is_half(self, node: Node, place: Place) -> bool:
        half = isinstance(node, ScalarNode) and bool(_HALF.search(str(node.value)))
        if half:
            why = "an escape from \\uD800 to \\uDFFF is half a character, which no text can hold"
            self.report("NOT_PLAIN_YAML", place or ("config",), why, "write the character itself")
        return half

    def _text(self, node: Node, place: Place) -> None:
        """Require quotes where the engine's reader, or any of YAML 1.1, sees something else than text."""
        if isinstance(node, ScalarNode) and not node.style and _NOT_TEXT_ELSEWHERE.fullmatch(str(node.value)):
            why = (
                "readers of YAML differ over whether this is text: without quotes it can be a date, a number or a bool"
            )
            self.report("ODD_TEXT", place, why, f'put quotes around it: "{node.value}"', node.value)

    def _scalar(self, node: Node, place: Place) -> Any:
        if self._is_half(node, place):
            return UNREAD
        tag = str(node.tag)
        if tag not in _SCALARS:
            self.report("NOT_PLAIN_YAML", place or ("config",), "tags are not read here", "leave the tag out")
            return UNREAD
        if tag == f"{_CORE}str":
            self._text(node, place)
            return str(node.value)
        if tag == f"{_CORE}int" and not _DECIMAL.fullmatch(str(node.value)):
            why = "readers of YAML differ over this spelling of a number"
            self.report("ODD_NUMBER", place, why, "write it with decimal digits and no leading zero", node.value)
        return _plain(tag, str(node.value))


class _Other:
    """What YAML reads as a date or as no number: never legal, shown as it is written."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __str__(self) -> str:
        return self._text


def _plain(tag: str, text: str) -> Any:
    kind = tag.removeprefix(_CORE)
    if kind == "null":
        return None
    if kind == "bool":
        return text.lower() == "true"
    try:
        number = int(text, 0) if kind == "int" else float(text.replace("_", ""))
    except ValueError:
        return _Other(text)
    return number if text[-1].isdigit() and isfinite(number) else _Other(text)
