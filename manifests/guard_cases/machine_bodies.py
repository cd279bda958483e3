"""Cases of machines beside their NICs: which VM an object is, what it is made of, and that it stays where it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manifests.guard_cases import names
from manifests.guard_cases.bodies import Body, labelled, machine, machine_spec, own_nic, where
from manifests.guard_cases.case import Case, Matrix, Request
from manifests.guard_cases.machines import KINDS

if TYPE_CHECKING:
    from manifests.guard_cases.world import World
    from settings.table import Row

_PROVIDER_ID = "proxmox://6d2ad0a5-4f0f-4c8e-9a52-0c0ffee0cafe"
_VM_ID = 999_000_001
_FINALIZER = "proxmoxmachine.infrastructure.cluster.x-k8s.io"


def machine_cases(world: World) -> list[Case]:
    """Give the cases for each tenant that has a network."""
    matrix = Matrix(names.MACHINES, world.generation)
    for namespace in world.tenants:
        row = world.own(namespace)[0]
        for kind in KINDS:
            _Machine(world, kind, row).made_of(matrix)
        _Machine(world, "ProxmoxMachine", row).identity(matrix)
        _Machine(world, "ProxmoxMachine", row).network(matrix)
    return matrix.all()


class _Machine:
    """The cases of one kind for one row."""

    def __init__(self, world: World, kind: str, row: Row) -> None:
        self.world, self.kind, self.row = world, kind, row
        self.where = where(world, kind, row.namespace)

    def body(self, meta: dict[str, Any] | None = None, **changes: Any) -> Body:
        spec = machine_spec(self.world, self.row, **changes)
        return machine(self.world, self.kind, self.row.namespace, spec, **(meta or {}))

    def request(self, text: str, old: Body | None = None, **changes: Any) -> Request:
        return Request(f"{self.where}: {text}", self.body(**changes), old=old)

    def made_of(self, matrix: Matrix) -> None:
        row, template = self.row, self.world.location(self.row).template
        twin = self.request("what the platform gives the namespace in a location")
        others = set(self.world.tenants.values()) - {row.tenant}
        other = self.world.resource_pool(min(others)) if others else f"not-{row.tenant}"
        wrong: dict[str, dict[str, Any]] = {
            f"the resource pool {other}": {"pool": other},
            "a storage that is not the location's": {"storage": f"{self.world.location(row).storage.name}-2"},
            "a template of other tags": {"templateSelector": {"matchTags": ["guard-case"]}},
            "a template of some of the tags": {
                "templateSelector": {"matchTags": [*sorted(template.tags), "guard-case"]}
            },
        }
        for text, changes in wrong.items():
            matrix.refuse(self.request(text, **changes), twin=twin, says=f"Namespace {row.namespace}")
        by_id: dict[str, Any] = {"templateSelector": None, "sourceNode": template.node}
        matrix.refuse(
            self.request("another VM as the template", templateID=template.id + 1, **by_id),
            twin=self.request("the location's template by its node and id", templateID=template.id, **by_id),
            says=f"Namespace {row.namespace}",
        )
        matrix.refuse(self.request("a snapshot of the template", snapName="guard-case"), twin=twin, says="snapName")
        if self.kind.endswith("Template"):
            matrix.refuse(self.request("a VM's id for every machine of it", virtualMachineID=_VM_ID), twin=twin)

    def identity(self, matrix: Matrix) -> None:
        """Add who may say which VM of Proxmox VE a machine is."""
        new = Request(f"{self.where}: as Cluster API makes it", self.cloned())
        for field, value in (("virtualMachineID", _VM_ID), ("providerID", _PROVIDER_ID)):
            taken = self.cloned(**{field: value})
            matrix.refuse(Request(f"{self.where}: a new one that says its {field}", taken), twin=new, says=field)
            for old, text in ((self.cloned(), "written by an administrator"), (taken, "changed by an administrator")):
                other = self.cloned(**{field: value if old is not taken else _other(value)})
                made = old is taken
                by_capmox = text.replace("an administrator", "capmox")
                matrix.refuse(
                    Request(f"{self.where}: {field} {text}", other, old=old, before=made),
                    twin=Request(f"{self.where}: {field} {by_capmox}", other, old=old, user="controller", before=made),
                    says=field,
                )
        known = self.cloned(virtualMachineID=_VM_ID, providerID=_PROVIDER_ID)
        gone = self.cloned(providerID=_PROVIDER_ID)
        matrix.refuse(
            Request(f"{self.where}: virtualMachineID taken away by an administrator", gone, old=known, before=True),
            twin=Request(f"{self.where}: a label beside the ids", labelled(known), old=known, before=True),
            says="virtualMachineID",
        )

    def cloned(self, **changes: Any) -> Body:
        """Give a machine as Cluster API clones it from its template (rebuilt from a run of the controllers)."""
        meta = {
            "labels": {"cluster.x-k8s.io/cluster-name": "guardcase", "cluster.x-k8s.io/deployment-name": "guardcase-a"},
            "annotations": {
                "cluster.x-k8s.io/cloned-from-groupkind": "ProxmoxMachineTemplate.infrastructure.cluster.x-k8s.io",
                "cluster.x-k8s.io/cloned-from-name": "guardcase-a-0a1b2c3d",
                "cluster.x-k8s.io/paused": "true",  # should the controllers run, they let it be
            },
        }
        return self.body(meta, **changes)

    def network(self, matrix: Matrix) -> None:
        """Add changes of a machine's network, to what is its namespace's too."""
        row, old = self.row, self.cloned()
        finalized = {**old, "metadata": {**old["metadata"], "finalizers": [_FINALIZER]}}
        twin = Request(f"{self.where}: capmox's finalizer put on", finalized, old=old)
        nic = own_nic(self.world, row)
        more = self.cloned(
            network=machine_spec(self.world, row, [nic, own_nic(self.world, row, default=False)])["network"]
        )
        matrix.refuse(
            Request(f"{self.where}: a change that adds a NIC on its own network", more, old=old),
            twin=twin,
            says="network",
        )
        others = [each for each in self.world.own(row.namespace) if each.name != row.name]
        for other in others[:1]:
            moved = self.cloned(network=machine_spec(self.world, row, [own_nic(self.world, other)])["network"])
            matrix.refuse(
                Request(f"{self.where}: a change to {other.name}, which is its own too", moved, old=old),
                twin=twin,
                says="network",
            )
        foreign = self.world.foreign(row.namespace, row.zone)
        vlan = foreign[0].vlan if foreign else self.world.free_vlan(row.zone)
        moved = self.cloned(network=machine_spec(self.world, row, [nic.but(vlan=vlan)])["network"])
        matrix.refuse(Request(f"{self.where}: a change to VLAN {vlan}", moved, old=old), twin=twin, also=(names.ZONES,))
        if not self.world.next_generation:
            gone = self.cloned(network=None)
            matrix.refuse(
                Request(f"{self.where}: a change that takes the network away", gone, old=old),
                twin=twin,
                also=(names.ZONES, names.BRIDGES),
            )
        stray = self.cloned(network=machine_spec(self.world, row, [nic.but(vlan=vlan)])["network"])
        matrix.refuse(
            Request(f"{self.where}: a change of a foreign NIC to its own network", old, old=stray, before=True),
            twin=Request(
                f"{self.where}: a label beside a NIC whose network is gone", labelled(stray), old=stray, before=True
            ),
            says="network",
        )


def _other(value: object) -> object:
    return value + 1 if isinstance(value, int) else _PROVIDER_ID.replace("cafe", "beef")
