"""Whether each tenant's Hetzner Cloud token is its own and sees its own project alone, asked with that token itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from operations.hetzner import ENDPOINT, Hetzner
from operations.https import RefusedError, UnansweredError
from settings.credentials import HCLOUD_TOKEN
from settings.environment import HcloudLocation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from operations.handed_over import HandedOver
    from operations.https import Servers
    from settings.stack import EnvironmentSettings

_RUN = "run `pulumi up` of the environment"

Line = tuple[str, Literal["ok", "WRONG", "not checked"], str]


def projects(settings: EnvironmentSettings, given: Mapping[str, HandedOver], servers: Servers) -> Iterator[Line]:
    """Judge each tenant's token in each Hetzner location."""
    places = [
        (name, tenant)
        for name, location in sorted(settings.environment.locations.items())
        if isinstance(location, HcloudLocation)
        for tenant in sorted(location.tenants)
    ]
    handed = {(name, tenant): given[tenant].handover for name, tenant in places}
    owners: dict[str, tuple[str, str]] = {}
    networks = {values.get(f"{name}.network", ""): tenant for (name, tenant), values in handed.items()}
    for (name, tenant), values in handed.items():
        row = f"{name}/{tenant}: the token sees its own project alone"
        token = values.get(f"{name}.token")
        if not token:
            yield row, "WRONG", f"not in the cluster: {_RUN}"
            continue
        if not HCLOUD_TOKEN.fullmatch(token):
            yield row, "WRONG", f"it has not the form of a token: {_RUN}"
            continue
        first = owners.setdefault(token, (name, tenant))
        if first[1] != tenant:
            yield row, "WRONG", f"it is the token of {first[0]}/{first[1]}: make a project and a token for each tenant"
            continue
        api = Hetzner(servers.at(ENDPOINT), token)
        try:
            seen = {"network": api.networks(), "server": api.servers()}
        except RefusedError:
            yield row, "WRONG", f"{ENDPOINT} refuses the token that the tenant has: set the project's, and {_RUN}"
            continue
        except UnansweredError as error:
            yield row, "not checked", f"{ENDPOINT}: {error}"
            continue
        yield _judged(settings, row, tenant, values.get(f"{name}.network", ""), networks, seen)


def _judged(  # noqa: PLR0913, PLR0917 - what is asked, of whom, and what was seen
    settings: EnvironmentSettings,
    row: str,
    tenant: str,
    own: str,
    networks: Mapping[str, str],
    seen: Mapping[str, list[dict[str, Any]]],
) -> Line:
    foreign = [
        f"{kind} {item.get('name')} of {owner}"
        for kind, items in seen.items()
        for item in items
        if (owner := _owner(settings, kind, item, networks)) not in (None, tenant)
    ]
    if foreign:
        return row, "WRONG", f"it sees {', '.join(foreign)}"
    ids = {str(item.get("id")) for item in seen["network"]}
    if own not in ids:
        return row, "WRONG", f"it does not see its own network {own}: it is the token of another project"
    return row, "ok", f"{len(ids)} networks, {len(seen['server'])} servers"


def _owner(
    settings: EnvironmentSettings, kind: str, item: Mapping[str, Any], networks: Mapping[str, str]
) -> str | None:
    """Name the tenant whose it is, by the handovers and by the labels that the program writes; None for nobody's."""
    if kind == "network" and str(item.get("id")) in networks:
        return networks[str(item["id"])]
    labels = item.get("labels") or {}
    owner = labels.get("tenant") if labels.get("environment") == settings.stack else None
    return owner if owner in settings.environment.tenants else None
