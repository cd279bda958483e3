from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from manifests.text import yaml_text

SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(10**9), 10**9),
    st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"], include_characters="\n\t")),
)
DATA = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text("abc.-/", min_size=1), inner, max_size=4)
    ),
)


@pytest.mark.parametrize(
    "word", ["no", "on", "1e3", "0o17", "12:30:45", "1.10", "0x1f", "~", "null", "true", "", " a", "a: b", "-"]
)
def test_text_stays_text_for_every_reader(word: str) -> None:
    text = yaml_text({"key": word})
    assert yaml.safe_load(text) == {"key": word}
    assert YAML(typ="safe", pure=True).load(text) == {"key": word}


@given(DATA)
def test_what_is_written_is_read_back_the_same(data: object) -> None:
    text = yaml_text({"data": data})
    assert yaml.safe_load(text) == {"data": data}
    assert YAML(typ="safe", pure=True).load(text) == {"data": data}


def test_a_value_in_two_places_is_written_twice() -> None:
    shared = {"cpu": "1"}
    assert "&" not in yaml_text({"a": shared, "b": shared})


def test_text_of_several_lines_is_a_block() -> None:
    assert yaml_text({"data": "a: 1\nb: 2\n"}) == "data: |\n  a: 1\n  b: 2\n"


def test_what_is_no_plain_data_is_an_error() -> None:
    with pytest.raises(TypeError, match="not plain data: None"):
        yaml_text({"key": None})
