"""The program of an environment stack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from components.isolation import Isolation
from components.location import Location
from components.management import management_provider
from components.network_zone import NetworkZone
from components.objects import Objects
from components.tenant_access import TenantAccess
from settings.credentials import check_credentials
from settings.problems import SettingsError

if TYPE_CHECKING:
    from components.guard import Guard
    from settings.stack import EnvironmentSettings


def environment(settings: EnvironmentSettings, credentials: Any, guard: Guard | None = None) -> dict[str, Any]:
    """Register everything that the platform owns; a tenant's handover comes last, when its networks are guarded.

    `credentials` is `hybrid:credentials`, decrypted and parsed. Raises SettingsError for what is wrong in it, before
    anything is registered. `guard` is what was read of the live cluster; without it nothing is waited for.
    """
    problems = check_credentials(settings.environment, credentials)
    if problems:
        raise SettingsError(settings.stack, problems)
    provider = management_provider(settings.environment.management.context, settings.stack)
    objects = Objects(provider, guard)
    names = sorted(settings.environment.locations)
    locations = {name: Location(name, settings, credentials.get(name, {})) for name in names}
    Isolation("isolation", settings, objects)
    for zone in sorted(settings.environment.zones):
        NetworkZone(zone, settings, objects, draining=guard.draining if guard else ())
    for tenant in sorted(settings.environment.tenants):
        values: dict[str, Any] = {}
        for location in locations.values():
            values.update(location.handover.get(tenant, {}))
        TenantAccess(tenant, settings, objects, values)
    objects.close()
    return {"tenants": {name: tenant.namespace for name, tenant in sorted(settings.environment.tenants.items())}}
