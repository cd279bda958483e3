"""The one way in which a Kubernetes object is registered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pulumi

from manifests.generations import API_VERSIONS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from components.guard import Guard
    from manifests.manifest import Manifest

OWNS_MACHINES = ("Cluster", "MachineDeployment")
"""Kinds whose deletion waits for machines to drain and go."""


class Objects:
    """Registers manifests with one explicit provider, each after those that it says it comes after.

    Every object is a plain `kubernetes:<apiVersion>:<Kind>` resource under its manifest's own name, with an alias for
    each apiVersion that its kind has in any generation: without it a change of generation would create the object anew
    and then delete it from under itself.
    """

    def __init__(self, provider: pulumi.ProviderResource, guard: Guard | None = None) -> None:
        """Begin with nothing registered. `guard` keeps what was opened by hand and waits for what it changes."""
        self._provider = provider
        self._guard = guard
        self._registered: dict[str, pulumi.Resource] = {}
        self._waiting: list[tuple[Manifest, pulumi.Resource, bool]] = []

    def register(self, manifest: Manifest, parent: pulumi.Resource, *, protect: bool = False) -> pulumi.CustomResource:
        """Register one object below `parent`, then those that have waited for it.

        Raises RuntimeError where something that it comes after is not registered.
        """
        missing = self._missing(manifest)
        if missing:
            message = f"{manifest.name} comes after what is not in this program: {', '.join(missing)}"
            raise RuntimeError(message)
        resource = self._register(manifest, parent, protect=protect)
        self._release()
        return resource

    def register_all(
        self, manifests: Iterable[Manifest], parent: pulumi.Resource, *, protect: Iterable[str] = ()
    ) -> None:
        """Register objects below one parent; those of a kind in `protect` can not be deleted by the engine.

        Components may come in any order: an object is held back until all that it comes after are registered (a
        policy for the zones, a zone's binding for the policy). `close` at the end makes sure that none is left. It is
        the program that waits and not the engine, so that a program that fails half-way ends.
        """
        kinds = set(protect)
        self._waiting += [(manifest, parent, manifest.kind in kinds) for manifest in manifests]
        self._release()

    def close(self) -> None:
        """Raise RuntimeError where an object waits for one that nobody registered."""
        names = {manifest.name for manifest, _, _ in self._waiting}
        missing = {name for manifest, _, _ in self._waiting for name in self._missing(manifest)}
        if missing:
            message = (
                f"{', '.join(sorted(names))} come after what is not in this program: "
                f"{', '.join(sorted(missing - names or missing))}"
            )
            raise RuntimeError(message)

    def _register(self, manifest: Manifest, parent: pulumi.Resource, *, protect: bool) -> pulumi.CustomResource:
        body = self._guard.kept(manifest) if self._guard else manifest.body
        api_version, kind = body["apiVersion"], body["kind"]
        props = {key: pulumi.Output.secret(value) if key == "stringData" else value for key, value in body.items()}
        others = [other for other in API_VERSIONS.get(kind, ()) if other != api_version]
        resource = pulumi.CustomResource(
            _token(api_version, kind),
            manifest.name,
            props,
            pulumi.ResourceOptions(
                parent=parent,
                provider=self._provider,
                depends_on=[self._registered[name] for name in manifest.after],
                aliases=[pulumi.Alias(type_=_token(other, kind)) for other in others],
                protect=protect,
                additional_secret_outputs=["data", "stringData"] if kind == "Secret" else None,
                custom_timeouts=pulumi.CustomTimeouts(delete="60m") if kind in OWNS_MACHINES else None,
                hooks=self._guard.hooks(manifest) if self._guard else None,
            ),
        )
        self._registered[manifest.name] = resource
        return resource

    def _missing(self, manifest: Manifest) -> list[str]:
        return [name for name in manifest.after if name not in self._registered]

    def _release(self) -> None:
        ready = True
        while ready:
            ready = False
            self._waiting, held = [], self._waiting
            for manifest, parent, protect in held:
                if self._missing(manifest):
                    self._waiting.append((manifest, parent, protect))
                else:
                    self._register(manifest, parent, protect=protect)
                    ready = True


def _token(api_version: str, kind: str) -> str:
    group = api_version if "/" in api_version else f"core/{api_version}"
    return f"kubernetes:{group}:{kind}"


def metadata(resource: pulumi.CustomResource) -> pulumi.Output[dict[str, Any]]:
    """Give what the API server made of an object's metadata (its `uid`, for one)."""
    found: pulumi.Output[dict[str, Any]] = resource.__dict__["metadata"]
    return found
