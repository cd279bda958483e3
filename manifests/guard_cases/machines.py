"""Cases of the zones' policy: a NIC on a zone's bridge is one of the networks that the zone gives the namespace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manifests.guard_cases import names
from manifests.guard_cases.bodies import Nic, labelled, machine, machine_spec, own_nic, ref, where
from manifests.guard_cases.case import Case, Matrix, Request
from manifests.guard_cases.world import NOBODY, World

if TYPE_CHECKING:
    from collections.abc import Iterable

    from settings.table import Row

KINDS = ("ProxmoxMachine", "ProxmoxMachineTemplate")


def zone_cases(world: World) -> list[Case]:
    """Give the cases of every zone, for each tenant that has a network and for a namespace that is nobody's."""
    matrix = Matrix(names.ZONES, world.generation)
    for zone in sorted(world.environment.zones):
        for namespace in world.tenants:
            for kind in KINDS:
                if world.own(namespace, zone):
                    _Owner(world, matrix, zone, namespace, kind).add()
                else:
                    _stranger(world, matrix, zone, namespace, kind)
        for kind in KINDS:
            _stranger(world, matrix, zone, NOBODY, kind)
    return matrix.all()


def _stranger(world: World, matrix: Matrix, zone: str, namespace: str, kind: str) -> None:
    """Add a namespace without a network in the zone, with a NIC that is right for its owner."""
    for row in [row for row in world.rows if row.zone == zone][:1]:
        place = f"{where(world, kind, namespace)}, bridge {row.bridge}"
        if namespace == NOBODY:
            _aliases(world, matrix, kind, row)
        owners = _Owner(world, matrix, zone, row.namespace, kind)
        elsewhere = world.own(namespace)[0] if namespace in world.tenants else row
        matrix.refuse(
            Request(
                f"{place}: VLAN {row.vlan}, where no network of the zone is the namespace's",
                machine(world, kind, namespace, machine_spec(world, elsewhere, [own_nic(world, row)])),
            ),
            twin=owners.admitted,
            says=f"VLAN {row.vlan}",
        )


def _aliases(world: World, matrix: Matrix, kind: str, row: Row) -> None:
    """Add a VLAN of the zone's bridge that is named as if it were a bridge, in a namespace that is nobody's."""
    place, nic = where(world, kind, NOBODY), own_nic(world, row)

    def request(bridge: str) -> Request:
        body = machine(world, kind, NOBODY, machine_spec(world, row, [nic.but(bridge=bridge)]))
        return Request(f"{place}: a NIC on {bridge}, beside zone {row.zone}", body)

    for mark in "v.":
        alias = f"{row.bridge}{mark}{row.vlan}"
        matrix.refuse(request(alias), twin=request(f"{world.closed_bridge}{mark}{row.vlan}"), says=f'net0 ("{alias}")')


