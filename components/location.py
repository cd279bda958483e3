"""Location: one place with one infrastructure API, and what each tenant gets there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pulumi
import pulumi_hcloud as hcloud
import pulumi_proxmoxve as proxmox
import pulumi_proxmoxve.user as proxmox_user

from settings.access import ROLES, Grant, grants, resource_pool, token_name
from settings.environment import HcloudLocation, ProxmoxLocation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from settings.stack import EnvironmentSettings

NETWORK_ZONES = {
    "fsn1": "eu-central",
    "nbg1": "eu-central",
    "hel1": "eu-central",
    "ash": "us-east",
    "hil": "us-west",
    "sin": "ap-southeast",
}
"""Hetzner Cloud location → network zone of its subnets."""


class Location(pulumi.ComponentResource):
    """One Proxmox VE endpoint, or Hetzner Cloud with one project per tenant.

    Inputs: the environment's settings, the location's name (the component's), and its credentials (`{token}` for
    Proxmox, `{<tenant>: token}` for Hetzner). In a Proxmox location each tenant gets a resource pool, a user with a
    privilege-separated token and exactly the ACL paths of `settings.access`; in Hetzner Cloud a network with a subnet
    in its own project.

    Outputs: `endpoint` (Proxmox), and in `handover[tenant]` the values that the tenant's identity carries
    (`manifests.identity`); secret ones stay secret.
    """

    TYPE = "hybrid:index:Location"

    def __init__(
        self,
        name: str,
        settings: EnvironmentSettings,
        credentials: Mapping[str, Any],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Register the provider, or providers, and every tenant's part."""
        super().__init__(self.TYPE, name, None, opts)
        self._name = name
        self._settings = settings
        self.handover: dict[str, dict[str, pulumi.Input[str]]] = {}
        location = settings.environment.locations[name]
        if isinstance(location, ProxmoxLocation):
            self._proxmox(location, credentials)
            self.register_outputs({"endpoint": location.endpoint})
        else:
            self._hcloud(location, credentials)
            self.register_outputs({"region": location.region})

    def _proxmox(self, location: ProxmoxLocation, credentials: Mapping[str, Any]) -> None:
        provider = proxmox.Provider(
            f"proxmox-{self._name}",
            endpoint=location.endpoint,
            api_token=pulumi.Output.secret(credentials["token"]),
            opts=pulumi.ResourceOptions(parent=self),
        )
        roles = {
            role: proxmox.RoleLegacy(
                f"{self._name}-{role}",
                role_id=f"hybrid-{self._settings.stack}-{role}",
                privileges=list(privileges),
                opts=pulumi.ResourceOptions(parent=self, provider=provider),
            )
            for role, privileges in ROLES.items()
        }
        for tenant in sorted(location.tenants):
            name = token_name(location.tenants[tenant].rotation)
            self.handover[tenant] = self._proxmox_tenant(tenant, name, provider, roles)

    def _proxmox_tenant(
        self, tenant: str, name: str, provider: proxmox.Provider, roles: Mapping[str, proxmox.RoleLegacy]
    ) -> dict[str, pulumi.Input[str]]:
        own = f"{self._name}-{tenant}"
        account = resource_pool(self._settings.stack, tenant)
        opts = pulumi.ResourceOptions(parent=self, provider=provider)
        user = proxmox.UserLegacy(
            f"{own}-user", user_id=f"{account}@pve", enabled=True, comment="holds the tenant's token", opts=opts
        )
        token = proxmox_user.Token(
            f"{own}-token", user_id=user.user_id, token_name=name, privileges_separation=True, opts=opts
        )
        acls: list[pulumi.Resource] = []
        for grant in grants(self._settings, self._name, tenant):
            # A separated token has what it and its user both have, so both get each role. The token's id is put
            # together of what is known at preview, so that the policy pack can judge who gets what.
            token_id = pulumi.Output.concat(token.user_id, "!", token.token_name)
            # A token's entries go with it: the engine deletes what a rotation has replaced all at once, and Proxmox VE
            # refuses to delete an entry of a token that is gone.
            with_token = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(deleted_with=token))
            for who, holder, how in (
                ("user", {"user_id": user.user_id}, opts),
                ("token", {"token_id": token_id}, with_token),
            ):
                acls.append(
                    proxmox.Acl(
                        f"{own}-{who}-{_slug(grant)}",
                        path=grant.path,
                        role_id=roles[grant.role].role_id,
                        propagate=False,
                        opts=how,
                        **holder,
                    )
                )
        # After the rights, so that it goes before them: a pool with machines in it can't be deleted, and a tenant who
        # was removed too early still has the rights to destroy them.
        pool = proxmox.PoolLegacy(
            f"{own}-pool",
            pool_id=account,
            comment="machines of this tenant",
            opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=acls)),
        )
        # The token is handed over once it can do its work: an Output that waits for the pool, and so for the ACLs.
        ready = pulumi.Output.all(token.value, pool.urn).apply(lambda known: str(known[0]))
        value: pulumi.Output[str] = pulumi.Output.secret(ready)
        return {
            f"pve.{self._name}.token": value,
            f"pve.{self._name}.tokenId": value.apply(lambda text: text.partition("=")[0]),
            f"pve.{self._name}.tokenSecret": value.apply(lambda text: text.partition("=")[2]),
        }

    def _hcloud(self, location: HcloudLocation, credentials: Mapping[str, Any]) -> None:
        for tenant, given in sorted(location.tenants.items()):
            own = f"{self._name}-{tenant}"
            token = pulumi.Output.secret(credentials[tenant])
            provider = hcloud.Provider(f"hcloud-{own}", token=token, opts=pulumi.ResourceOptions(parent=self))
            opts = pulumi.ResourceOptions(parent=self, provider=provider)
            network = hcloud.Network(
                f"{own}-network",
                # One project may hold the tenant's networks of several locations.
                name=f"{resource_pool(self._settings.stack, tenant)}-{self._name}",
                ip_range=str(given.cidr),
                labels={"environment": self._settings.stack, "tenant": tenant},
                opts=opts,
            )
            subnet = hcloud.NetworkSubnet(
                f"{own}-subnet",
                network_id=network.id.apply(int),
                type="cloud",
                network_zone=NETWORK_ZONES[location.region],
                ip_range=str(given.subnet),
                opts=opts,
            )
            self.handover[tenant] = {
                f"hcloud.{self._name}.token": token,
                f"hcloud.{self._name}.network": network.id,
                f"hcloud.{self._name}.subnet": subnet.id,
            }


def _slug(grant: Grant) -> str:
    return f"{grant.role}-{grant.path.strip('/').replace('/', '-')}"
