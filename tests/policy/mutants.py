"""The pack's modules with one thing broken: each comparison, condition, reported problem, field name and known word.

Own code, since the well-kept mutators do not reach it: mutmut and its like change the insides of functions alone, and
half of the pack's judgement is in its lists of types and fields; they start a test run for each mutant, and name
modules by their files' paths, which is not how a pack's folder is imported. Messages (formatted texts) are left alone.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_TESTS = (
    "isinstance",
    "startswith",
    "endswith",
    "fullmatch",
    "match",
    "is_integer",
    "isdigit",
    "isascii",
    "isdecimal",
    "has",
)
_QUANTIFIERS = {"any": "all", "all": "any", "min": "max"}
MESSAGES = ("shown", "listed", "listed_rows", "says", "__str__", "_refusal", "_accounts", "_foreign")
"""Functions that only word messages."""


@dataclass(frozen=True)
class Mutant:
    """A module with one thing broken; `key` names it for a person and for the list of equivalent ones."""

    module: str
    key: str
    path: Path
    place: int
    index: int

    @property
    def where(self) -> str:
        """Name module and function, or the module alone."""
        place = self.key.partition(":")[0]
        return self.module if place.endswith(".module") else place

    @property
    def tree(self) -> ast.Module:
        """Parse the module and break it in that place: nodes are walked in one order."""
        broken = ast.parse(self.path.read_text(encoding="utf-8"))
        for place, (_, node) in enumerate(_judging(broken)):
            if place == self.place:
                _changes(node)[self.index][1]()
                break
        return ast.fix_missing_locations(broken)


def mutants(path: Path) -> Iterator[Mutant]:
    """Give every mutant of a module, in the order of its lines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    seen: dict[str, int] = {}
    for place, (where, node) in enumerate(_judging(tree)):
        for index, (what, _) in enumerate(_changes(node)):
            key = f"{path.stem}.{where}: {what}"
            number = seen.get(key, 0)
            seen[key] = number + 1
            yield Mutant(path.stem, f"{key} [{number}]" if number else key, path, place, index)


def _judging(tree: ast.AST, where: str = "module") -> Iterator[tuple[str, ast.AST]]:
    """Give every node that takes part in a verdict: no messages, docstrings, types, imports."""
    for child in ast.iter_child_nodes(tree):
        name = where
        if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
            if child.name in MESSAGES:
                continue
            name = child.name if where == "module" else f"{where}.{child.name}"
        if isinstance(child, (ast.JoinedStr, ast.Import, ast.ImportFrom, ast.arguments)):
            continue
        if isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            continue
        if isinstance(child, ast.AnnAssign):
            if child.value is not None:
                yield name, child.value
                yield from _judging(child.value, name)
            continue
        yield name, child
        if isinstance(child, ast.FunctionDef):
            child.returns = None
        yield from _judging(child, name)


def _changes(node: ast.AST) -> list[tuple[str, Callable[[], None]]]:
    maker = _CHANGES.get(type(node))
    return list(maker(node)) if maker else []


def _text(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())[:100]


def _into(node: ast.AST, new: ast.AST) -> Callable[[], None]:
    """Turn a node into another, in place."""

    def change() -> None:
        node.__class__ = new.__class__  # how a tree is changed without its parent
        node.__dict__.clear()
        node.__dict__.update(new.__dict__)

    return change


def _compare(node: ast.Compare) -> Iterator[tuple[str, Callable[[], None]]]:
    for index, operator in enumerate(node.ops):
        for new in _COMPARISONS[type(operator)]:
            yield f"{_text(node)} -> {new.__name__}", _set(node.ops, index, new())
    for part in (node.left, *node.comparators):
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value:
            yield f"{_text(node)} -> another text than {part.value!r}", _into(part, ast.Constant(f"{part.value}x"))
        if isinstance(part, ast.Constant) and isinstance(part.value, int) and not isinstance(part.value, bool):
            yield f"{_text(node)} -> another number", _into(part, ast.Constant(part.value + 1))


def _set(items: list[Any], index: int, new: Any) -> Callable[[], None]:
    def change() -> None:
        items[index] = new

    return change


def _drop(items: list[Any], index: int) -> Callable[[], None]:
    def change() -> None:
        del items[index]

    return change


def _bool(node: ast.BoolOp) -> Iterator[tuple[str, Callable[[], None]]]:
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield f"{_text(node)} -> {type(other).__name__}", lambda: setattr(node, "op", other)
    for index, part in enumerate(node.values):
        yield f"{_text(node)} without {_text(part)}", _without(node, index)


