"""Pieces of ValidatingAdmissionPolicies: their frame, bindings, and the variables that several of them use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from manifests.common import ADMISSION, metadata
from manifests.generations import KINDS, api_version, version
from manifests.manifest import Manifest, named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from settings.environment import Generation, Mode

POLICY = "ValidatingAdmissionPolicy"
BINDING = "ValidatingAdmissionPolicyBinding"

Variables = dict[str, str]
"""Expressions by name, in an order in which each uses only those before it."""

Validation = Mapping[str, str]

SPEC: Variables = {
    "spec": "object.kind.endsWith('Template') ? object.spec.template.spec : object.spec",
    "old": (
        "oldObject == null ? null : (oldObject.kind.endsWith('Template') ? oldObject.spec.template.spec"
        " : oldObject.spec)"
    ),
}
"""The judged spec, and what it was before (null for a new object)."""

NICS: Variables = {
    **SPEC,
    "net": "variables.spec.?network.orValue({})",
    "nics": (
        "[?variables.net.?default].map(d, {'name': dyn('net0'), 'nic': d})"
        " + variables.net.?additionalDevices.orValue([]).map(d, {'name': d.?name.orValue(''), 'nic': d})"
    ),
    "changed": "oldObject == null || variables.spec.?network != variables.old.?network",
}
"""Every NIC of a machine or machine template with its name, and whether this request touches them.

(`dyn`: the API server takes no literal with values of several types.)

Only a change is judged: controllers write finalizers and ids on objects whose row is gone, and must be able to.
"""

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


def policy(  # noqa: PLR0913 - a policy has these parts, all named by keyword
    name: str,
    generation: Generation,
    *,
    kinds: tuple[str, ...],
    variables: Variables,
    validations: list[dict[str, str]],
    after: tuple[str, ...],
    zoned: bool = False,
    conditions: list[dict[str, str]] | None = None,
) -> Manifest:
    """Give a policy over `kinds` (all of one API group); `zoned` means that a ProxmoxNetworkZone is its parameter."""
    spec: dict[str, Any] = {"failurePolicy": "Fail"}
    if zoned:
        spec["paramKind"] = {
            "apiVersion": api_version("ProxmoxNetworkZone", generation),
            "kind": "ProxmoxNetworkZone",
        }
    spec["matchConstraints"] = {
        "matchPolicy": "Equivalent",
        "resourceRules": [
            {
                "apiGroups": [KINDS[kinds[0]].group],
                "apiVersions": [version(kinds[0], generation)],
                "operations": ["CREATE", "UPDATE"],
                "resources": [KINDS[kind].plural for kind in kinds],
            }
        ],
    }
    if conditions:
        spec["matchConditions"] = conditions
    spec["variables"] = [{"name": key, "expression": expression} for key, expression in variables.items()]
    spec["validations"] = validations
    body = {"apiVersion": ADMISSION, "kind": POLICY, "metadata": metadata(name), "spec": spec}
    return Manifest(body, "isolation", after)


def binding(policy_name: str, mode: Mode, *, zone: str | None = None) -> Manifest:
    """Bind a policy, to one zone if it is named; `audit` lets everything pass with a warning and an audit entry."""
    name = f"{policy_name}-{zone}" if zone else policy_name
    spec: dict[str, Any] = {
        "policyName": policy_name,
        "validationActions": ["Deny", "Audit"] if mode == "enforce" else ["Audit", "Warn"],
    }
    after = [named(POLICY, policy_name)]
    if zone:
        spec["paramRef"] = {"name": zone, "parameterNotFoundAction": "Deny"}
        after.append(named("ProxmoxNetworkZone", zone))
    body = {"apiVersion": ADMISSION, "kind": BINDING, "metadata": metadata(name), "spec": spec}
    return Manifest(body, f"zone/{zone}" if zone else "isolation", tuple(after))
