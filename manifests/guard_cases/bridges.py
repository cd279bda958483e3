"""Cases of the closed bridges: tenants' NICs stand on zones' bridges and open ones, and a bridge is a bridge's name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from manifests.guard_cases import names
from manifests.guard_cases.bodies import V1ALPHA1, Nic, labelled, machine, machine_spec, own_nic, ref, where
from manifests.guard_cases.case import Case, Matrix, Request
from manifests.guard_cases.machines import KINDS
from manifests.guard_cases.world import NOBODY, World

if TYPE_CHECKING:
    from settings.table import Row


def bridge_cases(world: World) -> list[Case]:
    """Give the cases for each tenant that has a network, and for a namespace that is nobody's."""
    matrix = Matrix(names.BRIDGES, world.generation)
    for namespace in world.tenants:
        row = world.own(namespace)[0]
        for kind in KINDS:
            _tenant(world, matrix, kind, row)
    for row in world.rows[:1]:
        for kind in KINDS:
            _nobody(world, matrix, kind, row)
    return matrix.all()


def _tenant(world: World, matrix: Matrix, kind: str, row: Row) -> None:
    place = where(world, kind, row.namespace)
    nic, extra = own_nic(world, row), own_nic(world, row, default=False)

    def request(text: str, *nics: Nic) -> Request:
        body = machine(world, kind, row.namespace, machine_spec(world, row, list(nics)))
        return Request(f"{place}: {text}", body)

    twin = request("a NIC on a zone's bridge", nic)
    for bridge in (
        world.closed_bridge,
        f"{row.bridge},tag=205",
        f"{row.bridge}.205",
        f"{row.bridge}v205",
        f" {row.bridge}",
        f"{row.bridge} ",
        row.bridge.swapcase(),
    ):
        if bridge in world.bridges:
            continue
        says = f'net0 ("{bridge}")'
        also = (names.ZONES,) if bridge in (f"{row.bridge}.205", f"{row.bridge}v205") else ()
        matrix.refuse(request(f'a NIC on "{bridge}"', nic.but(bridge=bridge)), twin=twin, says=says, also=also)
    two = request("two NICs on a zone's bridge", nic, extra)
    matrix.refuse(
        request(f"a second NIC on {world.closed_bridge}", nic, extra.but(bridge=world.closed_bridge)),
        twin=two,
        says=f'net1 ("{world.closed_bridge}")',
    )
    if world.machines == V1ALPHA1 and not world.older_version:
        for name in ("eth1", "net1,bridge=vmbr0", "scsi1", "net", "net32", "net01"):
            matrix.refuse(request(f'a second NIC named "{name}"', nic, extra.but(name=name)), twin=two)
    for bridge in sorted(set(world.environment.management.open_bridges)):
        good = extra.but(bridge=bridge, vlan=world.open_vlan(bridge))
        twin = request(f"a second NIC on the open bridge {bridge}", nic, good)
        matrix.refuse(
            request(
                f"a second NIC on {bridge} with a global pool", nic, good.but(v4=ref(row.name, "GlobalInClusterIPPool"))
            ),
            twin=twin,
        )
        says = f'net1 ("{bridge}") names no VLAN that is open'
        matrix.refuse(
            request(f"a second NIC on {bridge} without VLAN, so on every VLAN of it", nic, good.but(vlan=None)),
            twin=twin,
            says=says,
        )
        closed = world.closed_vlan(bridge)
        if closed is not None:
            wrong = good.but(vlan=closed)
            matrix.refuse(request(f"a second NIC on VLAN {closed} of {bridge}", nic, wrong), twin=twin, says=says)
    if kind.endswith("Template"):
        old = request("", nic.but(bridge=world.closed_bridge)).body
        other = request("", nic.but(bridge=f"{world.closed_bridge}v206")).body
        matrix.refuse(
            Request(f"{place}: a change from a closed bridge to another one", other, old=old, before=True),
            twin=Request(f"{place}: a change that leaves a closed bridge alone", labelled(old), old=old, before=True),
            says="net0",
        )


def _nobody(world: World, matrix: Matrix, kind: str, row: Row) -> None:
    place = where(world, kind, NOBODY)
    nic = own_nic(world, row)

    def request(bridge: str) -> Request:
        body = machine(world, kind, NOBODY, machine_spec(world, row, [nic.but(bridge=bridge)]))
        return Request(f'{place}: a NIC on "{bridge}"', body)

    twin = request(world.closed_bridge)
    for bridge in (f"{row.bridge},tag=205", f"{world.closed_bridge},trunks=2-4094", f"{row.bridge} ", "vmbr0/x"):
        matrix.refuse(request(bridge), twin=twin, says=f'net0 ("{bridge}")')
