"""What the environment gives a tenant: an identity of its own, its credentials, and the handover to its stack."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from manifests.common import (
    HANDOVER,
    LABELS,
    RBAC,
    RBAC_GROUP,
    SERVICE_ACCOUNT,
    home_kubeconfigs,
    metadata,
    pve_secret,
)
from manifests.generations import KINDS, TENANT_KINDS
from manifests.isolation import guard_bindings, policies, zone_bindings
from manifests.manifest import Manifest, named
from manifests.policies.parts import BINDING
from manifests.zone import has_row_pools, pool_of
from settings.digest import digest
from settings.environment import HcloudLocation, ProxmoxLocation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from settings.environment import Environment
    from settings.stack import EnvironmentSettings

VERBS = ["create", "delete", "get", "list", "patch", "watch"]
"""What the engine's Kubernetes provider needs; without list and watch a delete waits for a minute (seen)."""


def token_secret(environment: Environment, tenant: str) -> str:
    """Name the Secret with the token of a tenant's identity.

    Another rotation is another name: Kubernetes writes the same token again into a Secret of the same name.
    """
    rotation = environment.tenants[tenant].rotation
    return "hybrid-token" if rotation == 1 else f"hybrid-token-{rotation}"


def value_keys(settings: EnvironmentSettings, tenant: str) -> list[str]:
    """Name the values that `identity` needs for a tenant, sorted: what only the cluster and infrastructure know."""
    keys = []
    for name, location in settings.environment.locations.items():
        if tenant not in location.tenants:
            continue
        if isinstance(location, ProxmoxLocation):
            keys += [f"pve.{name}.token", f"pve.{name}.tokenId", f"pve.{name}.tokenSecret", "serviceaccount.uid"]
        else:
            keys += [f"hcloud.{name}.token", f"hcloud.{name}.network", f"hcloud.{name}.subnet"]
    return sorted(set(keys))


def identity(settings: EnvironmentSettings, tenant: str, values: Mapping[str, Any]) -> list[Manifest]:
    """Give the tenant's ServiceAccount with its rights and token, its `pve-<location>` Secrets and its handover.

    `values` holds one value for each of `value_keys(...)`, and they go into the objects as they are. For a Proxmox VE
    location: "pve.<location>.token" ("USER@REALM!ID=UUID"), ".tokenId" ("USER@REALM!ID") and ".tokenSecret" (the UUID),
    and "serviceaccount.uid", the uid of the tenant's own ServiceAccount. For a Hetzner Cloud location:
    "hcloud.<location>.token", ".network" and ".subnet" (ids, as text). A missing one is a KeyError.

    The handover comes last: when it is there, everything that the tenant's stack builds on is there and enforced.
    """
    return _Identity(settings, tenant, values).all()


