"""Isolation: the tables' CRDs and the admission policies of an environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

from manifests.isolation import isolation

if TYPE_CHECKING:
    from components.objects import Objects
    from settings.stack import EnvironmentSettings


PROTECTED = ("ProxmoxNetworkTable", "ValidatingAdmissionPolicyBinding")


class Isolation(pulumi.ComponentResource):
    """The guard of the management cluster's API, once per environment.

    Inputs: the environment's settings. Outputs: none. Its objects and those of the zones take turns, as each says what
    it comes after: the kind of the tables, the tables, the policies that read them, their bindings, and last the
    policy that opens the zones' bridges to tenants.
    """

    TYPE = "hybrid:index:Isolation"

    def __init__(
        self,
        name: str,
        settings: EnvironmentSettings,
        objects: Objects,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Register the CRDs, the table of all rows, the policies and the bindings that belong to no zone."""
        super().__init__(self.TYPE, name, None, opts)
        protected = PROTECTED if settings.environment.management.protect else ()
        objects.register_all(isolation(settings), self, protect=protected)
        self.register_outputs({})
