"""A private certificate authority for one test, made by openssl."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.conftest import REQUIRED

if TYPE_CHECKING:
    from pathlib import Path


class Authority(NamedTuple):
    """The authority's certificate as PEM, and the files of a server certificate for `localhost` that it signed."""

    pem: str
    certificate: Path
    key: Path


def authority(folder: Path) -> Authority:
    """Make an authority and a server certificate in a folder."""
    if shutil.which("openssl") is None:
        missing = "openssl, which makes the certificates, is not installed"
        # CI must run these tests; a user who only tries the project need not install it.
        (pytest.fail if os.environ.get(REQUIRED) else pytest.skip)(missing)
    folder.mkdir()

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    new_key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    openssl("req", "-x509", *new_key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", f"/CN={folder.name}")
    openssl("req", *new_key[:-2], "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost")
    (folder / "names").write_text("subjectAltName=DNS:localhost\n")
    signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names")
    openssl("x509", "-req", "-in", "server.csr", "-out", "server.pem", *signed)
    return Authority((folder / "ca.pem").read_text(), folder / "server.pem", folder / "server.key")