class _Identity:
    """The objects of one tenant."""

    def __init__(self, settings: EnvironmentSettings, tenant: str, values: Mapping[str, Any]) -> None:
        self.generation = settings.environment.management.generation
        self.settings = settings
        self.environment = settings.environment
        self.tenant = tenant
        self.values = values
        self.namespace = settings.environment.tenants[tenant].namespace
        self.part = f"tenant/{tenant}"
        self.cluster_role = f"hybrid-{settings.stack}-{tenant}"
        self.rows = [row for row in settings.rows.values() if row.tenant == tenant]
        self.zones = sorted({row.zone for row in self.rows})

    def all(self) -> list[Manifest]:
        account = self._account()
        roles = [*self._role(account.name), *self._cluster_role(account.name)]
        secrets = [self._token(account.name), *self._pve_secrets(account.name)]
        return [account, *roles, *secrets, self._handover((*roles, *secrets))]

    def _account(self) -> Manifest:
        meta = metadata(SERVICE_ACCOUNT, self.namespace)
        return Manifest({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta}, self.part)

    def _subjects(self) -> list[dict[str, str]]:
        return [{"kind": "ServiceAccount", "name": SERVICE_ACCOUNT, "namespace": self.namespace}]

    def _role(self, account: str) -> list[Manifest]:
        groups = sorted({KINDS[kind].group for kind in TENANT_KINDS})
        rules: list[dict[str, Any]] = [
            {
                "apiGroups": [group],
                "resources": sorted(KINDS[kind].plural for kind in TENANT_KINDS if KINDS[kind].group == group),
                "verbs": VERBS,
            }
            for group in groups
        ]
        rules += self._secret_rules()
        meta = functools.partial(metadata, SERVICE_ACCOUNT, self.namespace)
        role = {"apiVersion": RBAC, "kind": "Role", "metadata": meta(), "rules": rules}
        bound = {
            "apiVersion": RBAC,
            "kind": "RoleBinding",
            "metadata": meta(),
            "roleRef": {"apiGroup": RBAC_GROUP, "kind": "Role", "name": SERVICE_ACCOUNT},
            "subjects": self._subjects(),
        }
        made = Manifest(role, self.part)
        return [made, Manifest(bound, self.part, (account, made.name))]

    def _secret_rules(self) -> list[dict[str, Any]]:
        # Listing Secrets is reading them, so list and watch are by name too. None is written: Cluster API would execute
        # what a kubeconfig says. A rule whose resourceNames is empty would be a rule for every Secret: such a rule is
        # left out.
        by_name = [
            ([HANDOVER], ["get"]),
            (home_kubeconfigs(self.environment, self.tenant), ["get", "list", "watch"]),
        ]
        return [
            {"apiGroups": [""], "resources": ["secrets"], "resourceNames": names, "verbs": verbs}
            for names, verbs in by_name
            if names
        ]

    def _cluster_role(self, account: str) -> list[Manifest]:
        # A rule whose resourceNames is empty would be a rule for every object: such a rule is left out.
        guard = guard_bindings(self.generation)
        bindings = sorted([*guard, *(name for zone in self.zones for name in zone_bindings(zone))])
        admission = "admissionregistration.k8s.io"
        kind = KINDS["ProxmoxNetworkZone"]
        named_rules = [
            (kind.group, kind.plural, self.zones),
            (admission, "validatingadmissionpolicies", sorted(policies(self.generation))),
            (admission, "validatingadmissionpolicybindings", bindings),
        ]
        rules = [
            {"apiGroups": [group], "resources": [plural], "resourceNames": names, "verbs": ["get"]}
            for group, plural, names in named_rules
            if names
        ]
        role = {"apiVersion": RBAC, "kind": "ClusterRole", "metadata": metadata(self.cluster_role), "rules": rules}
        bound = {
            "apiVersion": RBAC,
            "kind": "ClusterRoleBinding",
            "metadata": metadata(self.cluster_role),
            "roleRef": {"apiGroup": RBAC_GROUP, "kind": "ClusterRole", "name": self.cluster_role},
            "subjects": self._subjects(),
        }
        made = Manifest(role, self.part)
        return [made, Manifest(bound, self.part, (account, made.name))]

    def _secret(self, name: str, data: Mapping[str, Any], after: tuple[str, ...], **meta: Any) -> Manifest:
        body = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {**metadata(name, self.namespace), **meta},
            "type": "Opaque",
            "stringData": data,
        }
        return Manifest(body, self.part, after)

    def _token(self, account: str) -> Manifest:
        body = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {
                "name": token_secret(self.environment, self.tenant),
                "namespace": self.namespace,
                "labels": dict(LABELS),
                "annotations": {"kubernetes.io/service-account.name": SERVICE_ACCOUNT},
            },
            "type": "kubernetes.io/service-account-token",
        }
        return Manifest(body, self.part, (account,))

    def _pve_secrets(self, account: str) -> list[Manifest]:
        made = []
        for name, location in sorted(self.environment.locations.items()):
            if not isinstance(location, ProxmoxLocation) or self.tenant not in location.tenants:
                continue
            data = {
                "url": location.endpoint,
                "token": self.values[f"pve.{name}.tokenId"],
                "secret": self.values[f"pve.{name}.tokenSecret"],
                # Without this key capmox does not verify the server's certificate at all.
                "insecure": "false",
            }
            if location.ca:
                data["root_ca"] = location.ca
            # capmox makes the ProxmoxCluster an owner of this Secret. An owner that stays keeps the garbage collector
            # from taking the Secret away together with the last ProxmoxCluster.
            owner = {
                "apiVersion": "v1",
                "kind": "ServiceAccount",
                "name": SERVICE_ACCOUNT,
                "uid": self.values["serviceaccount.uid"],
            }
            made.append(self._secret(pve_secret(name), data, (account,), ownerReferences=[owner]))
        return made

    def _handover(self, own: tuple[Manifest, ...]) -> Manifest:
        data: dict[str, Any] = {"digest": digest(self.environment, self.tenant)}
        for name, location in sorted(self.environment.locations.items()):
            if self.tenant not in location.tenants:
                continue
            if isinstance(location, HcloudLocation):
                for key in ("token", "network", "subnet"):
                    data[f"{name}.{key}"] = self.values[f"hcloud.{name}.{key}"]
            else:
                data[f"{name}.token"] = self.values[f"pve.{name}.token"]
        after = (
            *(manifest.name for manifest in own),
            *(pool_of(row) for row in self.rows if has_row_pools(self.generation)),
            *(named(BINDING, name) for zone in self.zones for name in zone_bindings(zone)),
            *(named(BINDING, name) for name in guard_bindings(self.generation)),
        )
        return self._secret(HANDOVER, data, after)
