"""Which Python runs a program: the one of `options.virtualenv`, else the host's own."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path


class NoVirtualenvError(Exception):
    """`options.virtualenv` names a folder that holds no Python."""


def program_python(root: str, options: Mapping[str, object]) -> Path:
    """Return the interpreter for a program whose project (or pack) lies in `root`.

    `options` are the `runtime.options` of the project file; a relative `virtualenv` counts from `root`.

    Raises:
        NoVirtualenvError: the folder is not there or holds no `bin/python`.
    """
    virtualenv = options.get("virtualenv")
    if not virtualenv:
        return Path(sys.executable)
    folder = Path(root, str(virtualenv))
    python = folder / "bin" / "python"
    if not python.exists():
        message = (
            f"The 'virtualenv' option of the project file says {str(virtualenv)!r}, but {folder} holds no Python. "
            "Make it with: python3 -m venv and pip install -r requirements.txt (here: make setup)."
        )
        raise NoVirtualenvError(message)
    return python


def environment(python: Path, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment for a child of `python`, as an activated virtualenv would have it."""
    env = dict(os.environ if base is None else base)
    if python != Path(sys.executable):
        env["VIRTUAL_ENV"] = str(python.parent.parent)
        env["PATH"] = f"{python.parent}{os.pathsep}{env.get('PATH', os.defpath)}"
        env.pop("PYTHONHOME", None)
    return env
