"""A small parser of CEL expressions: which parts an expression has, and where in its text each of them stands."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<text>r?'(?:[^'\\]|\\.)*'|r?"(?:[^"\\]|\\.)*")
    | (?P<number>\d+(?:\.\d+)?u?)
    | (?P<word>[A-Za-z_]\w*)
    | (?P<sign>&&|\|\||==|!=|<=|>=|\.\?|[-+*/%!<>?:.,()\[\]{}])
    )""",
    re.VERBOSE,
)
COMPARISONS = ("==", "!=", "<=", ">=", "<", ">")


class SyntaxFaultError(ValueError):
    """The text is no expression that this parser knows; the message has the place."""


@dataclass(frozen=True)
class Token:
    """A word, number, text or sign, and where it stands."""

    kind: str
    text: str
    start: int
    end: int


@dataclass
class Node:
    """A part of an expression.

    `kind`: "or", "and", "compare", "in", "add", "ternary", "not", "minus", "call" (a method or function, `name`),
    "select" (a field), "index", "list", "map", "leaf", "group" (in parentheses). `mark` is the operator's place in the
    text, for a call its name's; `optional` says that a field is read by `.?`; `flags` are the places of a list's `?`.
    """

    kind: str
    start: int
    end: int
    parts: list[Node] = field(default_factory=list)
    name: str = ""
    mark: int = 0
    optional: bool = False
    flags: list[int | None] = field(default_factory=list)

    def walk(self) -> Iterator[Node]:
        """Give this part and all below it."""
        yield self
        for part in self.parts:
            yield from part.walk()


def tokens(text: str) -> list[Token]:
    """Split an expression; raise SyntaxFaultError at what is no part of one."""
    found, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            message = f"not understood at {at}: {text[at : at + 20]!r}"
            raise SyntaxFaultError(message)
        found.append(Token(match.lastgroup, match[match.lastgroup], match.start(match.lastgroup), match.end()))
        at = match.end()
    return found


def parse(text: str) -> Node:
    """Parse a whole expression."""
    parser = _Parser(tokens(text))
    node = parser.expression()
    parser.at_end()
    return node


class _Parser:
    """One method a level of precedence, the loosest first."""

    def __init__(self, found: list[Token]) -> None:
        self._tokens = found
        self._at = 0

    def at_end(self) -> None:
        if self._peek() is not None:
            self._fail()

    def expression(self) -> Node:
        condition = self._or()
        if not self._is("?"):
            return condition
        mark = self._take().start
        yes = self._or()
        self._want(":")
        no = self.expression()
        return Node("ternary", condition.start, no.end, [condition, yes, no], mark=mark)

    def _or(self) -> Node:
        parts = [self._and()]
        while self._is("||"):
            self._take()
            parts.append(self._and())
        return parts[0] if len(parts) == 1 else Node("or", parts[0].start, parts[-1].end, parts)

    def _and(self) -> Node:
        parts = [self._relation()]
        while self._is("&&"):
            self._take()
            parts.append(self._relation())
        return parts[0] if len(parts) == 1 else Node("and", parts[0].start, parts[-1].end, parts)

    def _relation(self) -> Node:
        left = self._sum()
        while self._is(*COMPARISONS, "in"):
            sign = self._take()
            right = self._sum()
            kind = "in" if sign.text == "in" else "compare"
            left = Node(kind, left.start, right.end, [left, right], name=sign.text, mark=sign.start)
        return left

    def _sum(self) -> Node:
        left = self._unary()
        while self._is("+", "-", "*", "/", "%"):
            sign = self._take()
            right = self._unary()
            left = Node("add", left.start, right.end, [left, right], name=sign.text, mark=sign.start)
        return left

    def _unary(self) -> Node:
        if not self._is("!", "-"):
            return self._member()
        sign = self._take()
        below = self._unary()
        return Node("not" if sign.text == "!" else "minus", sign.start, below.end, [below], mark=sign.start)

    def _member(self) -> Node:
        node = self._primary()
        while self._is(".", ".?", "["):
            sign = self._take()
            if sign.text == "[":
                index = self.expression()
                node = Node("index", node.start, self._want("]").end, [node, index], mark=sign.start)
                continue
            name = self._take("word")
            if sign.text == "." and self._is("("):
                arguments, end = self._arguments(")")
                node = Node("call", node.start, end, [node, *arguments], name=name.text, mark=name.start)
            else:
                optional = sign.text == ".?"
                node = Node("select", node.start, name.end, [node], name.text, sign.start, optional=optional)
        return node

    def _primary(self) -> Node:
        token = self._take()
        if token.kind == "word" and self._is("("):
            arguments, end = self._arguments(")")
            return Node("call", token.start, end, arguments, name=token.text, mark=token.start)
        if token.kind != "sign":
            return Node("leaf", token.start, token.end, name=token.text, mark=token.start)
        if token.text == "(":
            inner = self.expression()
            return Node("group", token.start, self._want(")").end, [inner])
        self._at -= 1
        if token.text == "[":
            flags: list[int | None] = []
            parts, end = self._arguments("]", flags)
            return Node("list", token.start, end, parts, flags=flags)
        if token.text == "{":
            return self._map()
        return self._fail()

    def _map(self) -> Node:
        start = self._want("{").start
        parts = []
        while not self._is("}"):
            if self._is("?"):
                self._take()
            self.expression()
            self._want(":")
            parts.append(self.expression())
            if not self._is("}"):
                self._want(",")
        return Node("map", start, self._want("}").end, parts)

    def _arguments(self, closing: str, flags: list[int | None] | None = None) -> tuple[list[Node], int]:
        self._take()
        parts = []
        while not self._is(closing):
            if flags is not None:
                flags.append(self._take().start if self._is("?") else None)
            parts.append(self.expression())
            if not self._is(closing):
                self._want(",")
        return parts, self._want(closing).end

    def _peek(self) -> Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _is(self, *texts: str) -> bool:
        token = self._peek()
        return token is not None and token.kind in ("sign", "word") and token.text in texts

    def _take(self, kind: str | None = None) -> Token:
        token = self._peek()
        if token is None or (kind and token.kind != kind):
            self._fail()
        self._at += 1
        return self._tokens[self._at - 1]

    def _want(self, text: str) -> Token:
        if not self._is(text):
            self._fail()
        return self._take()

    def _fail(self) -> NoReturn:
        token = self._peek()
        message = f"not understood at {token.start}: {token.text}" if token else "the expression ends too early"
        raise SyntaxFaultError(message)
