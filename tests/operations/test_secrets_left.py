"""Which Secrets of a tenant's namespace the audit names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from operations.api import METADATA, OK, Answer, UnreadableError
from operations.secrets_left import secrets
from tests.manifests.examples import environment
from tests.operations.fakes import FakeApi

if TYPE_CHECKING:
    from collections.abc import Mapping

ACME, GLOBEX = (f"/api/v1/namespaces/tenant-{name}/secrets" for name in ("acme", "globex"))
PULUMI, CAPI = "pulumi-kubernetes-1a2b", "manager"
OWNED = [{"kind": "KamajiControlPlane", "name": "prod"}]


class Cluster(FakeApi):
    """Lists Secrets; those in `tokens` are ServiceAccounts'."""

    def __init__(self, *items: dict[str, Any], tokens: tuple[str, ...] = ()) -> None:
        """Put them into acme's namespace."""
        super().__init__({ACME: {"items": list(items)}, GLOBEX: {"items": None}})
        self.tokens = tokens
        self.accepted: set[str] = set()

    def request(
        self, method: str, path: str, *more: Any, headers: Mapping[str, str] | None = None, **how: Any
    ) -> Answer:
        """Answer as a FakeApi, with the list that the field selector leaves."""
        self.accepted.add((headers or {}).get("Accept", ""))
        answer = super().request(method, path, *more, headers=headers, **how)
        if "fieldSelector" not in (how.get("query") or {}):
            return answer
        return Answer(OK, {"items": [it for it in answer.body["items"] or () if it["metadata"]["name"] in self.tokens]})


def secret(name: str, *managers: str, owners: list[dict[str, str]] | None = None) -> dict[str, Any]:
    fields = [{"manager": manager, "operation": "Update"} for manager in managers]
    meta = {"name": name, "creationTimestamp": "2026-01-01T00:00:00Z", "managedFields": fields}
    return {"metadata": {**meta, "ownerReferences": owners or []}}


def lines(api: FakeApi) -> list[tuple[str, str, str]]:
    return [line for line in secrets(api, environment()) if "acme" in line[0]]


@pytest.mark.parametrize(
    ("item", "tokens", "outcome", "says"),
    [
        (secret("hybrid-token", PULUMI), ("hybrid-token",), "ok", ""),
        (secret("hybrid-handover", PULUMI), (), "ok", ""),
        (secret("pve-lab", PULUMI), (), "ok", ""),
        (secret("prod-kubeconfig", CAPI, owners=OWNED), (), "ok", ""),
        (secret("prod-kubeconfig", CAPI, PULUMI, owners=OWNED), (), "WRONG", "delete it"),
        (secret("prod-kubeconfig", CAPI), (), "not checked", "a kubeconfig that no hosted control plane owns"),
        (secret("other-kubeconfig", PULUMI), (), "WRONG", f"written by {PULUMI}: tenants' stacks write none today"),
        (secret("other-kubeconfig"), (), "not checked", "written by unknown: find out whose it is"),
        (
            secret("mine", "kubectl-create"),
            ("mine",),
            "not checked",
            "a ServiceAccount's token, there since 2026-01-01",
        ),
        (secret("mine", PULUMI), ("mine",), "WRONG", "a ServiceAccount's token"),
        (secret("mine", PULUMI), (), "ok", ""),
    ],
)
def test_a_kubeconfig_or_token_is_named_with_who_wrote_it_unless_the_platform_makes_such(
    item: dict[str, Any], tokens: tuple[str, ...], outcome: str, says: str
) -> None:
    ((what, found, detail),) = lines(Cluster(item, tokens=tokens))
    assert (found, says in detail) == (outcome, True), detail
    assert (item["metadata"]["name"] in what) == (outcome != "ok")


def test_what_is_in_a_secret_is_never_asked_for() -> None:
    api = Cluster(secret("mine", PULUMI), tokens=("mine",))
    list(secrets(api, environment()))
    assert api.accepted == {METADATA}


def test_a_namespace_whose_secrets_can_not_be_listed_is_not_checked() -> None:
    api = FakeApi({ACME: UnreadableError(f"{ACME}: HTTP 403"), GLOBEX: {"items": []}})
    assert [(outcome, detail) for _, outcome, detail in secrets(api, environment())] == [
        ("not checked", f"{ACME}: HTTP 403"),
        ("ok", ""),
    ]
