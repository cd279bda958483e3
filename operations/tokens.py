"""Whether each tenant's Proxmox VE token may do what the list says and nothing else, asked with that token itself."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Literal

from operations.effective import differences, foreign_paths
from operations.https import AT_ONCE, RefusedError, UnansweredError
from operations.proxmox import Proxmox
from operations.storages import storages
from operations.templates import templates
from settings.credentials import PROXMOX_TOKEN
from settings.environment import ProxmoxLocation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from operations.handed_over import HandedOver
    from operations.https import Servers
    from operations.proxmox import Permissions
    from settings.stack import EnvironmentSettings

Line = tuple[str, Literal["ok", "WRONG", "not checked"], str]

_RUN = "run `pulumi up` of the environment"


def tokens(settings: EnvironmentSettings, given: Mapping[str, HandedOver], servers: Servers) -> Iterator[Line]:
    """Judge each Proxmox location: its version, its templates, and there each tenant's Secret and token."""
    for name, location in sorted(settings.environment.locations.items()):
        if not isinstance(location, ProxmoxLocation):
            continue
        server = servers.at(location.endpoint, location.ca)
        asked: list[tuple[str, Proxmox, Permissions]] = []
        for tenant in sorted(location.tenants):
            what = f"{name}/{tenant}"
            pve, token = given[tenant].pve.get(name, {}), given[tenant].handover.get(f"{name}.token", "")
            yield from _secrets(what, location, pve, token)
            if not PROXMOX_TOKEN.fullmatch(token):
                continue
            api = Proxmox(server, token)
            try:
                found = api.permissions()
            except RefusedError:
                why = f"{location.endpoint} refuses the token that the tenant has: {_RUN}"
                yield f"{what}: the token's permissions", "WRONG", why
                continue
            except UnansweredError as error:
                yield f"{what}: the token's permissions", "not checked", f"{location.endpoint}: {error}"
                continue
            asked.append((tenant, api, found))
            yield from _permissions(settings, name, tenant, found)
            yield from _probes(settings, name, tenant, api)
            yield storages(name, location, tenant, api)
        if asked:
            yield from _version(name, location, asked[0][1])
            yield from templates(name, location, asked)


def _secrets(what: str, location: ProxmoxLocation, pve: Mapping[str, str], token: str) -> Iterator[Line]:
    """Compare what Cluster API's controllers get with what the tenant's stack gets, and with the location."""
    row = f"{what}: the Secrets that carry the token"
    if not pve or not token:
        yield row, "WRONG", f"not all in the cluster: {_RUN}"
        return
    if not PROXMOX_TOKEN.fullmatch(token):
        yield row, "WRONG", f"what hybrid-handover says has not the form of a token: {_RUN}"
        return
    wanted = {"url": location.endpoint, "insecure": "false", "token": token.partition("=")[0]}
    wanted["secret"] = token.partition("=")[2]
    if location.ca:
        wanted["root_ca"] = location.ca
    differing = sorted(key for key in wanted.keys() | pve.keys() if wanted.get(key) != pve.get(key))
    if differing:
        yield row, "WRONG", f"differs from the environment in {', '.join(differing)}: {_RUN}"
    else:
        yield row, "ok", ""


def _permissions(settings: EnvironmentSettings, name: str, tenant: str, found: Permissions) -> Iterator[Line]:
    said = differences(settings, name, tenant, found)
    row = f"{name}/{tenant}: the token's permissions are those of the list"
    yield (row, "WRONG", "; ".join(said)) if said else (row, "ok", f"{len(found)} paths")


def _probes(settings: EnvironmentSettings, name: str, tenant: str, api: Proxmox) -> Iterator[Line]:
    row = f"{name}/{tenant}: the token may do nothing elsewhere"
    paths = foreign_paths(settings, name, tenant)
    try:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            open_ones = [path for path, there in zip(paths, pool.map(api.permissions, paths), strict=True) if there]
    except UnansweredError as error:
        yield row, "not checked", str(error)
        return
    if open_ones:
        yield row, "WRONG", f"it has rights on {', '.join(open_ones)}"
    else:
        yield row, "ok", f"asked for {len(paths)} paths"


def _version(name: str, location: ProxmoxLocation, api: Proxmox) -> Iterator[Line]:
    row = f"{name}: Proxmox VE {location.pve}"
    try:
        found = api.version()
    except UnansweredError as error:
        yield row, "not checked", str(error)
        return
    if found == location.pve:
        yield row, "ok", ""
    else:
        yield row, "WRONG", f"it runs {found}: write `pve: {found}` in the location"
