"""The one way in which a Kubernetes object is registered."""

from __future__ import annotations

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
    """

    def __init__(self, provider: kubernetes.Provider) -> None:
        """Begin with nothing registered."""
        self._provider = provider
        self._registered: dict[str, pulumi.Resource] = {}

    def register(self, manifest: Manifest, parent: pulumi.Resource, *, protect: bool = False) -> pulumi.CustomResource:
        """Register one object below `parent`; what it comes after must be registered before it, or live elsewhere."""
        body = manifest.body
        api_version, kind = body["apiVersion"], body["kind"]
        secret = kind == "Secret"
        props = {key: pulumi.Output.secret(value) if key == "stringData" else value for key, value in body.items()}
        resource = pulumi.CustomResource(
            _token(api_version, kind),
            manifest.name,
            props,
            pulumi.ResourceOptions(
                parent=parent,
                provider=self._provider,
                depends_on=[self._registered[name] for name in manifest.after if name in self._registered],
                aliases=[
                    pulumi.Alias(type_=_token(other, kind))
                    for other in API_VERSIONS.get(kind, ())
                    if other != api_version
                ],
                protect=protect,
                additional_secret_outputs=["data", "stringData"] if secret else None,
                custom_timeouts=pulumi.CustomTimeouts(delete="60m") if kind in OWNS_MACHINES else None,
            ),
        )
        self._registered[manifest.name] = resource
        return resource

    def register_all(
        self, manifests: Iterable[Manifest], parent: pulumi.Resource, *, protect: Iterable[str] = ()
    ) -> list[pulumi.CustomResource]:
        """Register objects in the order given; those of a kind in `protect` can not be deleted by the engine."""
        kinds = set(protect)
        return [self.register(item, parent, protect=item.body["kind"] in kinds) for item in manifests]


def _token(api_version: str, kind: str) -> str:
    group = api_version if "/" in api_version else f"core/{api_version}"
    return f"kubernetes:{group}:{kind}"


def metadata(resource: pulumi.CustomResource) -> pulumi.Output[dict[str, Any]]:
    """Give what the API server made of an object's metadata (its `uid`, for one)."""
    found: pulumi.Output[dict[str, Any]] = resource.__dict__["metadata"]
    return found
