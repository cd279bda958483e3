"""Where a lab's secrets can be read in the clear: each secret in every form, in every file and every output."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING
from urllib.parse import quote

from tests.manifests.live import until

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from tests.engine.harness import EngineLab

OWN_PLACES = (
    "credentials.json",
    "passphrases/",
    "kubeconfig",
    # What real clouds and a real cluster keep for themselves: etcd holds Secrets in the clear by nature.
    "clouds/",
    "cluster/etcd/",
    "cluster/apiserver/",
    "cluster/controller-manager/",
    # Programs.
    "bin/",
    "pulumi/plugins/",
    "stand-ins/",
)
"""What holds secrets because it is their place, below the lab's folder; all else is searched."""

LONG_ENOUGH = 16
"""Characters below which something would be found by chance."""


def secrets_of(lab: EngineLab) -> dict[str, str]:
    """Give every secret that the lab knows, by what it is: tokens, passphrases, keys, seeds."""
    home = lab.layout.home
    found: dict[str, str] = {}
    for place, tokens in json.loads((home / "credentials.json").read_text())["lab"].items():
        found |= {f"credentials of {place}/{key}": value for key, value in tokens.items()}
    for place in ("pve.lab", "pve.dc"):
        found |= {f"token {key} of {place}": entry["secret"] for key, entry in lab.cloud(place)["tokens"].items()}
    found |= {f"passphrase of {file.name}": file.read_text() for file in (home / "passphrases").iterdir()}
    for file in home.glob("kubeconfig*"):
        for user in json.loads(file.read_text())["users"]:
            found |= {f"{key} of {file.name}": value for key, value in user["user"].items() if value}
    for iso in lab.layout.clouds.rglob("*.iso"):
        found[f"seed {iso.name}"] = _user_data(iso.read_bytes())
    assert all(len(value) >= LONG_ENOUGH for value in found.values())
    return found


def _user_data(iso: bytes) -> str:
    start = iso.index(b"version: v1alpha1")
    return iso[start : iso.index(b"\0", start)].decode()


def forms(secret: str) -> Iterator[bytes]:
    """Give a secret as it is, as a part of JSON or of a URL, and as base64 wherever it begins in what is encoded."""
    values = [secret]
    if "=" in secret and "\n" not in secret:
        values.append(secret.rpartition("=")[2])  # of a Proxmox VE token, the part that is secret
    for value in values:
        if len(value) < LONG_ENOUGH:
            continue
        yield value.encode()
        yield json.dumps(value)[1:-1].encode()
        yield quote(value, safe="").encode()
        for shift in range(3):
            # The first and the last group also depend on what stands before and after.
            whole = base64.b64encode(b"\0" * shift + value.encode())[4 if shift else 0 : -4]
            yield whole
            yield whole.replace(b"+", b"-").replace(b"/", b"_")


def seeds_left(lab: EngineLab) -> list[Path]:
    """List the seeds in any copy of the project: they go a moment after the program that wrote them."""

    def left() -> list[Path]:
        return [file for file in lab.layout.home.rglob("*.iso") if ".build" in file.parts]

    found: list[Path] = until(left, lambda found: not found)
    return found


def leaks(lab: EngineLab, secrets: dict[str, str], *further: Path) -> list[str]:
    """Say which secret stands where; nothing of the secret itself."""
    wanted = {what: set(forms(secret)) for what, secret in secrets.items()}
    found = [f"a seed in {file}" for file in seeds_left(lab)]
    for where, content in (*_outputs(lab.said), *_files(lab.layout.home, OWN_PLACES), *_further(further)):
        found += [f"{what} in {where}" for what, known in wanted.items() if any(each in content for each in known)]
    return found


def _outputs(said: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    for index, text in enumerate(said):
        yield f"output {index}", text.encode()


def _further(folders: Iterable[Path]) -> Iterator[tuple[str, bytes]]:
    for folder in folders:
        yield from _files(folder, ())


def _files(folder: Path, left_out: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder).as_posix()
        if file.is_file() and not file.is_symlink() and not name.startswith(left_out):
            yield f"{folder.name}/{name}", file.read_bytes()
