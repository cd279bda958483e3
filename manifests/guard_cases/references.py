"""Cases of references: what Cluster API follows for a tenant stays in its namespace, and is what the program writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manifests.generations import api_version
from manifests.guard_cases import names
from manifests.guard_cases.bodies import Body, labelled
from manifests.guard_cases.case import Case, Matrix, Request
from manifests.guard_cases.world import NOBODY

if TYPE_CHECKING:
    from manifests.guard_cases.world import World

_LABELS = {"cluster.x-k8s.io/cluster-name": "guardcase"}
_ELSEWHERE = "kube-system"
_TEMPLATE = "ProxmoxMachineTemplate"
_LIKE = {
    "TalosConfig": "TalosConfigTemplate",
    "KubeadmControlPlane": "KamajiControlPlane",
    "HetznerCluster": "ProxmoxCluster",
    "HCloudMachineTemplate": _TEMPLATE,
    "GuardCaseTemplate": _TEMPLATE,
}
"""Kinds that nothing here writes, and one of the same API group."""


def reference_cases(world: World) -> list[Case]:
    """Give the cases for each tenant that has a network."""
    matrix = Matrix(names.REFERENCES, world.generation)
    for namespace in world.tenants:
        references = _References(world, matrix, namespace)
        references.other_namespaces()
        references.of_the_tenant()
        references.changes()
    return matrix.all()


class _References:
    """The cases of one namespace."""

    def __init__(self, world: World, matrix: Matrix, namespace: str) -> None:
        self.world, self.matrix, self.namespace = world, matrix, namespace
        self.other = next(iter(set(world.tenants) - {namespace}), _ELSEWHERE)

    def where(self, kind: str) -> str:
        return f"{kind} in {self.namespace}"

    def ref(self, kind: str, **changes: str) -> Body:
        """Give a reference as the generation has it."""
        written = api_version(_LIKE.get(kind, kind), self.world.generation)
        found = {"kind": kind, "name": "guardcase", **changes}
        if self.world.next_generation:
            return {"apiGroup": written.partition("/")[0], **found}
        return {"apiVersion": written, **found}

    def body(self, kind: str, spec: Body, namespace: str | None = None) -> Body:
        return {
            "apiVersion": api_version(kind, self.world.generation),
            "kind": kind,
            "metadata": {"namespace": namespace or self.namespace},
            "spec": spec,
        }

    def cluster(self, **changes: Any) -> Body:
        refs = {"infrastructureRef": self.ref("ProxmoxCluster"), "controlPlaneRef": self.ref("KamajiControlPlane")}
        return self.body("Cluster", {**refs, **changes})

    def workers(self, kind: str = "MachineDeployment", namespace: str | None = None, **changes: Any) -> Body:
        """Give what makes machines from templates: a MachineDeployment or MachineSet."""
        spec = {
            "clusterName": "guardcase",
            "replicas": 0,
            "selector": {"matchLabels": _LABELS},
            "template": {"metadata": {"labels": _LABELS}, "spec": self.machine_spec(_TEMPLATE, **changes)},
        }
        return self.body(kind, spec, namespace)

    def machine_spec(self, infrastructure: str, **changes: Any) -> Body:
        return {
            "clusterName": "guardcase",
            "bootstrap": {"configRef": self.ref("TalosConfigTemplate")},
            "infrastructureRef": self.ref(infrastructure),
            **changes,
        }

    def other_namespaces(self) -> None:
        """Add references that name a namespace; in capi-1.12 a Cluster's class alone can."""
        self._class()
        if self.world.next_generation:
            return
        infrastructure, config = "infrastructureRef", "bootstrap.configRef"
        for kind, field, to in (
            ("Cluster", infrastructure, "ProxmoxCluster"),
            ("Cluster", "controlPlaneRef", "KamajiControlPlane"),
            ("MachineDeployment", infrastructure, _TEMPLATE),
            ("MachineDeployment", config, "TalosConfigTemplate"),
            ("MachineSet", infrastructure, _TEMPLATE),
            ("MachineSet", config, "TalosConfigTemplate"),
            ("Machine", infrastructure, "ProxmoxMachine"),
            ("Machine", config, "TalosConfig"),
            ("MachineHealthCheck", "remediationTemplate", _TEMPLATE),
        ):
            own, foreign = (
                self._with(kind, field, self.ref(to, namespace=each)) for each in (self.namespace, self.other)
            )
            self.matrix.refuse(
                Request(f"{self.where(kind)}: {field} of {self.other}", foreign),
                twin=Request(f"{self.where(kind)}: {field} of its own namespace", own),
                says=f"{field} names",
            )
        beside = self.workers(namespace=NOBODY, infrastructureRef=self.ref(_TEMPLATE, namespace=self.namespace))
        self.matrix.refuse(
            Request(
                f"{self.where('MachineDeployment')}: a template of {NOBODY}",
                self.workers(infrastructureRef=self.ref(_TEMPLATE, namespace=NOBODY)),
            ),
            twin=Request(f"MachineDeployment in {NOBODY}: a template of {self.namespace}", beside),
            says=f"{NOBODY}/guardcase",
        )

    def _with(self, kind: str, field: str, ref: Body) -> Body:
        """Give an object of a kind with one reference as given."""
        changes: Body = {"bootstrap": {"configRef": ref}} if field == "bootstrap.configRef" else {field: ref}
        if kind == "Cluster":
            return self.cluster(**changes)
        if kind == "MachineHealthCheck":
            return self.health_check(ref)
        if kind == "Machine":
            return self.body(kind, self.machine_spec("ProxmoxMachine", **changes))
        return self.workers(kind, **changes)

    def health_check(self, template: Body | None) -> Body:
        spec: Body = {"clusterName": "guardcase", "selector": {"matchLabels": _LABELS}}
        if template and self.world.next_generation:
            api = {"apiVersion": api_version(_TEMPLATE, self.world.generation)}
            without_group = {key: value for key, value in template.items() if key != "apiGroup"}
            spec["remediation"] = {"templateRef": {**api, **without_group}}
        elif template:
            spec["remediationTemplate"] = template
        if not self.world.next_generation:
            spec["unhealthyConditions"] = [{"type": "Ready", "status": "Unknown", "timeout": "5m"}]
        return self.body("MachineHealthCheck", spec)

    def _class(self) -> None:
        twin = Request(f"{self.where('Cluster')}: a class of its own namespace", self._of_class(self.namespace))
        refused = Request(f"{self.where('Cluster')}: a class of {self.other}", self._of_class(self.other))
        self.matrix.refuse(refused, twin=twin, says=f"ClusterClass {self.other}/guardcase")
        if not self.world.next_generation:
            own, foreign = (self.ref(_TEMPLATE, namespace=each) for each in (self.namespace, self.other))
            twin = Request(f"{self.where('Cluster')}: health checks of a class", self._of_class(self.namespace, own))
            wrong = self._of_class(self.namespace, foreign)
            self.matrix.refuse(
                Request(f"{self.where('Cluster')}: health checks of a class with a template of {self.other}", wrong),
                twin=twin,
                says="spec.topology.workers.machineDeployments.a.machineHealthCheck.remediationTemplate names",
            )

    def _of_class(self, namespace: str, remediation: Body | None = None) -> Body:
        topology: Body = {"version": "v1.35.6"}
        if self.world.next_generation:
            topology["classRef"] = {"name": "guardcase", "namespace": namespace}
        else:
            topology |= {"class": "guardcase", "classNamespace": namespace}
        if remediation:
            health = {"machineHealthCheck": {"remediationTemplate": remediation}}
            topology["controlPlane"] = health
            topology["workers"] = {"machineDeployments": [{"class": "a", "name": "a", **health}]}
        return self.body("Cluster", {"topology": topology})

    def of_the_tenant(self) -> None:
        """Add what only a tenant's own identity may not refer to."""

        def add(text: str, wrong: Body, says: str, right: Body | None = None) -> None:
            where = f"{self.where(wrong['kind'])}, made by "
            twin = Request(f"{where}the tenant's own identity: as the program writes it", right or wrong, user="tenant")
            if right is None:
                twin = Request(f"{where}an administrator: {text}", wrong)
            request = Request(f"{where}the tenant's own identity: {text}", wrong, user="tenant")
            self.matrix.refuse(request, twin=twin, says=says)

        secret = self.workers(bootstrap={"dataSecretName": "guardcase"})
        add("a Secret of its choice for the machines", secret, "dataSecretName must be absent", self.workers())
        foreign = self.workers(infrastructureRef=self.ref("HCloudMachineTemplate"))
        add("a template of another provider", foreign, "HCloudMachineTemplate", self.workers())
        foreign = self.cluster(controlPlaneRef=self.ref("KubeadmControlPlane"))
        add("another provider's control plane", foreign, "KubeadmControlPlane", self.cluster())
        foreign = self.cluster(infrastructureRef=self.ref("HetznerCluster"))
        add("another provider's infrastructure", foreign, "HetznerCluster", self.cluster())
        remediated = self.health_check(self.ref("GuardCaseTemplate"))
        add("a template for remediation", remediated, "GuardCaseTemplate", self.health_check(None))
        add("a Cluster of a class", self._of_class(self.namespace), "ClusterClass")

    def changes(self) -> None:
        """Add updates: what a change leaves alone is not judged again."""
        where = self.where("MachineDeployment")
        own = self.workers()
        secret = self.workers(bootstrap={"dataSecretName": "guardcase"})
        self.matrix.refuse(
            Request(f"{where}, changed by the tenant's own identity to a Secret", secret, old=own, user="tenant"),
            twin=Request(f"{where}, changed by an administrator to a Secret", secret, old=own),
            says="dataSecretName must be absent",
        )
        other = self.workers(bootstrap={"dataSecretName": "guardcase-2"})
        tenant = f"{where}, changed by the tenant's own identity"
        self.matrix.refuse(
            Request(f"{tenant}: a Secret to another one", other, old=secret, user="tenant"),
            twin=Request(f"{tenant}: a label beside a Secret", labelled(secret), old=secret, user="tenant"),
            says="dataSecretName must be absent",
        )
        if self.world.next_generation:
            return
        foreign = self.workers(infrastructureRef=self.ref(_TEMPLATE, namespace=self.other))
        self.matrix.refuse(
            Request(f"{where}: a change to a template of {self.other}", foreign, old=own),
            twin=Request(f"{where}: a change of its labels", labelled(own), old=own),
            says=f"{self.other}/guardcase",
        )
        more = self.workers(infrastructureRef=self.ref(_TEMPLATE, namespace=self.other, name="guardcase-2"))
        self.matrix.refuse(
            Request(f"{where}: a change of a foreign template to another one", more, old=foreign, before=True),
            twin=Request(
                f"{where}: a change that leaves a foreign template alone", labelled(foreign), old=foreign, before=True
            ),
            says=f"{self.other}/guardcase-2",
        )