class _Owner:
    """The cases of one kind in a namespace that has networks in a zone."""

    def __init__(self, world: World, matrix: Matrix, zone: str, namespace: str, kind: str) -> None:
        self.world, self.matrix, self.zone, self.namespace, self.kind = world, matrix, zone, namespace, kind
        self.row = world.own(namespace, zone)[0]
        self.where = f"{where(world, kind, namespace)}, bridge {self.row.bridge}"
        self.nic = own_nic(world, self.row)
        self.extra = own_nic(world, self.row, default=False)
        others = world.foreign(namespace, zone)
        self.foreign: Row | None = others[0] if others else None
        self.wrong_vlan = self.foreign.vlan if self.foreign else world.free_vlan(zone)
        self.admitted = self.request("a NIC on its own network", [self.nic])

    def request(self, text: str, nics: list[Nic] | None, row: Row | None = None, **more: Any) -> Request:
        spec = machine_spec(self.world, row or self.row, nics, **more)
        return Request(f"{self.where}: {text}", machine(self.world, self.kind, self.namespace, spec))

    def refuse(
        self, text: str, nics: list[Nic], *, says: str, twin: Request | None = None, also: Iterable[str] = ()
    ) -> None:
        self.matrix.refuse(self.request(text, nics), twin=twin or self.admitted, says=says, also=also)

    def add(self) -> None:
        self.refuse(f"VLAN {self.wrong_vlan} instead of its own", [self.nic.but(vlan=self.wrong_vlan)], says="NIC net0")
        free = self.world.free_vlan(self.zone)
        if free != self.wrong_vlan:
            self.refuse(f"VLAN {free}, which is no network's", [self.nic.but(vlan=free)], says="NIC net0")
        self.refuse("no VLAN, so every VLAN of the bridge", [self.nic.but(vlan=None)], says="NIC net0")
        self.several()
        self.pools()
        self.pairs()
        self.missing()
        if self.kind.endswith("Template"):
            self.changes()

    def several(self) -> None:
        twin = self.request("two NICs on its own network", [self.nic, self.extra])
        wrong = self.extra.but(vlan=self.wrong_vlan)
        self.refuse(f"a second NIC on VLAN {self.wrong_vlan}", [self.nic, wrong], says="NIC net1", twin=twin)
        self.refuse("a second NIC without VLAN", [self.nic, self.extra.but(vlan=None)], says="NIC net1", twin=twin)
        ten = [self.nic, *[self.extra] * 9]
        twin = self.request("ten NICs on its own network", ten)
        self.refuse("the last of ten NICs on another VLAN", [*ten[:-1], wrong], says="NIC net9", twin=twin)

    def pools(self) -> None:
        """Add what names another address pool than the row's; on the cluster's own range any pool is another."""
        pool = ref(self.row.name)
        if self.world.next_generation:
            self.refuse("an address pool on the default NIC", [self.nic.but(v4=pool)], says="NIC net0")
        else:
            self.refuse("no address pool", [self.nic.but(v4=None)], says="NIC net0")
            self.refuse("an address pool of IPv6 alone", [self.nic.but(v4=None, v6=pool)], says="NIC net0")
            self._foreign_pools(self.nic, [], self.admitted, "NIC net0")
        twin = self.request("two NICs on its own network", [self.nic, self.extra])
        self._foreign_pools(self.extra, [self.nic], twin, "NIC net1")
        if not self.world.older_version and self.world.next_generation:
            self.refuse("a second NIC without pool", [self.nic, self.extra.but(v4=None)], says="NIC net1", twin=twin)

    def _foreign_pools(self, nic: Nic, before: list[Nic], twin: Request, says: str) -> None:
        name = self.foreign.name if self.foreign else f"not-{self.row.name}"
        which = "a second NIC" if before else "a NIC"
        shared = nic.but(v4=ref(self.row.name, "GlobalInClusterIPPool"))
        text = f"{which} with the global pool {self.row.name}"
        self.refuse(text, [*before, shared], says=says, twin=twin, also=(names.BRIDGES,))
        for text, wrong in (
            (f"with the pool {name}", nic.but(v4=ref(name))),
            (f"with its own pool and {name} for IPv6", nic.but(v6=ref(name))),
        ):
            self.refuse(f"{which} {text}", [*before, wrong], says=says, twin=twin)

    def pairs(self) -> None:
        rows = self.world.own(self.namespace, self.zone)
        if len(rows) > 1:
            first, second = rows[0], rows[1]
            good = own_nic(self.world, second, default=False)
            twin = self.request("two NICs on two networks of its own", [self.nic, good])
            mixed = good.but(v4=ref(first.name))
            self.refuse(
                "a second NIC on one network with the pool of another", [self.nic, mixed], says="net1", twin=twin
            )

    def missing(self) -> None:
        """Add what leaves a NIC to the template of the VM."""
        both = (names.BRIDGES,)
        if self.world.machines == "v1alpha1":
            if self.world.older_version:
                return  # the converter writes a NIC on vmbr0 in the place of a missing one
            spec = machine_spec(self.world, self.row, network=None)
            body = machine(self.world, self.kind, self.namespace, spec)
            platform = f"{where(self.world, self.kind, NOBODY)}: no network"
            twin = Request(platform, machine(self.world, self.kind, NOBODY, spec))
            self.matrix.refuse(Request(f"{self.where}: no network", body), twin=twin, also=both)
            only = self.request(
                "a second NIC, and the default one left to the VM's template", [self.extra.but(name="net1")]
            )
            self.matrix.refuse(only, twin=self.admitted, also=both)
        else:
            spec = machine_spec(self.world, self.row, network={"networkDevices": []})
            body = machine(self.world, self.kind, self.namespace, spec)
            self.matrix.refuse(Request(f"{self.where}: no NIC", body), twin=self.admitted, also=both)
            only = self.request("a second NIC, and net0 left to the VM's template", [self.extra.but(name="net1")])
            self.matrix.refuse(only, twin=self.admitted, also=both)
            bare = self.request("a NIC without bridge", [self.nic.but(bridge=None)])
            self.matrix.refuse(bare, twin=self.admitted, also=both)

    def changes(self) -> None:
        """Add updates of a template; those of a machine are another policy's, which lets no network change."""
        own = self.admitted.body
        twin = Request(f"{self.where}: a change that leaves its NICs alone", labelled(own), old=own)
        moved = self.request("", [self.nic.but(vlan=self.wrong_vlan)]).body
        self.matrix.refuse(
            Request(f"{self.where}: a change from its own to VLAN {self.wrong_vlan}", moved, old=own),
            twin=twin,
            says="NIC net0",
        )
        if not self.world.next_generation:
            gone = machine(self.world, self.kind, self.namespace, machine_spec(self.world, self.row, network=None))
            self.matrix.refuse(
                Request(f"{self.where}: a change that takes the network away", gone, old=own),
                twin=twin,
                also=(names.BRIDGES,),
            )
        going = {"finalizers": ["hybrid.cozystack.io/guard-case"], "deletionTimestamp": "2030-01-01T00:00:00Z"}
        old = {**own, "metadata": {**own["metadata"], **going}}
        self.matrix.refuse(
            Request(
                f"{self.where}: a change to VLAN {self.wrong_vlan} of one that is being deleted",
                {**moved, "metadata": {**moved["metadata"], **going}},
                old=old,
            ),
            twin=Request(
                f"{self.where}: the last finalizer of one that is being deleted taken away",
                {**own, "metadata": {**own["metadata"], "deletionTimestamp": going["deletionTimestamp"]}},
                old=old,
            ),
            says="NIC net0",
        )
        free = self.world.free_vlan(self.zone)
        if free == self.wrong_vlan:
            free -= 1
        other = self.request("", [self.nic.but(vlan=free)]).body
        twin = Request(
            f"{self.where}: a change that leaves a NIC alone whose network is gone",
            labelled(moved),
            old=moved,
            before=True,
        )
        self.matrix.refuse(
            Request(
                f"{self.where}: a change of a NIC whose network is gone to another VLAN", other, old=moved, before=True
            ),
            twin=twin,
            says="NIC net0",
        )
