"""What all Hetzner resource types share: automatic names, labels, and the plain life of a named thing."""

import hashlib
from collections.abc import Iterator
from typing import Any, ClassVar

from lab.clouds.errors import CloudError
from lab.clouds.hcloud.api import HetznerApi, Session, check_labels
from lab.clouds.resource import Live, Properties, Resource
from lab.clouds.schema import Failure

_RANDOM_LETTERS = 7


class HetznerResource(Resource):
    """A resource type of the hcloud plugin."""

    sdk_module: ClassVar[str] = "pulumi_hcloud"
    whole: ClassVar[frozenset[str]] = frozenset({"labels"})
    # The state's collection, and the word that messages use.
    kind: ClassVar[str]
    what: ClassVar[str]
    api: HetznerApi

    def complete(self, name: str, inputs: Properties, old: Properties, seed: bytes) -> dict[str, Any]:
        """Name what has no name after its logical name and some random letters, once."""
        if "name" in inputs or not any(field.name == "name" for field in self.fields()):
            return dict(inputs)
        letters = hashlib.sha256(seed).hexdigest()[:_RANDOM_LETTERS]
        return {**inputs, "name": old.get("name") or f"{name}-{letters}"}

    def check(self, inputs: Properties) -> Iterator[Failure]:
        """Refuse badly formed labels."""
        yield from check_labels(inputs.get("labels"))

    def wanted(self, inputs: Properties) -> dict[str, Any]:
        """Labels that are not given are none."""
        if any(field.name == "labels" for field in self.fields()):
            return {"labels": {}, **inputs}
        return dict(inputs)

    def read(self, identity: str, state: Properties, inputs: Properties) -> Live | None:
        """Report what is really there."""
        with self.api.call(f"get_{self.kind}") as session:
            entry = session.project[self.kind].get(identity)
            if entry is None:
                return None
            outputs = {**state, **self.outputs(session, identity, entry)}
        return self.found(identity, outputs, inputs)

    def outputs(self, session: Session, identity: str, entry: dict[str, Any]) -> dict[str, Any]:
        """Return the live outputs of an entry of the state."""
        del session, identity
        return dict(entry)

    def delete(self, identity: str, state: Properties) -> None:
        """Remove it."""
        del state
        with self.api.call(f"delete_{self.what.replace(' ', '_')}") as session:
            entry = session.project[self.kind].get(identity)
            if entry is None:
                return
            if entry.get("deleteProtection"):
                message = f"{self.what} deletion is protected (protected)"
                raise CloudError(message)
            self.before_delete(session, identity)
            del session.project[self.kind][identity]

    def before_delete(self, session: Session, identity: str) -> None:
        """Refuse to delete what is in use."""
