"""A stand-in for the engine, which writes down where, how and with what it was started."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

ENGINE = """#!{python}
import json, os, pathlib, sys
tree = pathlib.Path.cwd()
files = {{
    str(path.relative_to(tree)): path.read_bytes().hex()
    for path in tree.rglob("*")
    if path.is_file() and not str(path.relative_to(tree)).startswith(".venv")
}}
words = sys.argv[1:]
seen = {{
    "words": words,
    "tree": str(tree),
    "files": files,
    "venv": os.readlink(".venv"),
    "environment": dict(os.environ),
    "passphrase": pathlib.Path(os.environ.get("PULUMI_CONFIG_PASSPHRASE_FILE", os.devnull)).read_text(),
    "config": json.loads(pathlib.Path(words[words.index("--policy-pack-config") + 1]).read_text()),
    "mode": oct(tree.parent.stat().st_mode & 0o777),
}}
out = pathlib.Path("{out}")
(out / f"seen-{{words[words.index('--stack') + 1]}}.json").write_text(json.dumps(seen))
print("the engine's words")
sys.exit({code})
"""


@dataclass
class Engine:
    """The stand-in."""

    folder: Path

    def fails(self, code: int) -> None:
        """End with this code from now on."""
        file = self.folder / "pulumi"
        file.write_text(ENGINE.format(python=sys.executable, out=self.folder, code=code))
        file.chmod(0o755)

    def seen(self, stack: str) -> dict[str, Any]:
        """Give what it saw when it ran for a stack."""
        found: dict[str, Any] = json.loads((self.folder / f"seen-{stack}.json").read_text())
        return found

    def runs(self) -> list[str]:
        """List the stacks for which it ran."""
        return sorted(file.name.removeprefix("seen-").removesuffix(".json") for file in self.folder.glob("seen-*"))


def one_users(*contexts: str) -> str:
    """Give the text of a kubeconfig with these contexts and one user."""
    return json.dumps({"contexts": [{"name": name} for name in contexts], "users": [{"name": "user"}]})
