"""`hybrid-references`: what Cluster API follows for a tenant stays in the tenant's namespace.

Cluster API reads and owns with its own rights what a Cluster, MachineDeployment, MachineSet, Machine or
MachineHealthCheck refers to: a reference to another namespace would read a bootstrap template there, or hang an owner
on it so that the garbage collector takes it away. Only `v1beta1` has such references; in `v1beta2` a Cluster's class
alone names a namespace.

A tenant's own identity refers to nothing but what the program writes, and to no Secret of bootstrap data: a machine
would get that Secret's content as its configuration. Cluster API itself writes the Secret's name on Machines, and the
platform's charts refer to kinds of other providers: neither is judged by that.

Only references that a request changes are judged.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from manifests.common import identities, tenant_namespaces
from manifests.generations import CAPI_1_10, CAPI_1_12, KINDS
from manifests.policies.parts import Content, Rule, Variables, policy, texts, validation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from manifests.manifest import Manifest
    from settings.environment import Environment, Generation

NAME = "hybrid-references"

JUDGED = ("Cluster", "Machine", "MachineDeployment", "MachineHealthCheck", "MachineSet")
MORE = ("machinepools",)
"""Refers like a MachineDeployment; not every management cluster serves it."""

WRITTEN = ("KamajiControlPlane", "ProxmoxCluster", "ProxmoxMachineTemplate", "TalosConfigTemplate")
"""The kinds to which the program's objects refer."""

_BOTH = (
    "controlPlaneRef",
    "infrastructureRef",
    "bootstrap.configRef",
    "template.spec.infrastructureRef",
    "template.spec.bootstrap.configRef",
)
_HEALTH: Mapping[Generation, str] = {CAPI_1_10: "remediationTemplate", CAPI_1_12: "remediation.templateRef"}
_TOPOLOGY_HEALTH: Mapping[Generation, str] = {
    CAPI_1_10: "machineHealthCheck.remediationTemplate",
    CAPI_1_12: "healthCheck.remediation.templateRef",
}
_CLASS: Mapping[Generation, tuple[str, str]] = {
    CAPI_1_10: ("t.?class", "t.?classNamespace"),
    CAPI_1_12: ("t.?classRef.?name", "t.?classRef.?namespace"),
}
"""Name and namespace of the class of a Cluster's topology `t`."""

_GROUP: Mapping[Generation, str] = {
    CAPI_1_10: "r.to.?apiVersion.orValue('').split('/')[0]",
    CAPI_1_12: "r.to.?apiGroup.orValue('')",
}


def _optional(root: str, place: str) -> str:
    return root + "".join(f".?{key}" for key in place.split("."))


def _references(root: str, generation: Generation) -> str:
    """Write the list of all references below `root`, each with the place at which it stands.

    (`dyn`: the API server takes no literal with values of several types.)
    """
    health = _TOPOLOGY_HEALTH[generation]
    plain = [
        f"[?{_optional(root, place)}].map(r, {{'at': dyn('spec.{place}'), 'to': r}})"
        for place in (*_BOTH, _HEALTH[generation], f"topology.controlPlane.{health}")
    ]
    workers = (
        f"{root}.?topology.?workers.?machineDeployments.orValue([]).filter(d, {_optional('d', health)}.hasValue())"
        f".map(d, {{'at': dyn('spec.topology.workers.machineDeployments.' + d.name + '.{health}'),"
        f" 'to': d.{health}}})"
    )
    name, namespace = _CLASS[generation]
    named = (
        f"[?{root}.?topology].map(t, {{'at': dyn('spec.topology'), 'to': dyn({{'kind': dyn('ClusterClass'),"
        f" 'name': {name}.orValue(''), 'namespace': {namespace}.orValue('')}})}})"
    )
    return " + ".join([*plain, workers, named])


def _secrets(root: str) -> str:
    return " + ".join(
        f"[?{_optional(root, place)}]"
        for place in ("bootstrap.dataSecretName", "template.spec.bootstrap.dataSecretName")
    )


def variables(environment: Environment) -> Variables:
    """Give the policy's variables: the tenants' namespaces and identities are written into it."""
    generation = environment.management.generation
    kinds = sorted(f"{KINDS[kind].group}/{kind}" for kind in WRITTEN)
    return {
        "spec": "object.spec",
        "old": "oldObject == null ? dyn({}) : oldObject.spec",
        "tenant": f"request.namespace in {texts(tenant_namespaces(environment))}",
        "byTenant": f"request.userInfo.username in {texts(identities(environment))}",
        "before": _references("variables.old", generation),
        "changed": f"({_references('variables.spec', generation)}).filter(r, !variables.before.exists(b, b == r))",
        "foreign": "variables.changed.filter(r, !(r.to.?namespace.orValue('') in ['', request.namespace]))",
        "kinds": texts(kinds),
        "unusual": (
            f"variables.changed.filter(r, !(({_GROUP[generation]} + '/' + r.to.?kind.orValue('')) in variables.kinds))"
        ),
        "secrets": _secrets("variables.spec"),
        "secretsBefore": _secrets("variables.old"),
    }


def _said(references: str, namespace: str) -> str:
    return (
        f"{references}.map(r, r.at + ' names ' + r.to.?kind.orValue('') + ' '"
        f" + {namespace} + '/' + r.to.?name.orValue('')).join('; ')"
    )


VALIDATIONS = [
    validation(
        "!variables.tenant || size(variables.foreign) == 0",
        "A reference names another namespace: Cluster API would follow it with its own rights.",
        "'Namespace ' + request.namespace + ': ' + "
        + _said("variables.foreign", "r.to['namespace']")
        + " + '; a reference stays in its own namespace'",
    ),
    validation(
        "!variables.byTenant || size(variables.unusual) == 0",
        "A tenant's own identity refers to nothing but what the program writes.",
        "'Namespace ' + request.namespace + ': ' + "
        + _said("variables.unusual", "r.to.?namespace.orValue(request.namespace)")
        + " + '; a tenant refers only to ' + variables.kinds.join(', ')",
    ),
    validation(
        "!variables.byTenant || size(variables.secrets) == 0 || variables.secrets == variables.secretsBefore",
        "bootstrap.dataSecretName must be absent: a machine would get that Secret's content. Use bootstrap.configRef.",
    ),
]


def references(environment: Environment, after: tuple[str, ...]) -> Manifest:
    """Give the policy for an environment."""
    rule = Rule.of(environment.management.generation, *JUDGED)
    rule = replace(rule, resources=(*rule.resources, *MORE))
    return policy(NAME, rule, Content(variables(environment), VALIDATIONS), after)
