"""A stack's Kubernetes objects as files, one each, without a cluster and without credentials."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from manifests.environment import environment
from manifests.identity import value_keys
from manifests.output import FOLDER
from manifests.tenant import tenant
from manifests.text import yaml_text
from settings.stack import EnvironmentSettings

if TYPE_CHECKING:
    from pathlib import Path

    from manifests.manifest import Manifest
    from settings.stack import TenantSettings

CLUSTER_SCOPED = "_cluster"
_HEADER = "# Rendered from stack "
_FILE = re.compile(r"[^/]+/[a-z]+\.[a-z0-9][a-z0-9.-]*\.yaml")

_MEANINGS = {
    "token": "token",
    "tokenId": "token's id",
    "tokenSecret": "token's secret",
    "network": "network's id",
    "subnet": "subnet's id",
}


class NotOurFolder(Exception):  # noqa: N818 - what is wrong is that it is not ours
    """A folder that holds something else than rendered files, and so is not emptied."""


def placeholders(settings: EnvironmentSettings) -> dict[str, dict[str, str]]:
    """Give, by tenant, a text that names itself for each value that only a cluster or the infrastructure knows."""
    return {
        name: {key: _placeholder(settings, name, key) for key in value_keys(settings, name)}
        for name in settings.environment.tenants
    }


def _placeholder(settings: EnvironmentSettings, tenant_name: str, key: str) -> str:
    if key == "serviceaccount.uid":
        namespace = settings.environment.tenants[tenant_name].namespace
        return f"<set by pulumi up: uid of ServiceAccount hybrid in {namespace}>"
    kind, location, value = key.split(".")
    where = "Proxmox" if kind == "pve" else "Hetzner Cloud"
    return f"<set by pulumi up: {where} {_MEANINGS[value]} of {tenant_name} in {location}>"


def manifests(settings: EnvironmentSettings | TenantSettings) -> list[Manifest]:
    """Give a stack's objects, with placeholders for what is not known without a cluster."""
    if isinstance(settings, EnvironmentSettings):
        return environment(settings, placeholders(settings))
    return tenant(settings)


def files(stack: str, objects: list[Manifest]) -> dict[str, str]:
    """Give the text of each file by its path below the folder: "<namespace or _cluster>/<kind>.<name>.yaml"."""
    return {
        _path(item.body): f"{_HEADER}{stack}; `pulumi up` is what applies it.\n{yaml_text(item.body)}"
        for item in objects
    }


def _path(body: dict[str, Any]) -> str:
    meta = body["metadata"]
    return f"{meta.get('namespace', CLUSTER_SCOPED)}/{body['kind'].lower()}.{meta['name']}.yaml"


@dataclass(frozen=True)
class Kind:
    """How files of one kind of output are known: their paths below the folder, and how their text begins."""

    paths: re.Pattern[str]
    headers: tuple[str, ...]

    def rendered(self, target: Path, file: Path) -> bool:
        """Tell whether a file below `target` was written by us."""
        path = file.relative_to(target).as_posix()
        if file.is_symlink() or not file.is_file() or not self.paths.fullmatch(path):
            return False
        with file.open("rb") as opened:
            return opened.read(max(map(len, self.headers))).startswith(tuple(each.encode() for each in self.headers))


OBJECTS = Kind(_FILE, (_HEADER,))


def write(target: Path, texts: dict[str, str], kind: Kind = OBJECTS) -> None:
    """Write files below `target`, which is made, or emptied when it holds nothing but earlier output of that kind.

    Raises NotOurFolder, and changes nothing, when it holds anything else.
    """
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        message = f"OUT={target} is not a folder; name {FOLDER}"
        raise NotOurFolder(message)
    entries = sorted(target.iterdir()) if target.exists() else []
    for entry in entries:
        _check(target, entry, kind)
    for entry in entries:
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    for path, text in sorted(texts.items()):
        file = target / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    target.mkdir(parents=True, exist_ok=True)


def _check(target: Path, entry: Path, kind: Kind) -> None:
    if entry.is_dir() and not entry.is_symlink():
        for below in sorted(entry.iterdir()):
            _check(target, below, kind)
    elif not kind.rendered(target, entry):
        message = f"{entry} was not rendered; name {FOLDER}"
        raise NotOurFolder(message)
