"""TenantAccess: the identity under which a tenant's stack works, and the handover that it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pulumi

from components.objects import metadata
from manifests.identity import identity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from components.objects import Objects
    from settings.stack import EnvironmentSettings


class TenantAccess(pulumi.ComponentResource):
    """A tenant's ServiceAccount, its rights, its Secrets for Cluster API, and the handover Secret.

    Inputs: the environment's settings, the tenant's name (the component's), and the values of `Location.handover`.
    Outputs: `namespace`.
    """

    TYPE = "hybrid:index:TenantAccess"

    def __init__(
        self,
        name: str,
        settings: EnvironmentSettings,
        objects: Objects,
        values: Mapping[str, Any],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Register the objects; those that need the ServiceAccount's uid get it as an output."""
        super().__init__(self.TYPE, name, None, opts)
        deferred: tuple[pulumi.Output[str], Callable[[pulumi.Output[str]], None]] = pulumi.deferred_output()
        uid, resolve_uid = deferred
        for manifest in identity(settings, name, {**values, "serviceaccount.uid": uid}):
            resource = objects.register(manifest, self)
            if manifest.body["kind"] == "ServiceAccount":
                # Absent at the preview of an environment whose namespaces are not there yet.
                resolve_uid(metadata(resource).apply(lambda found: str(found.get("uid", ""))))
        self.namespace = settings.environment.tenants[name].namespace
        self.register_outputs({"namespace": self.namespace})
