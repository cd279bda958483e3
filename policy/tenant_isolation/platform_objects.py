"""Kubernetes objects of an environment's stack: the table in the cluster, the tenants' rights there, the guard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tenant_isolation.kinds import BODY, Kind, identity_problems
from tenant_isolation.objects import RENDERED
from tenant_isolation.providers import kubernetes_problems
from tenant_isolation.reading import ABSENT, read, whole_number
from tenant_isolation.verdicts import listed, shown, strange, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tenant_isolation.verdicts import Case

RBAC = "rbac.authorization.k8s.io"
ADMISSION = "admissionregistration.k8s.io"
TABLES = "proxmox.cozystack.io"
POOL = ("ipam.cluster.x-k8s.io", "InClusterIPPool")

CLOSED_VERBS = words("bind escalate impersonate deletecollection approve sign")
READING = words("get list watch")
OWN = {(group, f"{kind.lower()}s") for group, kind in RENDERED}
"""(API group, resource) of what a tenant makes: all that its identity may have rights on, beside Secrets by name."""
SHARED = {
    (TABLES, "proxmoxnetworkzones"),
    (ADMISSION, "validatingadmissionpolicies"),
    (ADMISSION, "validatingadmissionpolicybindings"),
}
"""(API group, resource) of what lies in no namespace and tells a tenant whether the guard is there."""
SECRETS = ("", "secrets")
IDENTITY = "hybrid"
"""The Role in each tenant's namespace, and the ServiceAccount that holds it."""
RULE_FIELDS = words("apiGroups resources resourceNames verbs")
ROW_FIELDS = words("name namespace bridge vlan pool addresses gateway prefix")


def object_problems(case: Case, kind: Kind | None) -> list[str]:
    """Judge one object: of a kind that the platform makes, by the table."""
    judge = JUDGES.get(kind.pair) if kind is not None else None
    if kind is None or judge is None:
        what = f"{kind.name} ({kind.api_version})" if kind else case.resource.type
        return [f"An environment's stack makes no {what}: it is nothing that this pack can judge."]
    fields, rule = judge
    props = case.resource.props
    return [*kubernetes_problems(case), *identity_problems(props, kind, fields), *rule(case, props)]


def _in_a_tenants_namespace(case: Case, props: Mapping[str, Any]) -> Iterator[str]:
    namespace = read(props, "metadata", "namespace")
    if not isinstance(namespace, str) or namespace not in case.table.namespaces:
        yield f"Its namespace is {shown(namespace)}. Tenants' namespaces are {listed(case.table.namespaces) or 'none'}."


def _nothing_more(case: Case, props: Mapping[str, Any]) -> Iterator[str]:
    del case, props
    yield from ()


def _zone(case: Case, props: Mapping[str, Any]) -> Iterator[str]:
    yield from _rows_of(case, read(props, "spec", "networks"), {"bridge": read(props, "spec", "bridge")})


def _table(case: Case, props: Mapping[str, Any]) -> Iterator[str]:
    yield from _rows_of(case, read(props, "spec", "networks"), {})
    places = read(props, "spec", "places")
    if not isinstance(places, list):
        yield f"spec.places is {shown(places)}, not a list."
        return
    for i, item in enumerate(places):
        yield from _place_problems(case, f"spec.places[{i}]", item)


def _place_problems(case: Case, label: str, item: Any) -> Iterator[str]:
    """Judge what a namespace may have in a location: what its tenant has there."""
    said = {field: read(item, field) for field in ("namespace", "location", "pool", "storage")}
    template = (whole_number(read(item, "templateId")), read(item, "templateNode"), read(item, "tags"))
    for place in case.table.proxmox:
        for stack in case.table.tenants:
            if stack.tenant not in place.tenants:
                continue
            own = {"namespace": stack.namespace, "pool": place.tenants[stack.tenant].pool}
            known = [(each.id, each.node, sorted(each.tags)) for each in place.templates]
            if said == {**own, "location": place.name, "storage": place.storage} and template in known:
                return
    yield f"{label} gives namespace {shown(said['namespace'])} what no location gives its tenant."


