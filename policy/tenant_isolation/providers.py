"""Providers: where a resource is made, and as whom. Judged by themselves and with each resource that they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tenant_isolation.endpoints import normal
from tenant_isolation.reading import ABSENT, UNKNOWN, read
from tenant_isolation.table import REALM
from tenant_isolation.verdicts import strange, words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tenant_isolation.table import Proxmox
    from tenant_isolation.verdicts import Case

PROXMOX = "pulumi:providers:proxmoxve"
HCLOUD = "pulumi:providers:hcloud"
KUBERNETES = "pulumi:providers:kubernetes"

PROXMOX_INPUTS = words("endpoint apiToken insecure minTls version")
"""Not user and password (another identity than the token), not ssh (it works on the node itself), nor random VM ids."""
HCLOUD_INPUTS = words("token version")
"""Not another endpoint: it would get the token."""
KUBERNETES_INPUTS = words(
    """context clusterIdentifier enableSecretMutable enableConfigMapMutable suppressDeprecationWarnings version"""
)
"""Not a kubeconfig or cluster of its own, forced patches, or objects that go to a folder and not to the API server."""

_OFF = (ABSENT, "", False, "false")
"""A provider's inputs arrive as texts."""

_NONE = (ABSENT, "")
"""A provider then takes the token of whoever runs it, from the environment."""

BORROWED = "Its Proxmox VE provider has no apiToken, so it would use that of whoever runs it. Give it the tenant's."


def provider_problems(case: Case) -> list[str]:
    """Judge a provider that is registered."""
    return _JUDGES[case.resource.type](case, case.resource.props)[1]


def proxmox_place(case: Case) -> tuple[Proxmox | None, list[str]]:
    """Find the location in which a resource would be made; else say why that is not known or not the stack's."""
    provider = case.resource.provider
    if provider is None or provider.type != PROXMOX or provider.is_default:
        return None, ["It has no explicit Proxmox VE provider, so where it would be made is not known. Give it one."]
    return _proxmox(case, provider.props)


def hcloud_problems(case: Case) -> list[str]:
    """Judge through which provider a Hetzner Cloud resource is made."""
    provider = case.resource.provider
    if provider is None or provider.type != HCLOUD or provider.is_default:
        return ["It has no explicit Hetzner Cloud provider, so whose project it is in is not known. Give it one."]
    return _hcloud(case, provider.props)[1]


def kubernetes_problems(case: Case) -> list[str]:
    """Judge through which provider a Kubernetes object is made."""
    provider = case.resource.provider
    if provider is None or provider.type != KUBERNETES or provider.is_default:
        return ["It has no explicit Kubernetes provider, so it would be made as whoever runs it. Give it one."]
    return _kubernetes(case, provider.props)[1]


def _proxmox(case: Case, props: Mapping[str, Any]) -> tuple[Proxmox | None, list[str]]:
    allowed = case.table.proxmox_of(case.stack)
    offer = f"Stack {case.stack.name} has no network on any Proxmox VE: ask the platform for one."
    if allowed:
        offer = f"Stack {case.stack.name} may use: {', '.join(sorted(place.endpoint for place in allowed))}."
    endpoint = read(props, "endpoint")
    if endpoint is UNKNOWN:
        said = f"The endpoint of its Proxmox VE provider is not known yet, but it decides where this is made. {offer}"
        return None, [said]
    if endpoint is ABSENT:
        return None, [f"Its Proxmox VE provider has no endpoint. {offer}"]
    text = normal(endpoint)
    if text is None:
        return None, [f"The endpoint of its Proxmox VE provider is not of the form https://host:port. {offer}"]
    place = case.table.at(text)
    if place is None or place not in allowed:
        return None, [f"Its Proxmox VE provider talks to {text}. {offer}"]
    problems = strange(props, PROXMOX_INPUTS, "Its Proxmox VE provider has inputs")
    problems += _token_problems(case, place, read(props, "apiToken"))
    if read(props, "insecure") not in _OFF:
        problems.append("Its Proxmox VE provider does not verify the server's certificate. Leave insecure out.")
    return place, problems


def _token_problems(case: Case, place: Proxmox, token: Any) -> list[str]:
    """Judge as whom a provider works: the environment makes each tenant's token, of the account that is its pool's."""
    if token in _NONE:
        return [BORROWED]
    if token is UNKNOWN or not case.stack.is_tenant:
        return []
    account = f"{place.tenants[case.stack.tenant].pool}@{REALM}"
    if isinstance(token, str) and token.startswith(f"{account}!"):
        return []
    return [
        f"The apiToken of its Proxmox VE provider is not one of {account}. Give it the tenant's own, as handed over."
    ]


def _hcloud(case: Case, props: Mapping[str, Any]) -> tuple[None, list[str]]:
    problems = strange(props, HCLOUD_INPUTS, "Its Hetzner Cloud provider has inputs")
    if case.stack.is_tenant and not case.table.hcloud_of(case.stack):
        problems.append(f"Stack {case.stack.name} has nothing in Hetzner Cloud: ask the platform for it.")
    if read(props, "token") in _NONE:
        problems.append(
            "Its Hetzner Cloud provider has no token, so it would use that of whoever runs it. Give it the tenant's."
        )
    return None, problems


def _kubernetes(case: Case, props: Mapping[str, Any]) -> tuple[None, list[str]]:
    problems = strange(props, KUBERNETES_INPUTS, "Its Kubernetes provider has inputs")
    own = case.stack.context
    if read(props, "context") != own:
        problems.append(
            f"Its Kubernetes provider has not the context of stack {case.stack.name}, which works with its own "
            f"identity. Write context: {own}."
        )
    return None, problems


_JUDGES: dict[str, Callable[[Case, Mapping[str, Any]], tuple[Proxmox | None, list[str]]]] = {
    PROXMOX: _proxmox,
    HCLOUD: _hcloud,
    KUBERNETES: _kubernetes,
}
