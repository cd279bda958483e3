"""The Secrets by which a tenant has its infrastructure tokens, read back with an administrator's rights."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from manifests.common import HANDOVER, pve_secret
from settings.environment import ProxmoxLocation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from operations.api import Api
    from settings.stack import EnvironmentSettings


@dataclass(frozen=True)
class HandedOver:
    """What a tenant was given: the handover's values, and those of `pve-<location>` by location; empty where absent."""

    handover: Mapping[str, str] = field(default_factory=dict, repr=False)
    pve: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)


def handed_over(api: Api, settings: EnvironmentSettings) -> dict[str, HandedOver]:
    """Read every tenant's, by tenant; raises UnreadableError where they can not be read."""
    found = {}
    for name, tenant in sorted(settings.environment.tenants.items()):
        pve = {
            location: _read(api, tenant.namespace, pve_secret(location))
            for location, chosen in sorted(settings.environment.locations.items())
            if isinstance(chosen, ProxmoxLocation) and name in chosen.tenants
        }
        found[name] = HandedOver(_read(api, tenant.namespace, HANDOVER), pve)
    return found


def _read(api: Api, namespace: str, name: str) -> dict[str, str]:
    secret = api.read(f"/api/v1/namespaces/{namespace}/secrets/{name}") or {}
    return {key: base64.b64decode(value).decode(errors="replace") for key, value in (secret.get("data") or {}).items()}
