"""Cases of ProxmoxClusters: no address but from the tenant's own rows, and the tenant's own credentials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manifests.common import pve_secret
from manifests.guard_cases import names
from manifests.guard_cases.bodies import V1ALPHA1, cluster, ip_config, labelled, own_range, where
from manifests.guard_cases.case import Case, Matrix, Request
from manifests.guard_cases.world import NOBODY, World

if TYPE_CHECKING:
    from settings.table import Row

KINDS = ("ProxmoxCluster", "ProxmoxClusterTemplate")
_V6 = {"addresses": ["fd00::10-fd00::20"], "gateway": "fd00::1", "prefix": 64, "metric": 100}


def cluster_cases(world: World) -> list[Case]:
    """Give the cases for each row of each tenant's home, and for a namespace that is nobody's."""
    matrix = Matrix(names.CLUSTERS, world.generation)
    ranges = Matrix(names.RANGES, world.generation) if world.next_generation else matrix
    for namespace in world.tenants:
        for kind in KINDS:
            for row in world.own(namespace):
                _Cluster(world, kind, row).ranges(ranges)
            _Cluster(world, kind, world.own(namespace)[0]).others(matrix)
    return [*matrix.all(), *(ranges.all() if ranges is not matrix else [])]


class _Cluster:
    """The cases of one kind for one row."""

    def __init__(self, world: World, kind: str, row: Row) -> None:
        self.world, self.kind, self.row = world, kind, row
        self.where = where(world, kind, row.namespace)
        self.gateway = str(row.gateway)

    def body(self, namespace: str | None = None, **changes: Any) -> dict[str, Any]:
        return cluster(self.world, self.kind, namespace or self.row.namespace, self.row, **changes)

    def ranges(self, matrix: Matrix) -> None:
        place = f"{self.where} on network {self.row.name}"
        what = "a range of the network" if self.world.next_generation else "the gateway alone"
        own = self.body()
        twin = Request(f"{place}: {what}", own)
        for text, config in {**self._wrong(), **self._wrong_here()}.items():
            matrix.refuse(Request(f"{place}: {text}", self.body(ipv4Config=config)), twin=twin, says="ipv4Config")
        v6 = self.body(ipv6Config=_V6)
        matrix.refuse(Request(f"{place}: {what} and a range of IPv6", v6), twin=twin)
        v6 = self.body(ipv4Config=None, ipv6Config=_V6)
        matrix.refuse(Request(f"{place}: a range of IPv6 alone", v6), twin=twin)
        wide = self.body(ipv4Config=ip_config(self.row, [str(self.row.cidr)]))
        kept = Request(
            f"{place}: a change that leaves the range alone",
            self._with(own, allowedNodes=["guard-case"], controlPlaneEndpoint={"host": "192.0.2.1", "port": 6443}),
            old=own,
        )
        matrix.refuse(
            Request(f"{place}: a change to the network's whole cidr", wide, old=own), twin=kept, says="ipv4Config"
        )
        other = self.body(ipv4Config=ip_config(self.row, [f"{self.gateway}-{self.row.cidr[-2]}"]))
        matrix.refuse(
            Request(f"{place}: a change of a foreign range to another one", other, old=wide, before=True),
            twin=Request(f"{place}: a change that leaves a foreign range alone", labelled(wide), old=wide, before=True),
            says="ipv4Config",
        )

    def _with(self, body: dict[str, Any], **changes: Any) -> dict[str, Any]:
        spec = body["spec"]
        if self.kind.endswith("Template"):
            return {**body, "spec": {"template": {"spec": {**spec["template"]["spec"], **changes}}}}
        return {**body, "spec": {**spec, **changes}}

    def _wrong(self) -> dict[str, dict[str, Any]]:
        """Give ranges that are wrong in both generations, by what is wrong."""
        row, first = self.row, self.row.addresses[0]
        found = {
            "the network's whole cidr": ip_config(row, [str(row.cidr)]),
            "a part of its range": ip_config(row, [str(row.ranges[0].first)]),
            "its range and the gateway": ip_config(row, [first, self.gateway]),
            "the gateway as a range": ip_config(row, [f"{self.gateway}-{self.gateway}"]),
            "the gateway as a cidr": ip_config(row, [f"{self.gateway}/32"]),
        }
        foreign = self.world.foreign(row.namespace)
        if foreign:
            other = foreign[0]
            text = f"the range of {other.name}, which is another tenant's"
            found[text] = ip_config(other, [other.addresses[0]])
        return found

    def _wrong_here(self) -> dict[str, dict[str, Any]]:
        """Give ranges that are wrong in this generation only."""
        row = self.row
        if not self.world.next_generation:
            return {
                "its range": ip_config(row, row.addresses),
                "the gateway without naming it as one": ip_config(row, [self.gateway], gateway=None),
                "an address that is not the gateway": ip_config(row, [str(row.ranges[0].first)], gateway=self.gateway),
            } | ({} if len(row.addresses) > 1 else {"the gateway twice": ip_config(row, [self.gateway, self.gateway])})
        found = {
            "the gateway alone, on which every machine waits for ever": ip_config(row, [self.gateway]),
            "its range with another gateway": ip_config(row, [row.addresses[0]], gateway=str(row.ranges[0].last)),
            "its range with another prefix": ip_config(row, [row.addresses[0]], prefix=row.cidr.prefixlen - 1),
        }
        if len(row.addresses) > 1:
            found["two of its ranges"] = ip_config(row, row.addresses)
        return found

    def others(self, matrix: Matrix) -> None:
        place, own = self.where, self.body()
        twin = Request(f"{place}: its own credentials", own)
        name = pve_secret(self.row.location)
        other = next(iter(set(self.world.tenants) - {self.row.namespace}), "kube-system")
        for text, reference in (
            (f"the credentials of {other}", {"name": name, "namespace": other}),
            ("another Secret of its own namespace", {"name": f"not-{name}", "namespace": self.row.namespace}),
            ("credentials without a name", {"namespace": self.row.namespace}),
            ("no credentials", None),
        ):
            wrong = self.body(credentialsRef=reference)
            matrix.refuse(Request(f"{place}: {text}", wrong), twin=twin, says="credentialsRef")
        moved = self._with(own, credentialsRef={"name": name, "namespace": other})
        matrix.refuse(
            Request(f"{place}: a change to the credentials of {other}", moved, old=own),
            twin=Request(f"{place}: a change of its nodes", self._with(own, allowedNodes=["guard-case"]), old=own),
            says="credentialsRef",
        )
        without = Request(
            f"{place}: its own credentials without saying in which namespace", self.body(credentialsRef={"name": name})
        )
        matrix.refuse(
            Request(
                f"{place}: no credentials, and a namespace of theirs", self.body(credentialsRef={"namespace": other})
            ),
            twin=without,
            says="credentialsRef",
        )
        beside = where(self.world, self.kind, NOBODY)
        stolen = self.body(NOBODY, credentialsRef={"name": name, "namespace": self.row.namespace})
        matrix.refuse(
            Request(f"{beside}: the credentials of {self.row.namespace}", stolen),
            twin=self._of_nobody("credentials beside it"),
            says="credentialsRef",
        )
        self._closed(matrix)

    def _of_nobody(self, text: str, **changes: Any) -> Request:
        """Give a request in a namespace that is nobody's, with credentials beside it."""
        reference = {"name": pve_secret(self.row.location), "namespace": NOBODY}
        body = self.body(NOBODY, credentialsRef=reference, **changes)
        return Request(f"{where(self.world, self.kind, NOBODY)}: {text}", body)

    def _closed(self, matrix: Matrix) -> None:
        """Add the parts of a cluster that are closed; a converter of the older version has dropped its own."""
        if self.world.machines == V1ALPHA1:
            if not self.world.older_version:
                nic = {"default": {"bridge": self.row.bridge, "vlan": self.row.vlan}}
                spec = {"machineSpec": {"controlPlane": {"sourceNode": "x", "templateID": 100, "network": nic}}}
                wrong = self.body(cloneSpec=spec)
                twin = self._of_nobody("a cloneSpec", cloneSpec=spec)
                matrix.refuse(Request(f"{self.where}: a cloneSpec", wrong), twin=twin, says="cloneSpec")
            return
        config = [{"zone": "z1", "dnsServers": ["192.0.2.53"], "ipv4Config": own_range(self.world, self.row)}]
        wrong = self.body(zoneConfig=config)
        twin = self._of_nobody("a zoneConfig", zoneConfig=config)
        matrix.refuse(Request(f"{self.where}: a zoneConfig", wrong), twin=twin, says="zoneConfig")
