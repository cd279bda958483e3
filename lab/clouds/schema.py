"""What the installed SDK says that a resource takes, and the check of inputs against it.

The allowed names and types are read from the SDK's own input classes, nothing is copied by hand, so an SDK update
changes what the stand-ins accept.
"""

import collections.abc
import importlib
import inspect
import json
import re
import typing
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from pulumi import _types  # the SDK's own reading of its input classes; it has no public name

from lab.clouds.values import UNKNOWN

_WORDS: dict[type, str] = {str: "string", bool: "boolean", int: "number", float: "number", list: "array"}


class Failure(NamedTuple):
    """One refused input: its path in Pulumi's spelling and the reason."""

    path: str
    reason: str


class Field(NamedTuple):
    """One input of a class."""

    name: str
    required: bool
    type: Any


@lru_cache
def fields(module: str, name: str) -> tuple[Field, ...]:
    """Return the inputs of one of the SDK's input classes, in its order."""
    return class_fields(getattr(importlib.import_module(module), name))


@lru_cache
def class_fields(cls: type) -> tuple[Field, ...]:
    """Return the inputs of an input class."""
    names = _types.input_type_py_to_pulumi_names(cls)
    types = _types.input_type_types(cls)
    parameters = inspect.signature(cls.__init__).parameters  # type: ignore[misc]  # reading it off a class is the point
    return tuple(
        Field(names[python], parameter.default is inspect.Parameter.empty, types[names[python]])
        for python, parameter in parameters.items()
        if python in names
    )


@lru_cache
def function_fields(module: str, name: str) -> tuple[Field, ...]:
    """Return the arguments of one of the SDK's functions (such as `get_image`)."""
    signature = inspect.signature(getattr(importlib.import_module(module), name))
    return tuple(
        Field(_camel(python), False, _unwrap(parameter.annotation))  # noqa: FBT003 - the tuple's own second field
        for python, parameter in signature.parameters.items()
        if python != "opts"
    )


def _camel(python: str) -> str:
    return re.sub(r"_([a-z])", lambda match: match.group(1).upper(), python)


def check(known: tuple[Field, ...], inputs: Mapping[str, Any], path: str = "") -> Iterator[Failure]:
    """Yield every unknown, missing or mistyped input. A value that is not known yet is never refused."""
    names = {field.name: field for field in known}
    for key in inputs:
        if key not in names and not key.startswith("__"):
            hint = _closest(key, names)
            yield Failure(_join(path, key), f"Invalid or unknown key{hint}")
    for field in known:
        if field.name in inputs:
            yield from check_value(field.type, inputs[field.name], _join(path, field.name))
        elif field.required:
            yield Failure(
                _join(path, field.name),
                f'Missing required argument. The argument "{field.name}" is required, but no definition was found.',
            )


def _closest(key: str, names: Mapping[str, Field]) -> str:
    plain = key.replace("_", "").lower()
    for name in names:
        if name.lower() == plain:
            return f" (did you mean {name}?)"
    return ""


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def check_value(declared: Any, value: Any, path: str) -> Iterator[Failure]:
    """Yield what is wrong with one value and everything inside it."""
    if value is UNKNOWN:
        return
    wanted = _unwrap(declared)
    origin = typing.get_origin(wanted)
    if origin in {collections.abc.Sequence, list}:
        yield from _check_each(typing.get_args(wanted)[0], value, path)
    elif origin in {collections.abc.Mapping, dict}:
        yield from _check_map(typing.get_args(wanted)[1], value, path)
    elif isinstance(wanted, type) and _types.is_input_type(wanted):
        if isinstance(value, Mapping):
            yield from check(class_fields(wanted), value, path)
        else:
            yield _mistyped(path, "object", value)
    elif not _fits(wanted, value):
        yield _mistyped(path, _WORDS[wanted], value)


def _check_each(inner: Any, value: Any, path: str) -> Iterator[Failure]:
    if not isinstance(value, list):
        yield _mistyped(path, "array", value)
        return
    for index, item in enumerate(value):
        yield from check_value(inner, item, f"{path}[{index}]")


def _check_map(inner: Any, value: Any, path: str) -> Iterator[Failure]:
    if not isinstance(value, Mapping):
        yield _mistyped(path, "object", value)
        return
    for key, item in value.items():
        yield from check_value(inner, item, _join(path, key))


def _fits(wanted: Any, value: Any) -> bool:
    if wanted is bool:
        return isinstance(value, bool)
    if wanted is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if wanted is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if wanted is str:
        return isinstance(value, str)
    return True


def _mistyped(path: str, wanted: str, value: Any) -> Failure:
    got = _WORDS.get(type(value), "object")
    return Failure(path, f"expected {wanted} type, got {got} type")


def _unwrap(declared: Any) -> Any:
    """Return the plain type inside `Input[…]` and `Optional[…]`."""
    while typing.get_origin(declared) is typing.Union:
        inner = [
            argument
            for argument in typing.get_args(declared)
            if argument is not type(None)
            and typing.get_origin(argument) is not collections.abc.Awaitable
            and not _is_output(argument)
        ]
        declared = inner[0]
    return declared


def _is_output(argument: Any) -> bool:
    return getattr(typing.get_origin(argument), "__name__", "") == "Output"


def decode_configuration(known: tuple[Field, ...], inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return a provider's configuration with what SDKs send as JSON text (all but strings) decoded."""
    types = {field.name: _unwrap(field.type) for field in known}
    return {
        key: json.loads(value) if isinstance(value, str) and key in types and types[key] is not str else value
        for key, value in inputs.items()
    }
