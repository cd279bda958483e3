"""`hybrid-machines`: a tenant's machine is a new one, made of what the platform gave, and stays on its networks.

`providerID` and `virtualMachineID` say which VM of Proxmox VE an object is: whoever writes them takes over a VM that is
there. capmox makes them known after it has made the VM, and nobody else writes them. capmox 0.7 rewires a VM that has
not started yet, so `spec.network` never changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from manifests.common import tenant_namespaces
from manifests.policies.parts import MACHINES, SPEC, Content, Rule, Variables, listed, policy, text, texts, validation

if TYPE_CHECKING:
    from manifests.manifest import Manifest
    from settings.environment import Environment

NAME = "hybrid-machines"

_BODY = ("pool", "storage", "sourceNode", "templateID", "templateSelector")

_TEMPLATE = (
    "(has(variables.spec.templateSelector)"
    " ? (variables.spec.templateSelector.?matchPolicy.orValue('exact') == 'exact'"
    " && size(variables.tags) == size(p.tags)"
    " && p.tags.all(t, variables.tags.exists(asked, asked.lowerAscii() == t)))"
    " : (variables.spec.?templateID.orValue(0) == p.templateId"
    " && variables.spec.?sourceNode.orValue('') == p.templateNode))"
)


def variables(environment: Environment) -> Variables:
    """Give the policy's variables."""
    return {
        **SPEC,
        "tenant": f"request.namespace in {texts(tenant_namespaces(environment))}",
        "places": "params.spec.places.filter(p, p['namespace'] == request.namespace)",
        "tags": "variables.spec.?templateSelector.?matchTags.orValue([])",
        "bodyChanged": " || ".join(
            ("oldObject == null", *(f"variables.spec.?{key} != variables.old.?{key}" for key in _BODY))
        ),
        "given": (
            "variables.places.exists(p, variables.spec.?pool.orValue('') == p.pool"
            f" && variables.spec.?storage.orValue('') == p.storage && {_TEMPLATE})"
        ),
        "idsChanged": (
            "oldObject == null ? (has(variables.spec.providerID) || has(variables.spec.virtualMachineID))"
            " : (variables.spec.?providerID != variables.old.?providerID"
            " || variables.spec.?virtualMachineID != variables.old.?virtualMachineID)"
        ),
        "bySystem": (
            "oldObject != null && object.kind == 'ProxmoxMachine'"
            f" && request.userInfo.username == {text(environment.management.controllers.capmox)}"
        ),
        "moved": (
            "oldObject != null && object.kind == 'ProxmoxMachine' && variables.spec.?network != variables.old.?network"
        ),
        "asked": (
            "'pool ' + variables.spec.?pool.orValue('none') + ', storage ' + variables.spec.?storage.orValue('none')"
            " + ', template ' + (has(variables.spec.templateSelector) ? 'with tags ' + variables.tags.join(' ')"
            " : string(variables.spec.?templateID.orValue(0)) + ' of node '"
            " + variables.spec.?sourceNode.orValue('none'))"
        ),
        "allowed": (
            "variables.places.map(p, p.location + ' (pool ' + p.pool + ', storage ' + p.storage"
            " + ', template with exactly the tags ' + p.tags.join(' ') + ', or ' + string(p.templateId)"
            " + ' of node ' + p.templateNode + ')')"
        ),
    }


VALIDATIONS = [
    validation("params != null", "The table of networks is missing."),
    validation(
        "!variables.tenant || !variables.idsChanged || variables.bySystem",
        "virtualMachineID and providerID are written by capmox alone, when it has made the VM.",
    ),
    validation(
        "!variables.tenant || !variables.moved",
        "spec.network of a machine never changes: make a new machine.",
    ),
    validation(
        "!variables.tenant || !has(variables.spec.snapName)"
        " || (oldObject != null && variables.spec.?snapName == variables.old.?snapName)",
        "spec.snapName must be absent: the NICs of a snapshot can be others than the template's.",
    ),
    validation(
        "!variables.tenant || !variables.bodyChanged || variables.given",
        "Resource pool, storage and template must be those that the platform gave this namespace in one location.",
        "'Namespace ' + request.namespace + ': ' + variables.asked + ' are not of one of its locations; allowed: ' + "
        + listed("variables.allowed"),
    ),
]


def machine_bodies(environment: Environment, after: tuple[str, ...]) -> Manifest:
    """Give the policy for an environment."""
    generation = environment.management.generation
    content = Content(variables(environment), VALIDATIONS, "ProxmoxNetworkTable")
    return policy(NAME, Rule.of(generation, *MACHINES), content, after)
