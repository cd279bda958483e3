"""What the environment hands over to a tenant's stack: read, and compared, before anything else is registered."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pulumi

from manifests.common import HANDOVER
from settings.digest import digest
from settings.environment import HcloudLocation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from settings.stack import TenantSettings

DIRECT = ("proxmox-vm", "hcloud-server")
"""Backends whose machines the program makes itself, with the tenant's own tokens."""


class _SecretRead(pulumi.CustomResource):
    """A Secret that is only read. The SDK's typed class would cost half a second of imports for this one call."""

    data: pulumi.Output[dict[str, str] | None]

    def __init__(self, name: str, place: str, provider: pulumi.ProviderResource) -> None:
        opts = pulumi.ResourceOptions(id=place, provider=provider, additional_secret_outputs=["data"])
        super().__init__("kubernetes:core/v1:Secret", name, {"data": None}, opts)


class Handover:
    """The handover Secret's values, decoded. They are plain here: wrap what is secret before it goes anywhere."""

    def __init__(self, environment: str, data: Mapping[str, str]) -> None:
        """Decode the Secret's `data`."""
        self._environment = environment
        self._values = {key: base64.b64decode(value).decode() for key, value in data.items()}

    def __getitem__(self, key: str) -> str:
        """Give one value, or stop with what to do about its absence."""
        self.require([key])
        return self._values[key]

    def require(self, keys: Iterable[str]) -> None:
        """Stop where one of these is not there, with what to do about it."""
        missing = sorted(set(keys) - self._values.keys())
        if missing:
            message = f"the handover has no {', '.join(missing)}; run `pulumi up -s {self._environment}` first"
            raise pulumi.RunError(message)


def direct_locations(settings: TenantSettings) -> list[str]:
    """Name the locations in which the tenant's stack makes machines itself, sorted."""
    return sorted(
        {
            settings.location_of(cluster, pool)
            for cluster, chosen in settings.clusters.items()
            for pool, spec in chosen.pools.items()
            if spec.backend in DIRECT
        }
    )


async def read_handover(settings: TenantSettings, provider: pulumi.ProviderResource) -> Handover:
    """Read the tenant's handover and compare its digest with the environment file that this run has read.

    A missing one stops in the engine, so the read's own name says what to do. A differing digest is a warning at
    preview and the end of an `up`: the environment file has changed and nobody has run the environment since.
    """
    environment = settings.environment_name
    name, place = f"run-pulumi-up-of-{environment}-first", f"{settings.namespace}/{HANDOVER}"
    data = await _SecretRead(name, place, provider).data.future()
    handover = Handover(environment, data or {})
    if handover["digest"] != digest(settings.environment, settings.tenant):
        message = (
            f"the environment file of `{environment}` says other things about tenant `{settings.tenant}` than the last "
            f"`pulumi up` of it did; run `pulumi up -s {environment}` first"
        )
        if not pulumi.runtime.is_dry_run():
            raise pulumi.RunError(message)
        pulumi.warn(message)
    handover.require(_needed(settings))
    return handover


def _needed(settings: TenantSettings) -> Iterator[str]:
    for name in direct_locations(settings):
        yield f"{name}.token"
        if isinstance(settings.environment.locations[name], HcloudLocation):
            yield f"{name}.subnet"
