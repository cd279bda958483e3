"""Requests drawn at random: legal ones of an environment's tenants, most with one or two things made wrong."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from tests.guard import control_planes
from tests.guard.offline import Request
from tests.guard.promise import JUDGE, Promise, Row

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

Body = dict[str, Any]
_INFRASTRUCTURE = "infrastructure.cluster.x-k8s.io"
_IPAM = "ipam.cluster.x-k8s.io"
_ELSEWHERE, _FAR = "platform", "monitoring"
_EXTRAS: tuple[Body, ...] = (
    {},
    {"allocateReservedIPAddresses": True},
    {"allocateReservedIPAddresses": False},
    {"addressReuseGracePeriodSeconds": 60},
    {"excludedAddresses": ["10.0.0.9"]},
)
_POOLS = ("x", "prod-v6-icip", "prod-v4-icip-x", "-v4-icip", "prod-v4-icips")
_RESERVED = "allocateReservedIPAddresses"
_BRIDGES = (
    "vmbr0",
    "vmbr1v201",
    "vmbr1.201",
    "vmbr1v",
    "vmbr1vx",
    "xvmbr1v2",
    "vmbr1v2x",
    "vmbr2.5",
    "vmbr1,tag=205",
    "-vmbr1",
    "vmbr1 ",
    "",
    None,
    "a234567890123456",
    "a23456789012345",
)
_DEVICES = (
    "net2",
    "net9",
    "net10",
    "net19",
    "net20",
    "net30",
    "net31",
    "net32",
    "net01",
    "netx",
    "scsi0",
    "xnet1",
    "net1x",
    None,
)


class Draw:
    """Draws requests to one environment's cluster; all choices are `random`'s."""

    def __init__(self, random: Random, environment: Body) -> None:
        """Take the table as the promise reads it."""
        self.random = random
        self.promise = Promise(environment)
        self.newer = self.promise.newer
        self.namespaces = sorted(self.promise.tenants)
        self.users = ["admin", self.promise.capmox, self.promise.charts]

    def request(self, kinds: tuple[str, ...] = ()) -> Request:
        """Draw one, of one of `kinds` (of any that the draw knows where none is named)."""
        kind = self.one(kinds or KINDS)
        namespace = self.one([*self.namespaces * 3, _ELSEWHERE])
        body = _MAKERS[kind](self, kind, namespace)
        old = self._old(body, kind, namespace)
        user = self.one([*self.users, f"system:serviceaccount:{namespace}:hybrid"])
        if kind == "Secret" and self.chance(0.6):
            user = f"system:serviceaccount:{self.one([namespace, *self.namespaces])}:hybrid"
        if self.chance(0.3):
            body["metadata"]["annotations"] = {self.one([JUDGE, "other"]): "x"}
        dry_run = self.one([False] * 6 + [None, True, True, True])
        return Request(namespace, "update" if old else "create", body, old, user, dry_run)

    def one(self, choices: Any) -> Any:
        """Draw one of several."""
        return choices[self.random.randrange(len(choices))]

    def chance(self, share: float) -> bool:
        """Say yes in that share of cases."""
        return self.random.randrange(100) < share * 100

    def row(self, namespace: str) -> Row | None:
        """Draw a network: mostly the namespace's own."""
        own = [row for row in self.promise.rows if row.namespace == namespace]
        rows = own if own and not self.chance(0.1) else self.promise.rows
        return self.one(rows) if rows else None

    def _old(self, body: Body, kind: str, namespace: str) -> Body | None:
        """Draw what was there before: nothing, the same, another of the same name."""
        if self.chance(0.5):
            return None
        old = copy.deepcopy(body) if self.chance(0.4) else _MAKERS[kind](self, kind, namespace)
        if self.chance(0.3):  # with some of the parts of now, so that only others have changed
            now, before = _inner(body), _inner(old)
            for field in sorted(now):
                if self.chance(0.7):
                    before[field] = copy.deepcopy(now[field])
        old["metadata"] = copy.deepcopy(body["metadata"])
        if self.chance(0.3):
            body["metadata"]["finalizers"] = ["proxmoxmachine.infrastructure.cluster.x-k8s.io"]
        return old

    def machine(self, kind: str, namespace: str) -> Body:
        """Draw a ProxmoxMachine or its template."""
        nics = [self.nic(namespace, index) for index in range(self.one([1, 1, 1, 2, 3]))]
        spec: Body = {"numCores": self.one([2, 4]), "network": self._network(nics), **self._made_of(namespace)}
        if self.chance(0.05):
            del spec["network"]
        elif self.chance(0.1):
            short = self._network(nics)
            short.pop("default", None)
            short["networkDevices" if self.newer else "additionalDevices"] = nics[1:]
            spec["network"] = self.one([{}, self._network([]), short])
        return self._body(kind, "m", namespace, spec)

    def _made_of(self, namespace: str) -> Body:
        """Draw pool, storage, template and ids: mostly one of the namespace's own locations, and no ids."""
        own = [place for place in self.promise.places if place.namespace == namespace]
        place = self.one(own or self.promise.places)
        other = self.one(self.promise.places)
        tags = sorted(place.tags)
        spec: Body = {"pool": place.pool, "storage": place.storage, "templateSelector": {"matchTags": tags}}
        by_id = {"templateID": place.template, "sourceNode": place.node}
        if self.chance(0.2):
            del spec["templateSelector"]
            spec |= by_id
        if self.chance(0.3):
            changes: list[Body] = [
                {"pool": other.pool},
                {"pool": None},
                {"storage": other.storage},
                {"storage": None},
                {"templateSelector": {"matchTags": sorted(other.tags)}},
                {"templateSelector": {"matchTags": tags[:1]}},
                {"templateSelector": {"matchTags": [*tags, "more"]}},
                {"templateSelector": {"matchTags": [*tags[1:], "other"]}},
                {"templateSelector": {"matchTags": [tags[0].upper(), *tags[1:]]}},
                {"templateSelector": {"matchTags": [tags[0].upper(), tags[0]]}},
                {"templateSelector": {"matchTags": tags, "matchPolicy": self.one(["exact", "bestSubset"])}},
                {"templateSelector": None},
                {"templateSelector": None, "sourceNode": place.node},
                {"templateSelector": {"matchPolicy": "exact"}},
                {"templateSelector": None, **by_id, "templateID": 1},
                {"templateSelector": None, **by_id, "sourceNode": "x"},
                {"templateSelector": None, **by_id, "sourceNode": None},
                {"templateSelector": None, "templateID": other.template, "sourceNode": other.node},
            ]
            spec |= self.one(changes)
        if self.chance(0.1):
            spec["snapName"] = self.one(["a", "b"])
        if self.chance(0.1):
            spec["virtualMachineID"] = self.one([2000, 2001])
        if self.chance(0.1):
            spec["providerID"] = f"proxmox://0000000{self.one('12')}-0000-4000-8000-000000000000"
        return {key: value for key, value in spec.items() if value is not None}

    def _made_of_whole(self, namespace: str) -> Body:
        """Give what is right in the namespace's first location, the template by its id."""
        place = next(place for place in self.promise.places if place.namespace == namespace)
        return {"pool": place.pool, "storage": place.storage, "templateID": place.template, "sourceNode": place.node}

    def _network(self, nics: list[Body]) -> Body:
        if self.newer:
            return {"networkDevices": nics}
        network: Body = {}
        if nics:
            network["default"] = {key: value for key, value in nics[0].items() if key != "name"}
        if len(nics) > 1:
            network["additionalDevices"] = nics[1:]
        return network

    def nic(self, namespace: str, index: int) -> Body:
        """Draw a NIC: mostly one of the namespace's own networks."""
        row = self.row(namespace)
        nic: Body = {"name": f"net{index}", "bridge": "vmbr0", "vlan": 300, "model": "virtio"}
        refs = []
        if row:
            nic |= {"bridge": row.bridge, "vlan": row.vlan}
            if not self.newer or index:
                refs = [_ref(row.name)]
        if namespace == _ELSEWHERE and self.chance(0.6):
            nic |= {"bridge": "vmbr0", "vlan": 300}
        for _ in range(self.one([0, 0, 0, 1, 1, 2])):
            if nic.get("name") == f"net{index}":
                self._spoil(nic, refs, namespace)
        if self.newer:
            if refs or self.chance(0.1):
                nic["ipPoolRef"] = refs
        else:
            nic |= dict(zip(self.one([("ipv4PoolRef", "ipv6PoolRef")] * 5 + [("ipv6PoolRef", "ipv4PoolRef")]), refs))  # noqa: B905 - as many as there are
        return nic

    def _spoil(self, nic: Body, refs: list[Body], namespace: str) -> None:
        what = self.random.randrange(8)
        other = self.one(self.promise.rows) if self.promise.rows else None
        if what == 0:
            self._set(nic, "bridge", self.one([*self.promise.zones.values(), *self.promise.open, *_BRIDGES]))
        elif what == 1:
            own = [row.vlan for row in self.promise.rows if row.namespace == namespace]
            self._set(nic, "vlan", self.one([*own, other.vlan if other else 2, 4000, None, None]))
        elif what == 2 and other:
            refs[:] = [_ref(other.name)]
        elif what == 3:
            refs[:] = self.one([[], [_ref("x", kind="GlobalInClusterIPPool")], [_ref("x", group="other.example")]])
        elif what == 4 and refs:
            name = refs[0]["name"]
            refs[:] = [
                self.one(
                    [
                        _ref(name, kind="GlobalInClusterIPPool"),
                        _ref(name, group="other.example"),
                        {"kind": "InClusterIPPool", "name": name},
                    ]
                )
            ]
        elif what == 5 and refs:
            refs.append(_ref(self.one([refs[0]["name"], other.name if other else "x"])))
        elif what == 6 and nic["name"] != "net0":
            self._set(nic, "name", self.one([*_DEVICES, "net1" if self.newer else "net0"]))
        elif what == 6 and self.newer:
            del nic["name"]
        elif what == 7 and self.promise.open:
            nic["bridge"] = self.one(sorted(self.promise.open))
            edges = [end for spans in self.promise.open_vlans.values() for span in spans for end in (span[0], span[-1])]
            nic.pop("vlan", None)
            self._set(nic, "vlan", self.one([None, 1, 4094, 7, *(end + by for end in edges for by in (-1, 0, 1))]))

    def _set(self, body: Body, field: str, value: Any) -> None:
        if value is None:
            body.pop(field, None)
        else:
            body[field] = value

    def cluster(self, kind: str, namespace: str) -> Body:
        """Draw a ProxmoxCluster or its template."""
        row = self.row(namespace)
        spec: Body = {"allowedNodes": ["pve1"], "dnsServers": ["10.0.0.1"], "credentialsRef": {"name": "pve-lab"}}
        if self.promise.secrets:
            spec["credentialsRef"] = {"name": self.one(sorted(self.promise.secrets))}
        if row:
            spec["ipv4Config"] = self._config(row)
        for _ in range(self.one([0, 0, 1, 1, 2])):
            self._spoil_cluster(spec, namespace)
        return self._body(kind, "prod", namespace, spec)

    def _config(self, row: Row) -> Body:
        addresses = [self.one(row.addresses)] if self.newer else [row.gateway]
        return {"addresses": addresses, "gateway": row.gateway, "prefix": row.prefix, "metric": 100}

    def _spoil_cluster(self, spec: Body, namespace: str) -> None:
        other = self.row(self.one(self.namespaces)) if self.namespaces else None
        place = self.one([*self.namespaces, namespace, _ELSEWHERE, "monitoring"])
        name = self.one(["mine", *self.promise.secrets])
        config = spec.get("ipv4Config")
        wrong: list[tuple[str, Any]] = [
            ("credentialsRef", None),
            ("credentialsRef", {"name": name, "namespace": place}),
            ("credentialsRef", {"namespace": place}),
            ("cloneSpec", self.one([{"machineSpec": {"controlPlane": {}}}, {"machineSpec": {}}])),
            ("zoneConfig", self.one([[], [{"zone": "a", "dnsServers": ["10.0.0.1"]}]])),
            ("ipv4Config", None),
            ("ipv6Config", {"addresses": ["fd00::/64"], "gateway": "fd00::1", "prefix": 64, "metric": 100}),
            ("ipv6Config", {"addresses": ["fd00::1"], "gateway": "fd00::1", "prefix": 64, "metric": 100}),
        ]
        if other and config and "addresses" in config:
            wrong += [
                ("ipv4Config", self._config(other)),
                ("ipv4Config", {**config, "gateway": other.gateway}),
                ("ipv4Config", {**config, "prefix": 16}),
                ("ipv4Config", {**config, "addresses": [*config["addresses"], "10.9.9.9"]}),
                ("ipv4Config", {**config, "addresses": other.addresses}),
                ("ipv4Config", {**config, "addresses": [f"{other.gateway}-{other.gateway}"]}),
                ("ipv4Config", {key: value for key, value in config.items() if key != "gateway"}),
                ("ipv4Config", {**config, "addresses": [""], "gateway": ""}),
            ]
            if self.newer:  # (the older policy reads what its definition requires)
                short = self.one([("prefix",), ("addresses",), ("addresses", "gateway", "prefix")])
                wrong.append(("ipv4Config", {key: value for key, value in config.items() if key not in short}))
        field, value = self.one(wrong)
        self._set(spec, field, value)

    def pool(self, kind: str, namespace: str) -> Body:
        """Draw an InClusterIPPool."""
        row = self.row(namespace)
        if row is None:
            return self._body(kind, "x", namespace, {"addresses": ["10.0.0.5"], "prefix": 24})
        spec: Body = {"addresses": list(row.addresses), "gateway": row.gateway, "prefix": row.prefix}
        other = self.one(self.promise.rows)
        field, value = self.one(
            [
                ("gateway", row.gateway),
                ("gateway", other.gateway),
                ("gateway", None),
                ("prefix", 16),
                ("addresses", list(other.addresses)),
                ("addresses", row.addresses[:1]),
                ("addresses", [row.gateway]),
            ]
        )
        self._set(spec, field, value)
        name = self.one([row.name, row.name, row.name, "prod-v4-icip", "prod-v4-icip", *_POOLS, other.name])
        spec |= self.one([{}, {}, *_EXTRAS])
        if row.name != name and self.chance(0.8):
            spec |= self._config(row)
            del spec["metric"]
            if self.chance(0.4):
                field = self.one(["addresses", "gateway", "prefix"])
                self._set(spec, field, self.one([None, {**self._config(other), "prefix": 16}[field]]))
        elif self.chance(0.1):
            spec.pop(self.one(["addresses", "gateway", "prefix"]), None)
        return self._body(kind, name, namespace, spec)

    def control_plane(self, _: str, namespace: str) -> Body:
        """Draw a KamajiControlPlane."""
        spec = control_planes.own()
        for _field in range(self.one([0, 0, 1, 1, 2])):
            places, field = self.one(list(control_planes.FIELDS))
            spec = control_planes.put(spec, places, field, self.one(control_planes.FIELDS[places, field]))
        if self.chance(0.2):
            spec.pop(self.one(["addons", "kubelet", "network"]))
        body = control_planes.body(namespace, spec, newer=self.newer)
        own = sorted(self.promise.clusters.get(namespace, ()))
        known = sorted({name for names in self.promise.clusters.values() for name in names})
        body["metadata"]["name"] = self.one([*own * 3, *known, "other"])
        return body

    def referring(self, kind: str, namespace: str) -> Body:
        """Draw an object of Cluster API's own kinds: mostly with the references that the program writes."""
        spec: Body = {} if kind == "Cluster" else {"clusterName": "prod"}
        if kind == "Cluster":
            self._refer(spec, "controlPlaneRef", "KamajiControlPlane", namespace)
            self._refer(spec, "infrastructureRef", "ProxmoxCluster", namespace)
            if self.chance(0.3):
                spec["topology"] = self._topology(namespace)
        elif kind == "MachineHealthCheck":
            spec |= {"selector": {"matchLabels": {"a": "b"}}}
            if self.chance(0.5):
                self._remediate(spec, namespace, "remediation" if self.newer else None)
        else:
            machine: Body = {"clusterName": "prod", "bootstrap": {}}
            infrastructure = "ProxmoxMachine" if kind == "Machine" else "ProxmoxMachineTemplate"
            self._refer(machine, "infrastructureRef", infrastructure, namespace)
            self._refer(machine["bootstrap"], "configRef", "TalosConfigTemplate", namespace)
            if self.chance(0.3):
                machine["bootstrap"]["dataSecretName"] = self.one(["x", "y"])
            labels = {"cluster.x-k8s.io/cluster-name": "prod"}
            template = {"metadata": {"labels": labels}, "spec": machine}
            spec |= machine if kind == "Machine" else {"selector": {"matchLabels": labels}, "template": template}
        return {
            "apiVersion": f"cluster.x-k8s.io/{'v1beta2' if self.newer else 'v1beta1'}",
            "kind": kind,
            "metadata": {"name": "prod", "namespace": namespace},
            "spec": spec,
        }

    def _refer(self, body: Body, field: str, kind: str, namespace: str) -> None:
        """Draw a reference: mostly right, in the generation's own words."""
        if self.chance(0.15):
            return
        group = {"KamajiControlPlane": "controlplane", "TalosConfigTemplate": "bootstrap"}.get(kind, "infrastructure")
        if self.chance(0.15):
            kind = self.one(["KubeadmControlPlane", "HetznerCluster", "KamajiControlPlane", "ProxmoxCluster"])
        if self.chance(0.1):
            group = self.one(["controlplane", "infrastructure", "other"])
        group = f"{group}.cluster.x-k8s.io"
        of_group = {"apiGroup": group} if self.newer else {"apiVersion": f"{group}/v1alpha1"}
        ref: Body = {**of_group, "kind": kind, "name": self.one(["prod", "prod", "other"])}
        if not self.newer:
            self._set(ref, "namespace", self.one([None, None, None, "", namespace, namespace, *self._places()]))
        if self.chance(0.05):
            ref.pop(self.one(sorted(ref)), None)
        body[field] = ref

    def _places(self) -> list[str]:
        return [self.one(self.namespaces), _ELSEWHERE]

    def _remediate(self, body: Body, namespace: str, below: str | None) -> None:
        """Draw the template of a health check's remediation, in `below` or in the body itself."""
        inner: Body = {}
        self._refer(inner, "x", "ProxmoxMachineTemplate", namespace)
        if "x" not in inner:
            return
        ref = inner["x"]
        if self.newer:
            ref = {key: value for key, value in ref.items() if key != "apiGroup"} | {"apiVersion": "x/v1"}
        if below:
            body[below] = {"templateRef": ref}
        else:
            body["remediationTemplate"] = ref

    def _topology(self, namespace: str) -> Body:
        """Draw a topology of a class, some with health checks."""
        place = self.one([None, None, "", namespace, namespace, *self._places()])
        found: Body = {"version": "v1.35.6", "classRef": {"name": self.one(["a", "b"])}}
        self._set(found["classRef"], "namespace", place)
        if not self.newer:
            found = {"version": "v1.35.6", "class": self.one(["a", "b"])}
            self._set(found, "classNamespace", place)
        if self.chance(0.1):
            found.pop("classRef" if self.newer else "class")
        checks: list[Body] = []
        for name in ("", "first", "second"):
            part: Body = {"class": "x", "name": name} if name else {}
            if self.chance(0.6):
                health = part.setdefault("healthCheck" if self.newer else "machineHealthCheck", {})
                if self.chance(0.7):
                    self._remediate(health, namespace, "remediation" if self.newer else None)
            checks.append(part)
        if self.chance(0.5):
            found["controlPlane"] = checks[0]
        if self.chance(0.5):
            found["workers"] = {"machineDeployments": checks[1:]}
        return found

    def corners(self) -> list[Request]:
        """Give what a draw seldom finds: a NIC without bridge whose pool is not its own, pools with one thing wrong."""
        namespace = self.namespaces[0]
        row = next(row for row in self.promise.rows if row.namespace == namespace)
        nic: Body = {"vlan": row.vlan, ("ipPoolRef" if self.newer else "ipv4PoolRef"): _ref("x", group="other.example")}
        if self.newer:
            nic |= {"name": "net0", "ipPoolRef": [nic["ipPoolRef"]]}
        machine = self._body("ProxmoxMachine", "m", namespace, {"network": self._network([nic])})
        elsewhere = {"ipv4Config": self._config(row), "credentialsRef": {"name": "x", "namespace": "monitoring"}}
        found = [
            Request(namespace, "create", machine),
            Request(namespace, "update", machine, machine),
            Request(_ELSEWHERE, "create", self._body("ProxmoxCluster", "prod", _ELSEWHERE, elsewhere)),
        ]
        of_place = self._made_of_whole(namespace)
        edges = [end for spans in self.promise.open_vlans.values() for span in spans for end in (span[0], span[-1])]
        for vlan in (None, *sorted({end + by for end in edges for by in (-1, 0, 1)})):
            for bridge in sorted(self.promise.open):
                opened: Body = {"name": "net0", "bridge": bridge}
                self._set(opened, "vlan", vlan)
                whole = {**of_place, "network": self._network([opened])}
                found += [
                    Request(each, "create", self._body("ProxmoxMachine", "m", each, whole))
                    for each in (namespace, _ELSEWHERE)
                ]
        for field in ("pool", "storage", "sourceNode", "templateID", "templateSelector"):
            changed = {**of_place, field: {"matchTags": ["x"]} if field == "templateSelector" else 1}
            for now, before in ((changed, of_place), (of_place, changed)):
                body, old = (self._body("ProxmoxMachine", "m", namespace, each) for each in (now, before))
                found.append(Request(namespace, "update", body, old))
        found += [*self._kept(namespace), *self._kept(_ELSEWHERE)]
        for name in ("xnet1", "net1x", None):
            named = [{"bridge": row.bridge, "vlan": row.vlan, "name": each} for each in ("net0", name)]
            named = [{key: value for key, value in nic.items() if value is not None} for nic in named]
            device = self._body("ProxmoxMachine", "m", namespace, {"network": self._network(named)})
            found.append(Request(namespace, "create", device))
        asked = self._body("InClusterIPPool", row.name, namespace, {"addresses": ["192.0.2.1"]})
        asked["metadata"]["annotations"] = {JUDGE: "x"}
        found.append(Request(namespace, "create", asked, dry_run=True))
        of_row: Body = {"addresses": row.addresses, "gateway": row.gateway, "prefix": row.prefix}
        of_cluster = {key: value for key, value in self._config(row).items() if key != "metric"}
        for name, spec in ((row.name, of_row), *((name, of_cluster) for name in ("prod-v4-icip", *_POOLS))):
            less = [{key: value for key, value in spec.items() if key != part} for part in spec]
            specs = [*less, *({**spec, **extra} for extra in _EXTRAS)]
            pools = [self._body("InClusterIPPool", name, namespace, each) for each in specs]
            found += [Request(namespace, "create", pool) for pool in pools]
        return found

    def _kept(self, namespace: str) -> Iterator[Request]:
        """Give references to another namespace and to another kind, new and kept, in every place that there is."""
        ref: Body = {"kind": "Other", "name": "x", **({} if self.newer else {"namespace": _FAR})}
        health: Body = {"remediation": {"templateRef": ref}} if self.newer else {"remediationTemplate": ref}
        check = {"healthCheck" if self.newer else "machineHealthCheck": health}
        workers = {"machineDeployments": [{"name": "a", **check}]}
        of_class: Body = {"classRef": {"name": "x", "namespace": _FAR}}
        topology = of_class if self.newer else {"class": "x", "classNamespace": _FAR}
        machine = {"bootstrap": {"configRef": ref, "dataSecretName": "x"}, "infrastructureRef": ref}
        pool = {"template": {"spec": machine}}
        for kind, spec in (
            ("Cluster", {"controlPlaneRef": ref}),
            ("Cluster", {"infrastructureRef": ref}),
            ("Cluster", {"topology": topology}),
            ("Cluster", {"topology": {"controlPlane": check}}),
            ("Cluster", {"topology": {"workers": workers}}),
            ("Machine", machine),
            ("MachineDeployment", pool),
            ("MachineHealthCheck", health),
            ("MachinePool", pool),
            ("MachineSet", pool),
        ):
            body = {
                "apiVersion": f"cluster.x-k8s.io/{'v1beta2' if self.newer else 'v1beta1'}",
                "kind": kind,
                "metadata": {"name": "x", "namespace": namespace},
                "spec": spec,
            }
            for user in ("admin", f"system:serviceaccount:{namespace}:hybrid"):
                yield Request(namespace, "create", body, user=user)
                yield Request(namespace, "update", body, body, user)

    def secret(self, kind: str, namespace: str) -> Body:
        """Draw a Secret."""
        body: Body = {
            "apiVersion": "v1",
            "kind": kind,
            "metadata": {
                "name": self.one(["prod-lab-kubeconfig", "hybrid-handover", "prod-kubeconfig", "pve-lab"]),
                "namespace": namespace,
            },
        }
        types = ["cluster.x-k8s.io/secret"] * 5 + ["Opaque", "kubernetes.io/service-account-token", None]
        self._set(body, "type", self.one(types))
        return body

    def _body(self, kind: str, name: str, namespace: str, spec: Body) -> Body:
        capmox = (_INFRASTRUCTURE, "v1alpha2" if self.newer else "v1alpha1")
        group, version = (_IPAM, "v1alpha2") if kind == "InClusterIPPool" else capmox
        metadata = {"name": name, "namespace": namespace}
        inner = {"template": {"spec": spec}} if kind.endswith("Template") else spec
        return {"apiVersion": f"{group}/{version}", "kind": kind, "metadata": metadata, "spec": inner}


_MAKERS = {
    "ProxmoxMachine": Draw.machine,
    "ProxmoxMachineTemplate": Draw.machine,
    "ProxmoxCluster": Draw.cluster,
    "ProxmoxClusterTemplate": Draw.cluster,
    "InClusterIPPool": Draw.pool,
    "KamajiControlPlane": Draw.control_plane,
    "Secret": Draw.secret,
    **dict.fromkeys(("Cluster", "Machine", "MachineDeployment", "MachineHealthCheck", "MachineSet"), Draw.referring),
}


def _ref(name: str, *, kind: str = "InClusterIPPool", group: str = _IPAM) -> Body:
    return {"apiGroup": group, "kind": kind, "name": name}


def _inner(body: Body) -> Body:
    if body["kind"] == "Secret":
        return body
    spec: Body = body["spec"]["template"]["spec"] if body["kind"].endswith("Template") else body["spec"]
    return spec


KINDS = tuple(_MAKERS)
"""Everything that can be drawn."""
