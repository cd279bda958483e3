"""The lab's tools in pinned versions: found where they are installed, else built from pinned Go modules.

`tool("etcd")` gives a file, `search_path()` the folders to put before `PATH`, `build()` makes them available. On the
command line: `python -m lab.toolchain build [--jobs N] [TOOL ...]`, `… path [TOOL]`, `… status`.
"""

from lab.toolchain.builder import BuildError, build
from lab.toolchain.golang import GoError
from lab.toolchain.locate import Tool, ToolMissingError, cache, find, search_path, tool
from lab.toolchain.parts import LAB, PARTS, Part

__all__ = [
    "LAB",
    "PARTS",
    "BuildError",
    "GoError",
    "Part",
    "Tool",
    "ToolMissingError",
    "build",
    "cache",
    "find",
    "search_path",
    "tool",
]
