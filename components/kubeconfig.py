"""Whether the kubeconfig at hand is the one that a stack needs, asked before anything is registered."""

from __future__ import annotations

import os
from pathlib import Path

import pulumi
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError


def require_context(context: str, otherwise: str) -> None:
    """Stop with `otherwise` where no file of `KUBECONFIG` (default `~/.kube/config`) has a context of that name.

    Without it the provider would call the cluster unreachable, and the engine would advise to forget what is in it.
    """
    given = os.environ.get("KUBECONFIG") or str(Path.home() / ".kube" / "config")
    files = [Path(name) for name in given.split(os.pathsep) if name]
    if not any(context in _contexts(file) for file in files):
        message = f"{given} has no context {context}: {otherwise}"
        raise pulumi.RunError(message)


def _contexts(file: Path) -> set[str]:
    try:
        content = YAML(typ="safe", pure=True).load(file)
    except (OSError, YAMLError, UnicodeDecodeError):
        return set()
    entries = content.get("contexts") if isinstance(content, dict) else None
    return {str(entry.get("name")) for entry in entries or [] if isinstance(entry, dict)}
