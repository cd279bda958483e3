"""Plain data as YAML text, always the same for the same data."""

from __future__ import annotations

import re
from typing import Any

import yaml

_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./-]*")
"""What no YAML reader takes for anything but text; words like `no` are left to the library."""

_Base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # the C one where the library was built with it: 8 x faster


class _Dumper(_Base):  # type: ignore[misc]  # the base is chosen at run time
    """Writes text that YAML 1.1 and 1.2 readers could read differently (1e3, 0o17, 12:30) in quotes."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the library's signature
        """Never write an alias: the same dict in two places is two dicts."""
        return True


def _text(dumper: Any, value: str) -> Any:
    if "\n" in value:
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|")
    style = None if _PLAIN.fullmatch(value) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)


def yaml_text(data: Any) -> str:
    """Write data (dicts, lists, text, numbers, booleans) as block YAML, keys in their order."""
    text: str = yaml.dump(
        data, Dumper=_Dumper, sort_keys=False, default_flow_style=False, allow_unicode=True, width=1_000_000
    )
    return text
