"""The environment of what is started here: named variables only, so that nothing left in a job's own bends a run."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from ci.problems import CiError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_ALWAYS = ("LANG", "TMPDIR")
_ENGINE = (
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "KUBECONFIG",
    "NO_PROXY",
    "PULUMI_ACCESS_TOKEN",
    "PULUMI_BACKEND_URL",
    "PULUMI_CONFIG_PASSPHRASE",
    "PULUMI_CONFIG_PASSPHRASE_FILE",
    "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION",
    "PULUMI_HOME",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "https_proxy",
    "http_proxy",
    "no_proxy",
)
_NEVER = ("BASH_ENV", "GIT_", "HOME", "LD_", "NODE_", "PATH", "PIP_", "PULUMI_", "PYTHON", "VIRTUAL_ENV")
"""Beginnings of names that change which code runs, or whether the pack does; those of `_ENGINE` are known not to."""
_NEEDED = {
    "KUBECONFIG": "the kubeconfig that `make tenant-kubeconfig` wrote",
    "PULUMI_BACKEND_URL": "where the stacks' states are",
}


def plain(home: Path, given: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Give the environment of a child that needs no secret; `home` is an empty folder."""
    kept = {name: given[name] for name in _ALWAYS if name in given}
    # A relative entry of PATH would be looked up in the tree that is judged.
    path = os.pathsep.join(
        entry for entry in given.get("PATH", os.defpath).split(os.pathsep) if Path(entry).is_absolute()
    )
    return {**kept, "HOME": str(home), "PATH": path, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONNOUSERSITE": "1"}


def engine(
    stack: str, home: Path, *, given: Mapping[str, str] = os.environ, passed: Iterable[str] = ()
) -> dict[str, str]:
    """Give the environment of the engine for one stack; `passed` names what its backend or secrets provider needs.

    Raises CiError where something needed is not there, and where a tenant's job holds another identity than its own.
    """
    found = {name: given[name] for name in _ENGINE if given.get(name)}
    for name in passed:
        if _bends(name):
            message = f"{name} is never passed on: it could change which code runs"
            raise CiError(message)
        if name in given:
            found[name] = given[name]
    for name, what in _NEEDED.items():
        if name not in found:
            message = f"{name} is not set: {what}"
            raise CiError(message)
    for name in ("KUBECONFIG", "PULUMI_CONFIG_PASSPHRASE_FILE"):
        if name in found:  # a list of files, for an environment's KUBECONFIG
            found[name] = os.pathsep.join(str(Path(file).absolute()) for file in found[name].split(os.pathsep) if file)
    if "-" in stack:
        _only_its_own(stack, Path(found["KUBECONFIG"]))
    found.setdefault("PULUMI_HOME", str(Path.home() / ".pulumi"))  # the plugins' cache
    return {**plain(home, given), **found, "PULUMI_RUN_PROGRAM": "true", "PULUMI_SKIP_UPDATE_CHECK": "true"}


def read_file(file: Path) -> dict[str, str]:
    """Read lines `export NAME=value` as a shell would; it is read, never run. `:"$PATH"` at the end is this PATH."""
    try:
        lines = file.read_text().splitlines()
    except OSError as error:
        message = f"{file} can not be read ({error.strerror}): a stack's file there is named env-<stack>"
        raise CiError(message) from error
    except UnicodeDecodeError as error:
        message = f"{file} is not UTF-8"
        raise CiError(message) from error
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        try:
            words = shlex.split(line, comments=True)
        except ValueError as error:
            message = f"{file}, line {number}: a quote is not closed"
            raise CiError(message) from error
        if len(words) == 2 and words[0] == "export":  # noqa: PLR2004 - the word and NAME=value
            name, _, value = words[1].partition("=")
            found[name] = value.replace("$PATH", os.environ.get("PATH", os.defpath)) if name == "PATH" else value
    return {name: value for name, value in found.items() if name == "PATH" or not _bends(name)}


def _bends(name: str) -> bool:
    return name.startswith(_NEVER) and name not in _ENGINE


def _only_its_own(stack: str, kubeconfig: Path) -> None:
    """Demand a kubeconfig with the tenant's own context and one user: a job that holds another identity can use it."""
    try:
        content = YAML(typ="safe", pure=True).load(kubeconfig)
    except (OSError, YAMLError, ValueError):
        content = None
    contexts, users = _names(content, "contexts"), _names(content, "users")
    if contexts != [stack] or len(users) != 1:
        there = (
            f"has the contexts {', '.join(contexts)} and {len(users)} users"
            if contexts
            else "is no kubeconfig with a context"
        )
        message = (
            f"{kubeconfig} {there}: the job of {stack} holds that tenant's own identity and nothing else; "
            f"give it what `make tenant-kubeconfig STACK={stack} OUT=FILE` writes"
        )
        raise CiError(message)


def _names(kubeconfig: object, kind: str) -> list[str]:
    entries = kubeconfig.get(kind) if isinstance(kubeconfig, dict) else None
    return [str(entry.get("name")) for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
