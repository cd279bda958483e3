"""The stacks in `stacks/`: which there are, and the copy of the project in which the lab runs them."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML

from settings.load import load
from settings.stack import EnvironmentSettings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lab.layout import Layout

COPIED = (
    "Makefile",
    "Pulumi.yaml",
    "__main__.py",
    "components",
    "manifests",
    "operations",
    "policy",
    "requirements-dev.txt",
    "requirements.txt",
    "settings",
    "stacks",
)
SECRETS = ("encryptionsalt", "encryptedkey", "secretsprovider")


def stack_names(stacks: Path) -> list[str]:
    """List the stacks that have a file, environments before their tenants."""
    names = [path.name.removeprefix("Pulumi.").removesuffix(".yaml") for path in stacks.glob("Pulumi.*.yaml")]
    return sorted(names, key=lambda name: ("-" in name, name))


def environments(stacks: Path) -> dict[str, EnvironmentSettings]:
    """Load every environment file; raises SettingsError where one is refused."""
    found: dict[str, EnvironmentSettings] = {}
    for name in stack_names(stacks):
        if "-" not in name:
            settings = load(name, stacks)
            if isinstance(settings, EnvironmentSettings):
                found[name] = settings
    return found


def copy_project(layout: Layout) -> None:
    """Copy the program afresh, but keep what the lab has added to the copy's stack files: salts and secrets."""
    kept = {path.name: secrets_in(path) for path in (layout.project / "stacks").glob("Pulumi.*.yaml")}
    for name in COPIED:
        source, target = layout.root / name, layout.project / name
        if not source.exists():
            continue
        if target.is_dir():
            shutil.rmtree(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, target)
    venv = layout.project / ".venv"
    if not venv.is_symlink():
        venv.symlink_to(layout.root / ".venv")
    for name, secrets in kept.items():
        path = layout.project / "stacks" / name
        if path.exists() and secrets:
            add_secrets(path, secrets)


def add_secrets(path: Path, secrets: Mapping[str, Any]) -> None:
    """Put salts and `hybrid:credentials` back into a stack file, keeping everything else as it is written."""
    yaml = YAML()
    yaml.width = 4096
    document = yaml.load(path)
    for key, value in secrets.items():
        if key == "hybrid:credentials":
            document.setdefault("config", {})[key] = value
        else:
            document[key] = value
    yaml.dump(document, path)


def secrets_in(path: Path) -> dict[str, Any]:
    """Give a stack file's salts and encrypted credentials."""
    document = YAML(typ="safe", pure=True).load(path) or {}
    found = {key: document[key] for key in SECRETS if key in document}
    credentials = (document.get("config") or {}).get("hybrid:credentials")
    return {**found, **({"hybrid:credentials": credentials} if credentials else {})}