def _rows_of(case: Case, networks: Any, common: dict[str, Any]) -> Iterator[str]:
    if networks is ABSENT:
        return  # a zone without networks
    if not isinstance(networks, list):
        yield f"spec.networks is {shown(networks)}, not a list."
        return
    for i, item in enumerate(networks):
        if not isinstance(item, dict):
            yield f"spec.networks[{i}] is {shown(item)}, not a set of fields."
            continue
        yield from strange(item, ROW_FIELDS, f"spec.networks[{i}] has fields")
        if not _is_row(case, {**item, **common}):
            yield (
                f"spec.networks[{i}] ({shown(read(item, 'name'))}) is not the row of that name in the table: its "
                "bridge, VLAN, namespace, pool, addresses, gateway and prefix."
            )


def _is_row(case: Case, given: dict[str, Any]) -> bool:
    row = next((row for row in case.table.rows if row.name == given.get("name")), None)
    if row is None or given.get("pool", row.name) != row.name:
        return False
    return _is_range(given, row) and (
        given.get("bridge"),
        whole_number(given.get("vlan")),
        given.get("namespace"),
    ) == (row.bridge, row.vlan, row.namespace)


def _is_range(given: Any, row: Any) -> bool:
    return (read(given, "addresses"), read(given, "gateway"), whole_number(read(given, "prefix"))) == (
        list(row.addresses),
        row.gateway,
        row.prefix,
    )


def _pool(case: Case, props: Mapping[str, Any]) -> Iterator[str]:
    name, namespace = read(props, "metadata", "name"), read(props, "metadata", "namespace")
    rows = [row for row in case.table.rows if (row.name, row.namespace) == (name, namespace)]
    spec = read(props, "spec")
    if not rows or not isinstance(spec, dict) or not _is_range(spec, rows[0]):
        yield f"Pool {shown(name)} in namespace {shown(namespace)} is no row of the table, with that row's addresses."
    if isinstance(spec, dict):
        yield from strange(spec, ("addresses", "gateway", "prefix"), "spec has fields")


def _role(case: Case, props: Mapping[str, Any]) -> Iterator[str]:
    yield from _in_a_tenants_namespace(case, props)
    for label, rule in _rules(props):
        yield from _rule_problems(label, rule, {*OWN, SECRETS})
        if not _has(rule, "resources", "secrets"):
            continue
        if not _names(rule):
            yield f"{label} is for every Secret. Name them in resourceNames."
        if not _reads(rule):
            yield f"{label} writes Secrets. A tenant reads those that it is given."


def _cluster_role(case: Case, props: Mapping[str, Any]) -> Iterator[str]:
    del case
    for label, rule in _rules(props):
        yield from _rule_problems(label, rule, SHARED)
        if not _reads(rule):
            yield f"{label} writes cluster-wide. A tenant's ClusterRole reads."
        if not _names(rule):
            yield f"{label} is for every object of its kind. Name what may be read in resourceNames."


def _rules(props: Mapping[str, Any]) -> list[tuple[str, Any]]:
    rules = read(props, "rules")
    if rules is ABSENT:
        return []
    return [(f"rules[{i}]", rule) for i, rule in enumerate(rules)] if isinstance(rules, list) else [("rules", rules)]


def _rule_problems(label: str, rule: Any, known: set[tuple[str, str]]) -> Iterator[str]:
    if not isinstance(rule, dict):
        yield f"{label} is {shown(rule)}, not a set of fields."
        return
    yield from strange(rule, RULE_FIELDS, f"{label} has fields")
    for field in RULE_FIELDS & rule.keys():
        value = rule[field]
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            yield f"{label}.{field} is {shown(value)}, not a list of known names."
        elif any(item in CLOSED_VERBS or "*" in item for item in value):
            yield f"{label}.{field} is for everything, or for more rights than its holder has. Name what is needed."
    groups, resources = read(rule, "apiGroups"), read(rule, "resources")
    if isinstance(groups, list) and isinstance(resources, list):
        others = {f"{shown(kind)} of {shown(group) or 'core'}" for group in groups for kind in resources} - {
            f"{kind} of {group or 'core'}" for group, kind in known
        }
        if others:
            yield f"{label} is for {listed(others)}, which is nothing that a tenant makes or reads. Leave it out."


