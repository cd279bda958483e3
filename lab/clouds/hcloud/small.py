"""Placement groups, SSH keys and firewalls."""

import hashlib
from collections.abc import Iterable
from typing import Any, ClassVar

from lab.clouds.errors import CloudError
from lab.clouds.hcloud.api import Session
from lab.clouds.hcloud.base import HetznerResource
from lab.clouds.resource import Properties


class _Named(HetznerResource):
    """Something whose whole life is: make, rename or relabel, remove."""

    def create(self, inputs: Properties) -> tuple[str, dict[str, Any]]:
        """Make it."""
        wanted = self.wanted(inputs)
        with self.api.call(f"create_{self.what.replace(' ', '_')}") as session:
            session.free_name(self.kind, wanted["name"], self.what)
            self.before_create(session, wanted)
            identity = session.new_id()
            session.project[self.kind][identity] = self.entry(wanted)
            return identity, {**wanted, **self.outputs(session, identity, session.project[self.kind][identity])}

    def before_create(self, session: Session, wanted: Properties) -> None:
        """Refuse what the API refuses."""

    def entry(self, wanted: Properties) -> dict[str, Any]:
        """Return what the state keeps."""
        return dict(wanted)

    def update(
        self, identity: str, state: Properties, inputs: Properties, old_inputs: Properties, ignored: Iterable[str]
    ) -> dict[str, Any]:
        """Write the new values."""
        del old_inputs, ignored
        wanted = self.wanted(inputs)
        with self.api.call(f"update_{self.what.replace(' ', '_')}") as session:
            entry = session.get(self.kind, identity, self.what)
            session.free_name(self.kind, wanted["name"], self.what, besides=identity)
            entry.update(self.entry(wanted))
            return {**state, **wanted, **self.outputs(session, identity, entry)}


class PlacementGroup(_Named):
    """A placement group; the one type is `spread`."""

    type_name: ClassVar[str] = "hcloud:index/placementGroup:PlacementGroup"
    sdk_args: ClassVar[str] = "PlacementGroupArgs"
    kind: ClassVar[str] = "placement_groups"
    what: ClassVar[str] = "placement group"
    computed: ClassVar[tuple[str, ...]] = ("servers",)
    replace_on: ClassVar[frozenset[str]] = frozenset({"type"})
    delete_first: ClassVar[bool] = True

    def before_create(self, session: Session, wanted: Properties) -> None:
        """Refuse other types."""
        del session
        if wanted["type"] != "spread":
            message = f"invalid input in field 'type' (invalid_input): [type => [{wanted['type']} is not supported]]"
            raise CloudError(message)

    def outputs(self, session: Session, identity: str, entry: dict[str, Any]) -> dict[str, Any]:
        """Report the servers in it."""
        inside = [int(n) for n, s in session.project["servers"].items() if s.get("placementGroupId") == int(identity)]
        return {**entry, "servers": inside}

    def before_delete(self, session: Session, identity: str) -> None:
        """Refuse while servers are in it."""
        if any(each.get("placementGroupId") == int(identity) for each in session.project["servers"].values()):
            message = "placement group is still in use (resource_in_use)"
            raise CloudError(message)


class SshKey(_Named):
    """An SSH key. Another public key is created first, so a fixed name is refused."""

    type_name: ClassVar[str] = "hcloud:index/sshKey:SshKey"
    sdk_args: ClassVar[str] = "SshKeyArgs"
    kind: ClassVar[str] = "ssh_keys"
    what: ClassVar[str] = "SSH key"
    computed: ClassVar[tuple[str, ...]] = ("fingerprint",)
    replace_on: ClassVar[frozenset[str]] = frozenset({"publicKey"})

    def before_create(self, session: Session, wanted: Properties) -> None:
        """Refuse a key that the project has."""
        if any(
            each["publicKey"].strip() == wanted["publicKey"].strip() for each in session.project["ssh_keys"].values()
        ):
            message = "SSH key with the same fingerprint already exists (uniqueness_error)"
            raise CloudError(message)

    def entry(self, wanted: Properties) -> dict[str, Any]:
        """Keep the key with its fingerprint."""
        digest = hashlib.md5(wanted["publicKey"].encode(), usedforsecurity=False).hexdigest()
        pairs = [digest[index : index + 2] for index in range(0, len(digest), 2)]
        return {**wanted, "fingerprint": ":".join(pairs)}


class Firewall(_Named):
    """A firewall; servers name it by id."""

    type_name: ClassVar[str] = "hcloud:index/firewall:Firewall"
    sdk_args: ClassVar[str] = "FirewallArgs"
    kind: ClassVar[str] = "firewalls"
    what: ClassVar[str] = "firewall"

    def wanted(self, inputs: Properties) -> dict[str, Any]:
        """Rules that are not given are none."""
        return {"rules": [], **super().wanted(inputs)}

    def before_delete(self, session: Session, identity: str) -> None:
        """Refuse while servers use it."""
        if any(int(identity) in (each.get("firewallIds") or []) for each in session.project["servers"].values()):
            message = f"firewall with ID '{identity}' is still in use (resource_in_use)"
            raise CloudError(message)