def _without(node: ast.BoolOp, index: int) -> Callable[[], None]:
    neutral = ast.Constant(isinstance(node.op, ast.And))
    return _set(node.values, index, neutral)


def _not(node: ast.UnaryOp) -> Iterator[tuple[str, Callable[[], None]]]:
    if isinstance(node.op, ast.Not):
        yield f"{_text(node)} -> not negated", _into(node, node.operand)


def _if(node: ast.If) -> Iterator[tuple[str, Callable[[], None]]]:
    for value in (True, False):
        yield f"if {_text(node.test)} -> {value}", lambda value=value: setattr(node, "test", ast.Constant(value))  # type: ignore[misc]  # a default is how a loop's value is kept


def _ternary(node: ast.IfExp) -> Iterator[tuple[str, Callable[[], None]]]:
    for value in (True, False):
        yield f"{_text(node)} -> {value}", lambda value=value: setattr(node, "test", ast.Constant(value))  # type: ignore[misc]  # likewise


def _comprehension(node: ast.comprehension) -> Iterator[tuple[str, Callable[[], None]]]:
    for index, part in enumerate(node.ifs):
        yield f"comprehension without {_text(part)}", _drop(node.ifs, index)


def _statement(node: ast.Expr) -> Iterator[tuple[str, Callable[[], None]]]:
    value = node.value
    if isinstance(value, (ast.Yield, ast.YieldFrom)):
        kept = ast.Expr(ast.YieldFrom(ast.Tuple([], ast.Load())))  # still a generator
        yield f"without {_text(node)}", _into(node, kept)
    elif isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "append":
        yield f"without {_text(node)}", _into(node, ast.Pass())


def _added(node: ast.AugAssign) -> Iterator[tuple[str, Callable[[], None]]]:
    yield f"without {_text(node)}", _into(node, ast.Pass())


def _elements(node: ast.List | ast.Tuple | ast.Set) -> Iterator[tuple[str, Callable[[], None]]]:
    if not isinstance(node.ctx if hasattr(node, "ctx") else ast.Load(), ast.Load):
        return
    for index, part in enumerate(node.elts):
        if isinstance(part, (ast.Starred, ast.Constant)) and not isinstance(part, ast.JoinedStr):
            yield f"{_text(node)} without {_text(part)}", _drop(node.elts, index)


def _entries(node: ast.Dict) -> Iterator[tuple[str, Callable[[], None]]]:
    for index, key in enumerate(node.keys):
        if key is None or isinstance(node.values[index], ast.JoinedStr):
            continue

        def change(index: int = index) -> None:
            del node.keys[index], node.values[index]

        yield f"dict without {_text(key)}", change


def _call(node: ast.Call) -> Iterator[tuple[str, Callable[[], None]]]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in _TESTS:
        for value in (True, False):
            yield f"{_text(node)} -> {value}", _into(node, ast.Constant(value))
    elif name in _QUANTIFIERS and isinstance(node.func, ast.Name):
        yield f"{_text(node)} -> {_QUANTIFIERS[name]}", _into(node.func, ast.Name(_QUANTIFIERS[name], ast.Load()))
    elif name == "read":
        for part in _texts(node):
            yield f"{_text(node)} -> another field", _into(part, ast.Constant(f"{part.value!s}X"))
    elif name == "words":
        for part in _texts(node):
            given = str(part.value).split()
            for word in given:
                rest = " ".join(item for item in given if item != word)
                yield f"words without {word}", _into(part, ast.Constant(rest))


def _texts(node: ast.Call) -> list[ast.Constant]:
    return [part for part in node.args if isinstance(part, ast.Constant) and isinstance(part.value, str)]


def _return(node: ast.Return) -> Iterator[tuple[str, Callable[[], None]]]:
    if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name):
        yield f"{_text(node)} -> []", lambda: setattr(node, "value", ast.List([], ast.Load()))


_CHANGES: dict[type[ast.AST], Callable[[Any], Iterator[tuple[str, Callable[[], None]]]]] = {
    ast.Compare: _compare,
    ast.BoolOp: _bool,
    ast.UnaryOp: _not,
    ast.If: _if,
    ast.IfExp: _ternary,
    ast.comprehension: _comprehension,
    ast.Expr: _statement,
    ast.AugAssign: _added,
    ast.List: _elements,
    ast.Tuple: _elements,
    ast.Set: _elements,
    ast.Dict: _entries,
    ast.Call: _call,
    ast.Return: _return,
}