def _reads(rule: Any) -> bool:
    verbs = read(rule, "verbs")
    return isinstance(verbs, list) and {str(verb) for verb in verbs} <= READING


def _names(rule: Any) -> bool:
    return read(rule, "resourceNames") not in (ABSENT, [])


def _has(rule: Any, field: str, item: str) -> bool:
    values = read(rule, field)
    return isinstance(values, list) and any(str(value).partition("/")[0] == item for value in values)


def _binding(case: Case, props: Mapping[str, Any]) -> Iterator[str]:
    yield from _in_a_tenants_namespace(case, props)
    namespace = read(props, "metadata", "namespace")
    yield from _bound(props, "Role", {own for own in case.table.namespaces if own == namespace})
    role = read(props, "roleRef", "name")
    if role != IDENTITY:
        yield f"It binds Role {shown(role)}. A tenant's is called {IDENTITY}, and judged as made."


def _cluster_binding(case: Case, props: Mapping[str, Any]) -> Iterator[str]:
    own = {f"hybrid-{case.stack.name}-{stack.tenant}": stack.namespace for stack in case.table.tenants}
    role = read(props, "roleRef", "name")
    namespace = own.get(role) if isinstance(role, str) else None
    if namespace is None:
        yield f"It binds ClusterRole {shown(role)}. Those of this environment are {listed(own) or 'none'}."
    yield from _bound(props, "ClusterRole", case.table.namespaces if namespace is None else {namespace})


def _bound(props: Mapping[str, Any], kind: str, namespaces: set[str]) -> Iterator[str]:
    role = {field: read(props, "roleRef", field) for field in ("apiGroup", "kind")}
    if role != {"apiGroup": RBAC, "kind": kind}:
        yield f"It binds a {shown(role['kind'])}, which is judged by nobody here. Bind a {kind}."
    subjects = read(props, "subjects")
    for i, subject in enumerate(subjects if isinstance(subjects, list) else [subjects]):
        named = [read(subject, field) for field in ("kind", "name")]
        namespace = read(subject, "namespace")
        if named != ["ServiceAccount", IDENTITY] or not isinstance(namespace, str) or namespace not in namespaces:
            yield f"subjects[{i}] is not the ServiceAccount {IDENTITY} of {listed(namespaces) or 'a tenant'}."


JUDGES: Mapping[tuple[str, str], tuple[frozenset[str], Callable[[Case, Mapping[str, Any]], Iterator[str]]]] = {
    ("apiextensions.k8s.io", "CustomResourceDefinition"): (BODY, _nothing_more),
    (ADMISSION, "ValidatingAdmissionPolicy"): (BODY, _nothing_more),
    (ADMISSION, "ValidatingAdmissionPolicyBinding"): (BODY, _nothing_more),
    (TABLES, "ProxmoxNetworkZone"): (BODY, _zone),
    (TABLES, "ProxmoxNetworkTable"): (BODY, _table),
    POOL: (BODY, _pool),
    (RBAC, "Role"): (words("apiVersion kind metadata rules"), _role),
    (RBAC, "ClusterRole"): (words("apiVersion kind metadata rules"), _cluster_role),
    (RBAC, "RoleBinding"): (words("apiVersion kind metadata roleRef subjects"), _binding),
    (RBAC, "ClusterRoleBinding"): (words("apiVersion kind metadata roleRef subjects"), _cluster_binding),
    ("", "ServiceAccount"): (words("apiVersion kind metadata"), _in_a_tenants_namespace),
    ("", "Secret"): (words("apiVersion kind metadata type data stringData"), _in_a_tenants_namespace),
}
"""(group, kind) of what the program makes for the platform, with the fields that it may have. What a policy of the
guard says is not judged here, only that no tenant's stack makes one."""
