"""NetworkZone: one bridge name and its table of networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

from manifests.zone import zone

if TYPE_CHECKING:
    from collections.abc import Container

    from components.objects import Objects
    from settings.stack import EnvironmentSettings

PROTECTED = ("ProxmoxNetworkZone", "ValidatingAdmissionPolicyBinding")


class NetworkZone(pulumi.ComponentResource):
    """A zone's object, its address pools in the tenants' namespaces, and its bindings.

    Inputs: the environment's settings and the zone's name, which is the component's. Outputs: `bridge` and `vlans`
    (network → VLAN). Zone and bindings are protected from deletion where the environment says so.
    """

    TYPE = "hybrid:index:NetworkZone"

    def __init__(
        self,
        name: str,
        settings: EnvironmentSettings,
        objects: Objects,
        opts: pulumi.ResourceOptions | None = None,
        *,
        draining: Container[str] = (),
    ) -> None:
        """Register the zone's objects in the order that admission needs; pools of rows in `draining` in any case."""
        super().__init__(self.TYPE, name, None, opts)
        protected = PROTECTED if settings.environment.management.protect else ()
        objects.register_all(zone(settings.environment, name, draining), self, protect=protected)
        self.bridge = settings.environment.zones[name].bridge
        self.vlans = {row.name: row.vlan for row in settings.rows.values() if row.zone == name}
        self.register_outputs({"bridge": self.bridge, "vlans": self.vlans})
