"""The one way in which a Kubernetes object is registered."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pulumi

from manifests.generations import API_VERSIONS

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pulumi_kubernetes as kubernetes

    from manifests.manifest import Manifest

OWNS_MACHINES = ("Cluster", "MachineDeployment")
"""Kinds whose deletion waits for machines to drain and go."""


class Objects:
    """Registers manifests with one explicit provider, each after those that it says it comes after.

    Every object is a plain `kubernetes:<apiVersion>:<Kind>` resource under its manifest's own name, with an alias for
    each apiVersion that its kind has in any generation: without it a change of generation would create the object anew
    and then delete it from under itself.

    Components may register in any order: an object waits for one that another component registers later (a policy for
    the zones, a zone's binding for the policy). `close` at the end makes sure that none waits for ever.
    """

    def __init__(self, provider: kubernetes.Provider) -> None:
        """Begin with nothing registered."""
        self._provider = provider
        self._promises: dict[str, asyncio.Future[pulumi.Resource]] = {}

    def register(self, manifest: Manifest, parent: pulumi.Resource, *, protect: bool = False) -> pulumi.CustomResource:
        """Register one object below `parent`."""
        body = manifest.body
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
                depends_on=[self._promise(name) for name in manifest.after],
                aliases=[pulumi.Alias(type_=_token(other, kind)) for other in others],
                protect=protect,
                additional_secret_outputs=["data", "stringData"] if kind == "Secret" else None,
                custom_timeouts=pulumi.CustomTimeouts(delete="60m") if kind in OWNS_MACHINES else None,
            ),
        )
        self._promise(manifest.name).set_result(resource)
        return resource

    def register_all(
        self, manifests: Iterable[Manifest], parent: pulumi.Resource, *, protect: Iterable[str] = ()
    ) -> None:
        """Register objects below one parent; those of a kind in `protect` can not be deleted by the engine."""
        kinds = set(protect)
        for item in manifests:
            self.register(item, parent, protect=item.kind in kinds)

    def close(self) -> None:
        """Raise where an object waits for one that nobody registered."""
        missing = sorted(name for name, promise in self._promises.items() if not promise.done())
        if missing:
            for name in missing:
                self._promises[name].cancel()
            message = f"objects wait for others that are not in this program: {', '.join(missing)}"
            raise RuntimeError(message)

    def _promise(self, name: str) -> asyncio.Future[pulumi.Resource]:
        if name not in self._promises:
            self._promises[name] = asyncio.get_running_loop().create_future()
        return self._promises[name]


def _token(api_version: str, kind: str) -> str:
    group = api_version if "/" in api_version else f"core/{api_version}"
    return f"kubernetes:{group}:{kind}"


def metadata(resource: pulumi.CustomResource) -> pulumi.Output[dict[str, Any]]:
    """Give what the API server made of an object's metadata (its `uid`, for one)."""
    found: pulumi.Output[dict[str, Any]] = resource.__dict__["metadata"]
    return found
