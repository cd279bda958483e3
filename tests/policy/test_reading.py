"""The one function that looks at inputs, over the SDK's own proxies."""

from __future__ import annotations

from typing import Any

import pulumi
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pulumi_policy import proxy
from pulumi_policy.deserialize import deserialize_properties
from tenant_isolation.reading import ABSENT, UNKNOWN, read

from tests.policy.analyzer import secret

SENTINELS = [value for name, value in vars(proxy).items() if name.startswith("UNKNOWN_") and name.endswith("_VALUE")]


def proxied(props: dict[str, Any]) -> Any:
    return proxy.unknown_checking_proxy(deserialize_properties(props))


PROPS = proxied(
    {
        "text": "a",
        "null": None,
        "unknown": SENTINELS[0],
        "secret": secret("s"),
        "hidden": secret(SENTINELS[1]),
        "list": [1, None, SENTINELS[2], {"x": SENTINELS[3]}],
        "dict": {"a": {"b": [10.0]}, "none": None, "u": SENTINELS[4]},
    }
)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("text",), "a"),
        (("null",), ABSENT),
        (("missing",), ABSENT),
        (("missing", "deeper"), ABSENT),
        (("null", "deeper"), ABSENT),
        (("text", "deeper"), ABSENT),
        (("text", 0), ABSENT),
        (("unknown",), UNKNOWN),
        (("unknown", "deeper", 3), UNKNOWN),
        (("secret",), "s"),
        (("hidden",), UNKNOWN),
        (("list", 0), 1),
        (("list", 1), ABSENT),
        (("list", 2), UNKNOWN),
        (("list", 3, "x"), UNKNOWN),
        (("list", 9), ABSENT),
        (("list", "x"), ABSENT),
        (("list",), [1, ABSENT, UNKNOWN, {"x": UNKNOWN}]),
        (("dict", "a", "b", 0), 10.0),
        (("dict",), {"a": {"b": [10.0]}, "u": UNKNOWN}),
        (("__target",), UNKNOWN),
        (("dict", "__target"), UNKNOWN),
    ],
)
def test_a_path_gives_a_value_or_absent_or_unknown(path: tuple[str | int, ...], value: Any) -> None:
    assert read(PROPS, *path) == value


@pytest.mark.parametrize("sentinel", SENTINELS)
def test_every_kind_of_unknown_is_unknown(sentinel: str) -> None:
    assert len(SENTINELS) == 7
    assert read(proxied({"a": {"b": [sentinel]}}), "a", "b", 0) is UNKNOWN


def test_a_key_that_the_proxies_use_themselves_hides_nothing() -> None:
    props = proxied({"a": {"__target": {"b": SENTINELS[0]}, "c": 1}})
    assert read(props) == {"a": {"__target": UNKNOWN, "c": 1}}


def test_an_asset_is_an_opaque_value() -> None:
    sig = {"4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17", "text": "x"}
    assert isinstance(read(proxied({"a": sig}), "a"), pulumi.StringAsset)


LEAVES = st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=3) | st.sampled_from(SENTINELS)
TREES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner))


def plain(value: Any) -> Any:
    """Read a tree in the simplest way: as it is before it is wrapped."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items() if part is not None}
    if isinstance(value, list):
        return [plain(part) for part in value]
    return ABSENT if value is None else UNKNOWN if value in SENTINELS else value


@given(st.dictionaries(st.text(max_size=3), TREES, max_size=4))
def test_reading_never_raises_and_loses_nothing(tree: dict[str, Any]) -> None:
    assert read(proxied(tree)) == plain(tree)
