"""Pieces of ValidatingAdmissionPolicies: their frame, bindings, and the variables that several of them use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from manifests.common import ADMISSION, metadata
from manifests.generations import CAPI_1_10, CAPI_1_12, KINDS, version
from manifests.manifest import Manifest, named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from settings.environment import Generation, Mode

POLICY = "ValidatingAdmissionPolicy"
BINDING = "ValidatingAdmissionPolicyBinding"

Variables = dict[str, str]
"""Expressions by name, in an order in which each uses only those before it."""

Validation = Mapping[str, str]

JUDGE = "hybrid.cozystack.io/judge"
"""An annotation (any value) on an object that asks to be judged in a dry run too."""

PREVIEWED = f"!request.?dryRun.orValue(false) || '{JUDGE}' in object.metadata.?annotations.orValue({{}})"
"""Whether a request is more than a preview, or asks to be judged all the same."""

SPEC: Variables = {
    "spec": "object.kind.endsWith('Template') ? object.spec.template.spec : object.spec",
    "old": (
        "oldObject == null ? null : (oldObject.kind.endsWith('Template') ? oldObject.spec.template.spec"
        " : oldObject.spec)"
    ),
}
"""The judged spec, and what it was before (null for a new object)."""

_CHANGED = "oldObject == null || variables.spec.?network != variables.old.?network"

_NICS: Mapping[Generation, Variables] = {
    CAPI_1_10: {
        **SPEC,
        "net": "variables.spec.?network.orValue({})",
        "nics": (
            "[?variables.net.?default].map(d, {'name': dyn('net0'), 'nic': d})"
            " + variables.net.?additionalDevices.orValue([]).map(d, {'name': d.?name.orValue(''), 'nic': d})"
        ),
        "changed": _CHANGED,
    },
    CAPI_1_12: {
        **SPEC,
        "net": "variables.spec.?network.orValue({})",
        "nics": ("variables.net.?networkDevices.orValue([]).map(d, {'name': dyn(d.?name.orValue('net0')), 'nic': d})"),
        "changed": _CHANGED,
    },
}


def nics(generation: Generation) -> Variables:
    """Give variables for every NIC of a machine or machine template with its name, and whether a request touches them.

    (`dyn`: the API server takes no literal with values of several types.)

    Only a change is judged: controllers write finalizers and ids on objects whose row is gone, and must be able to.
    """
    return _NICS[generation]


def network_set(generation: Generation) -> str:
    """Write whether a machine says what its first NIC is; others in its place do not."""
    return "variables.nics.exists(i, i.name == 'net0')" if generation == CAPI_1_12 else "has(variables.net.default)"


def network_missing(generation: Generation) -> str:
    """Say what a machine without a NIC lacks."""
    field = "net0 of spec.network.networkDevices" if generation == CAPI_1_12 else "spec.network.default"
    return f"{field} must be set: without it a machine keeps the NICs of its template."


REFS: Mapping[Generation, str] = {
    CAPI_1_10: "[?i.nic.?ipv4PoolRef] + [?i.nic.?ipv6PoolRef]",
    CAPI_1_12: "i.nic.?ipPoolRef.orValue([])",
}
"""All address pools to which the NIC `i` refers."""

IS_POOL = "r.kind == 'InClusterIPPool' && r.?apiGroup.orValue('') == 'ipam.cluster.x-k8s.io'"
"""Whether the reference `r` is to a pool of its own namespace (a GlobalInClusterIPPool serves every namespace)."""

MACHINES = ("ProxmoxMachine", "ProxmoxMachineTemplate")
CLUSTERS = ("ProxmoxCluster", "ProxmoxClusterTemplate")


def text(value: str) -> str:
    """Write a CEL string. The settings allow only plain characters in what comes here; anything else is an error."""
    if not value.isascii() or not value.isprintable() or "'" in value or "\\" in value:
        message = f"not to be written into an expression: {value!r}"
        raise ValueError(message)
    return f"'{value}'"


def texts(values: Iterable[str]) -> str:
    """Write a CEL list of strings."""
    return f"[{', '.join(text(value) for value in values)}]"


def listed(expression: str) -> str:
    """Write an expression that joins a list of strings for a person, "none" for an empty one."""
    return f"(size({expression}) == 0 ? 'none' : {expression}.join(', '))"


def validation(expression: str, message: str, message_expression: str | None = None) -> dict[str, str]:
    """Give one rule. `message` is for the case that the expression's text is too long or fails.

    The reason is Invalid: a refusal then fails a preview too, which Forbidden does not.
    """
    rule = {"expression": expression, "message": message, "reason": "Invalid"}
    if message_expression:
        rule["messageExpression"] = message_expression
    return rule


TABLE = "all"
"""The name of the one ProxmoxNetworkTable."""


@dataclass(frozen=True)
class Rule:
    """Which requests a policy sees: kinds of one API group, at the version that the generation serves."""

    group: str
    version: str
    resources: tuple[str, ...]
    operations: tuple[str, ...] = ("CREATE", "UPDATE")

    @classmethod
    def of(cls, generation: Generation, *kinds: str) -> Rule:
        """Give the rule for custom kinds of one API group."""
        first = KINDS[kinds[0]]
        return cls(first.group, version(kinds[0], generation), tuple(KINDS[kind].plural for kind in kinds))


@dataclass(frozen=True)
class Content:
    """What a policy says: its expressions, and the kind of the parameter that they read, if any."""

    variables: Variables
    validations: list[dict[str, str]]
    parameter: str | None = None
    conditions: tuple[dict[str, str], ...] = ()


def policy(name: str, rule: Rule, content: Content, after: tuple[str, ...]) -> Manifest:
    """Give a policy that fails closed."""
    spec: dict[str, Any] = {"failurePolicy": "Fail"}
    if content.parameter:
        kind = KINDS[content.parameter]
        (parameter_version,) = set(kind.versions.values())
        spec["paramKind"] = {"apiVersion": f"{kind.group}/{parameter_version}", "kind": content.parameter}
    spec["matchConstraints"] = {
        "matchPolicy": "Equivalent",
        "resourceRules": [
            {
                "apiGroups": [rule.group],
                "apiVersions": [rule.version],
                "operations": list(rule.operations),
                "resources": list(rule.resources),
            }
        ],
    }
    if content.conditions:
        spec["matchConditions"] = list(content.conditions)
    if content.variables:  # the API server drops an empty list: the live policy would differ
        spec["variables"] = [{"name": key, "expression": expression} for key, expression in content.variables.items()]
    spec["validations"] = content.validations
    body = {"apiVersion": ADMISSION, "kind": POLICY, "metadata": metadata(name), "spec": spec}
    return Manifest(body, "isolation", after)


def binding(policy_name: str, mode: Mode, *, zone: str | None = None, table: bool = False) -> Manifest:
    """Bind a policy, to one zone or to the table of all rows if it reads one.

    In mode `audit` everything passes, with a warning and an audit entry.
    """
    name = f"{policy_name}-{zone}" if zone else policy_name
    spec: dict[str, Any] = {
        "policyName": policy_name,
        "validationActions": ["Deny", "Audit"] if mode == "enforce" else ["Audit", "Warn"],
    }
    after = [named(POLICY, policy_name)]
    if zone or table:
        spec["paramRef"] = {"name": zone or TABLE, "parameterNotFoundAction": "Deny"}
        after.append(named("ProxmoxNetworkZone", zone) if zone else named("ProxmoxNetworkTable", TABLE))
    body = {"apiVersion": ADMISSION, "kind": BINDING, "metadata": metadata(name), "spec": spec}
    return Manifest(body, f"zone/{zone}" if zone else "isolation", tuple(after))
