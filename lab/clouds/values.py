"""Values on the wire of a provider plugin: protobuf structs to plain Python and back."""

from collections.abc import Mapping
from typing import Any, Final, cast

from google.protobuf import json_format, struct_pb2

UNKNOWN_ON_THE_WIRE: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
_SIGNATURE: Final = "4dabf18193072939515e22adb298388d"
_SECRET: Final = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 - the protocol's mark of a secret, not a secret


class Unknown:
    """The one value that stands for "not known before `up`"."""

    def __repr__(self) -> str:
        """Name it for messages."""
        return "UNKNOWN"


UNKNOWN: Final = Unknown()


class Secret:
    """An output that the engine must keep encrypted."""

    def __init__(self, value: Any) -> None:
        """Take the plain value."""
        self.value = value


def from_wire(struct: struct_pb2.Struct) -> dict[str, Any]:
    """Return a property map as plain Python: whole numbers as int, unknowns as UNKNOWN, secrets unwrapped."""
    return cast("dict[str, Any]", _plain(json_format.MessageToDict(struct)))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        if value.get(_SIGNATURE) == _SECRET:
            return _plain(value.get("value"))
        return {key: _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return UNKNOWN if value == UNKNOWN_ON_THE_WIRE else value


def to_wire(properties: Mapping[str, Any]) -> struct_pb2.Struct:
    """Return plain Python as a property map; None is left out."""
    struct = struct_pb2.Struct()
    struct.update({key: _wired(value) for key, value in properties.items() if value is not None})
    return struct


def _wired(value: Any) -> Any:
    if value is UNKNOWN:
        return UNKNOWN_ON_THE_WIRE
    if isinstance(value, Secret):
        return {_SIGNATURE: _SECRET, "value": _wired(value.value)}
    if isinstance(value, Mapping):
        return {key: _wired(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_wired(item) for item in value]
    return value


def plain_secrets(value: Any) -> Any:
    """Return `value` with every Secret unwrapped."""
    if isinstance(value, Secret):
        return plain_secrets(value.value)
    if isinstance(value, Mapping):
        return {key: plain_secrets(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain_secrets(item) for item in value]
    return value


def has_unknown(value: Any) -> bool:
    """Tell whether anything inside `value` is not known yet."""
    if isinstance(value, Mapping):
        return any(has_unknown(item) for item in value.values())
    if isinstance(value, list):
        return any(has_unknown(item) for item in value)
    return value is UNKNOWN


def restrict(live: Any, shape: Any) -> Any:
    """Return the part of `live` that has the shape of earlier inputs: what a read reports as the inputs.

    Keys that the inputs did not have are left out; a list keeps its live length, so that what somebody added shows.
    """
    if isinstance(live, Mapping) and isinstance(shape, Mapping):
        return {key: restrict(live[key], shape[key]) for key in shape if key in live}
    if isinstance(live, list) and isinstance(shape, list):
        return [restrict(item, shape[index]) if index < len(shape) else item for index, item in enumerate(live)]
    return live
