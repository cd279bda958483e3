"""`FileLegacy`: ISO images, uploaded through the API to a storage.

As the real plugin was seen to do: another path or file name is another file (created first); a file replaced
under its own name deletes what was just uploaded; new bytes at the same path are never noticed; a local file that is
not there at a refresh plans a replacement.
"""

import hashlib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from lab.clouds.changes import Change
from lab.clouds.errors import CloudError
from lab.clouds.proxmox.api import ProxmoxApi
from lab.clouds.resource import Live, Properties, Resource
from lab.clouds.schema import Failure
from lab.clouds.state import state_name, write_atomically
from lab.clouds.values import UNKNOWN

_ENDINGS = (".iso", ".img")
SEEING = ("Datastore.Audit", "Datastore.AllocateSpace", "Datastore.Allocate")
"""Either is enough to list a storage's ISOs and to put any of them into a machine."""


class File(Resource):
    """A file on a storage."""

    type_name: ClassVar[str] = "proxmoxve:index/fileLegacy:FileLegacy"
    sdk_module: ClassVar[str] = "pulumi_proxmoxve"
    sdk_args: ClassVar[str] = "FileLegacyArgs"
    computed: ClassVar[tuple[str, ...]] = ("fileModificationDate", "fileName", "fileSize", "fileTag")
    replace_on: ClassVar[frozenset[str]] = frozenset(
        {"contentType", "datastoreId", "nodeName", "sourceFile", "sourceRaw"}
    )
    api: ProxmoxApi

    def check(self, inputs: Properties) -> Iterator[Failure]:
        """Refuse a file without exactly one source."""
        if ("sourceFile" in inputs) == ("sourceRaw" in inputs):
            yield Failure("sourceFile", 'please specify .* "source_file" or "source_raw" - either one is required')

    def changes(self, state: Properties, inputs: Properties, old_inputs: Properties) -> list[Change]:
        """Compare; a source that a refresh found changed (or gone) is one more change."""
        changes = super().changes(state, inputs, old_inputs)
        source = state.get("sourceFile")
        if isinstance(source, dict) and source.get("changed") and not _asked(inputs):
            changes.append(Change("sourceFile.changed", "update"))
        return changes

    def create(self, inputs: Properties) -> tuple[str, dict[str, Any]]:
        """Upload; an existing file of the name is overwritten unless `overwrite` is false."""
        if inputs.get("contentType", "iso") != "iso" or "sourceFile" not in inputs:
            message = "the lab's stand-in uploads ISO images from local files only; other contents need SSH to a node"
            raise CloudError(message)
        source = inputs["sourceFile"]
        path = Path(source["path"])
        name = source.get("fileName") or path.name
        content = _content(str(source["path"]))
        digest = hashlib.sha256(content).hexdigest()
        if source.get("checksum") and source["checksum"] != digest:
            message = f'the calculated SHA256 checksum "{digest}" does not match source checksum "{source["checksum"]}"'
            raise CloudError(message)
        storage = inputs["datastoreId"]
        identity = f"{storage}:iso/{name}"
        copy = Path(f"{state_name(self.api.endpoint)}.files", storage, name)
        with self.api.call("upload") as session:
            session.node(inputs["nodeName"])
            session.storage(storage, "iso")
            session.require(f"/storage/{storage}", "Datastore.AllocateTemplate")
            if not name.endswith(_ENDINGS):
                message = f"400 Parameter verification failed (filename: wrong file extension '{name}')"
                raise CloudError(message)
            if inputs.get("overwrite") is False and identity in session.state["files"]:
                message = f"file {identity} already exists"
                raise CloudError(message)
            write_atomically(self.api.folder / copy, content)
            session.state["files"][identity] = {
                "content": "iso",
                "size": len(content),
                "sha256": digest,
                "copy": str(copy),
                "time": datetime.now(UTC).isoformat(timespec="seconds"),
            }
        return identity, self._outputs(identity, inputs)

    def _outputs(self, identity: str, state: Properties) -> dict[str, Any]:
        with self.api.call("read") as session:
            entry = session.state["files"].get(identity, {})
        return {
            **state,
            "datastoreId": identity.partition(":")[0],
            "contentType": "iso",
            "fileName": identity.rpartition("/")[2],
            "fileSize": entry.get("size"),
            "fileModificationDate": entry.get("time"),
            "fileTag": entry.get("sha256", "")[:16],
        }

    def read(self, identity: str, state: Properties, inputs: Properties) -> Live | None:
        """Report the file on the storage. Its bytes are not compared, but a missing local source is noticed."""
        storage = identity.partition(":")[0]
        with self.api.call("read") as session:
            session.require(f"/storage/{storage}", *SEEING)
            if identity not in session.state["files"]:
                return None
        outputs = self._outputs(identity, state)
        source = outputs.get("sourceFile")
        if isinstance(source, dict):
            gone = not Path(str(source.get("path"))).exists()
            outputs["sourceFile"] = {**source, "changed": True} if gone else _unchanged(source)
        return self.found(identity, outputs, inputs)

    def update(
        self, identity: str, state: Properties, inputs: Properties, old_inputs: Properties, ignored: Iterable[str]
    ) -> dict[str, Any]:
        """Keep the plugin's own settings (timeouts, overwrite); everything else replaces."""
        del state, old_inputs, ignored
        return self._outputs(identity, inputs)

    def delete(self, identity: str, state: Properties) -> None:
        """Delete by name: a file that was uploaded over this one goes with it."""
        del state
        storage = identity.partition(":")[0]
        with self.api.call("delete_file") as session:
            if identity not in session.state["files"]:
                return
            session.require(f"/storage/{storage}", "Datastore.Allocate")
            entry = session.state["files"].pop(identity)
            (self.api.folder / entry["copy"]).unlink(missing_ok=True)


def _content(path: str) -> bytes:
    if path.startswith(("http://", "https://")):
        message = "the lab's stand-in downloads nothing: give a local file"
        raise CloudError(message)
    try:
        return Path(path).read_bytes()
    except OSError as error:
        message = f"failed to open file {path}: {error.strerror.lower() if error.strerror else error}"
        raise CloudError(message) from error


def _asked(inputs: Properties) -> bool:
    source = inputs.get("sourceFile")
    return source is UNKNOWN or (isinstance(source, dict) and bool(source.get("changed")))


def _unchanged(source: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in source.items() if key != "changed"}
