"""Write the executables through which the engine finds the stand-ins."""

import os
import shlex
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
PLUGINS = {"proxmoxve": "pulumi-resource-proxmoxve", "hcloud": "pulumi-resource-hcloud"}


def install(bin_dir: Path) -> list[Path]:
    """Write `pulumi-resource-proxmoxve` and `pulumi-resource-hcloud` into `bin_dir`; return their paths."""
    return [
        write_script(bin_dir / script, module="lab.clouds.plugin", arguments=[cloud])
        for cloud, script in PLUGINS.items()
    ]


def write_script(path: Path, *, module: str, arguments: list[str] | None = None) -> Path:
    """Write an executable that runs `main` of a module of this checkout with the interpreter that runs now.

    The checkout is named inside the script, not in the environment, so that nothing of it leaks into the programs
    that the script starts.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    code = f"import sys; sys.path.insert(0, {str(_ROOT)!r}); from {module} import main; main()"
    command = [sys.executable, "-P", "-c", code, *(arguments or [])]
    new = path.with_name(f".{path.name}.{os.getpid()}")
    new.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
    new.chmod(0o755)
    new.replace(path)
    return path
