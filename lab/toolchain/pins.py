"""What is pinned: versions, the Go release that they need, and the key of a build."""

from __future__ import annotations

import hashlib
import platform
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.toolchain.parts import Part

_GO_LINE = re.compile(r"^go\s+(\d+(?:\.\d+)*)\s*$", re.MULTILINE)
_REQUIRE_LINE = re.compile(r"^(?:require\s+|\s+)(\S+)\s+(v\S+)(?:\s*//.*)?$", re.MULTILINE)
BUILD_FLAGS = ("-trimpath", "-mod=readonly", "-buildvcs=false")


def required_version(go_mod: str, module: str) -> str:
    """Return the version (`v1.2.3`) that a `go.mod` text requires of `module`; `ValueError` if it requires none."""
    for found, version in _REQUIRE_LINE.findall(go_mod):
        if found == module:
            return str(version)
    message = f"go.mod does not require {module}"
    raise ValueError(message)


def go_release(go_mod: str) -> tuple[int, ...]:
    """Return the lowest Go release that a `go.mod` text allows, as numbers: (1, 26, 6)."""
    match = _GO_LINE.search(go_mod)
    if match is None:
        message = "go.mod has no go line"
        raise ValueError(message)
    return tuple(int(number) for number in match[1].split("."))


def version(part: Part) -> str:
    """Return the pinned version of a part, as the tool reports it and without `v`: `3.6.16`."""
    if part.version is not None:
        return part.version
    return required_version((part.folder / "go.mod").read_text(), part.module).removeprefix("v")


def linker_flags(part: Part) -> str:
    """Return the `-ldflags` value: no debug tables (half the size), and the variables that carry the version."""
    pinned = version(part)
    major, minor, *_ = pinned.split(".")
    values = (f"{name}={form.format(version=pinned, major=major, minor=minor)}" for name, form in part.variables)
    return " ".join(["-s", "-w", *(f"-X {value}" for value in values)])


def key(part: Part) -> str:
    """Return the name of a part's folder in the cache: any change of its pins, flags or platform changes it."""
    digest = hashlib.sha256()
    for name in ("go.mod", "go.sum", "main.go"):
        file = part.folder / name
        content = file.read_bytes() if file.exists() else b""
        digest.update(f"{name} {len(content)}\n".encode() + content)
    flags = [part.package, *BUILD_FLAGS, linker_flags(part), *part.assets, *filter(None, [part.go])]
    digest.update("\n".join(flags).encode())
    digest.update(f"{platform.system()} {platform.machine()}".encode())
    return f"{part.name}-{digest.hexdigest()[:16]}"


def says(output: str, pinned: str) -> bool:
    """Tell whether a tool's version output names exactly that version: `1.36.3-rc.1` and `1.36.31` are others."""
    return re.search(rf"(?<![\w.+-])v?{re.escape(pinned)}(?![\w+-]|\.\w)", output) is not None
