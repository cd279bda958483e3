"""What the policies must refuse, each beside a twin that they must let pass; for either generation.

Each is one row of the reference matrices of cases (Cluster API's and the platform's), by what it says.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.manifests.live import CAPI, CAPMOX, CHARTS, STRANGER
from tests.manifests.shapes import GENERATIONS, Nic, Shapes

if TYPE_CHECKING:
    from collections.abc import Callable

    from settings.environment import Generation

Body = dict[str, Any]
OLD: tuple[Generation, ...] = ("capi-1.10",)
NEW: tuple[Generation, ...] = ("capi-1.12",)
MACHINES, BRIDGES, BODIES = "hybrid-zone-machines", "hybrid-closed-bridges", "hybrid-machines"
CLUSTERS, RANGES, POOLS = "hybrid-clusters", "hybrid-cluster-ranges", "hybrid-pools"
NAMES, PLANES, SECRETS = "hybrid-pool-names", "hybrid-control-planes", "hybrid-tenant-secrets"
REFERENCES = "hybrid-references"
TENANT = "system:serviceaccount:tenant-acme:hybrid"
_KUBECONFIG = "cluster.x-k8s.io/secret"


@dataclass(frozen=True)
class Row:
    """A body that `policy` refuses with `said` in its message, and its twin."""

    says: str
    policy: str
    said: str
    refused: Callable[[Shapes], Body]
    twin: Callable[[Shapes], Body]
    generations: tuple[Generation, ...] = GENERATIONS
    user: str | None = None
    twin_user: str | None = None
    also: str = ""
    """Another policy that refuses it too; the API server names one of them."""


def _built(kind: str, nics: tuple[Nic, ...], spec: Body, shapes: Shapes) -> Body:
    build: Callable[..., Body] = getattr(shapes, kind)
    return build(*nics, **spec)


def _cluster(kind: str, change: Callable[[Shapes], Body], shapes: Shapes, namespace: str = "tenant-acme") -> Body:
    return shapes.cluster(kind, namespace, **change(shapes))


def _plane(namespace: str, place: str, value: Any, shapes: Shapes) -> Body:
    return shapes.control_plane(namespace, **{place: value})


def _secret(name: str, kind: str, shapes: Shapes) -> Body:
    return shapes.secret(name, kind)


def _named_plane(name: str, shapes: Shapes) -> Body:
    body = shapes.control_plane()
    return {**body, "metadata": {**body["metadata"], "name": name}}


def _nics(says: str, said: str, *nics: Nic, policy: str = MACHINES, **more: Any) -> list[Row]:
    """Give the row for a machine template and for a machine."""
    twin = more.pop("twin", (Nic(),))
    return [
        Row(
            f"{says} ({kind})",
            policy,
            said,
            functools.partial(_built, kind, nics, {}),
            functools.partial(_built, kind, twin, {}),
            **more,
        )
        for kind in ("template", "machine")
    ]


def _without_first(shapes: Shapes) -> Body:
    network = shapes.network(Nic(), Nic(vlan=301))
    if shapes.latest:
        return {"networkDevices": network["networkDevices"][1:]}
    return {"additionalDevices": network["additionalDevices"]}


def _bare(shapes: Shapes, namespace: str) -> Body:
    """Give a machine that says nothing of a network."""
    body = shapes.machine(namespace=namespace)
    return {**body, "spec": {name: value for name, value in body["spec"].items() if name != "network"}}


NIC_ROWS = [
    *_nics("another tenant's VLAN", "net0 asks for VLAN 202", Nic(vlan=202)),
    *_nics("a VLAN that nobody has", "net0 asks for VLAN 999", Nic(vlan=999)),
    *_nics("no VLAN: a trunk of all VLANs", "net0 asks for VLAN none", Nic(vlan=None)),
    *_nics("no pool", "with address pool none", Nic(pool=""), generations=OLD),
    *_nics("a pool on the first NIC", "net0 without a pool", Nic(pool="acme-lab"), generations=NEW),
    *_nics(
        "a pool of all namespaces",
        "GlobalInClusterIPPool acme-lab",
        Nic(pool="acme-lab", kind="GlobalInClusterIPPool"),
        also=BRIDGES,
    ),
    *_nics(
        "a pool of all namespaces on an open bridge",
        "something else than an InClusterIPPool",
        Nic(),
        Nic(vlan=7, pool="x", kind="GlobalInClusterIPPool", bridge="vmbr9"),
        policy=BRIDGES,
        twin=(Nic(), Nic(vlan=7, pool="acme-lab", bridge="vmbr9")),
    ),
    *_nics(
        "the own pool for IPv6 alone",
        "net1 asks for VLAN 301",
        Nic(),
        Nic(vlan=301, pool="acme-dc", family="ipv6"),
        generations=OLD,
        twin=(Nic(), Nic(vlan=301, pool="acme-dc")),
    ),
    *_nics("another tenant's pool", "InClusterIPPool globex-lab", Nic(pool="globex-lab"), generations=OLD),
    *_nics(
        "the own VLAN with the pool of another own network",
        "InClusterIPPool acme-dc",
        Nic(),
        Nic(vlan=201, pool="acme-dc"),
        twin=(Nic(), Nic(vlan=301, pool="acme-dc")),
    ),
    *_nics("a second NIC on another tenant's VLAN", "net1 asks for VLAN 202", Nic(), Nic(vlan=202, pool="acme-lab")),
    *_nics(
        "a second NIC without a pool",
        "net1 asks for VLAN 301 with address pool none",
        Nic(),
        Nic(vlan=301, pool=""),
        generations=NEW,
        twin=(Nic(), Nic(vlan=301)),
    ),
    *_nics(
        "two pools, one of them foreign",
        "acme-dc and InClusterIPPool globex-lab",
        Nic(),
        Nic(vlan=301, more="globex-lab"),
        twin=(Nic(), Nic(vlan=301, more="acme-dc")),
    ),
    *_nics(
        "a network of another zone on this one's bridge",
        "bridge vmbr1: NIC net0 asks for VLAN 401",
        Nic(vlan=401),
        twin=(Nic(vlan=401, bridge="vmbr2"),),
    ),
    *_nics("a bridge that no zone has", "allowed: vmbr1, vmbr2, vmbr9", Nic(bridge="vmbr0"), policy=BRIDGES),
    *_nics(
        "a second NIC on such a bridge",
        'net1 ("vmbr0")',
        Nic(),
        Nic(bridge="vmbr0"),
        policy=BRIDGES,
        twin=(Nic(), Nic(bridge="vmbr9")),
    ),
    *_nics("a bridge that smuggles a VLAN", 'net0 ("vmbr1,tag=202")', Nic(bridge="vmbr1,tag=202"), policy=BRIDGES),
    *_nics("a bridge's name with a blank", 'net0 ("vmbr1 ")', Nic(bridge="vmbr1 "), policy=BRIDGES),
    *_nics("a NIC without a bridge", "Every NIC must name its bridge", Nic(bridge=None), generations=NEW, also=BRIDGES),
    *_nics(
        "a NIC that Proxmox VE does not have",
        "not named net",
        Nic(),
        Nic(vlan=301, name="net32"),
        policy=BRIDGES,
        twin=(Nic(), Nic(vlan=301, name="net31")),
    ),
    *_nics(
        "a NIC that is another option",
        "not named net1",
        Nic(),
        Nic(vlan=301, name="args"),
        policy=BRIDGES,
        generations=OLD,
        twin=(Nic(), Nic(vlan=301, name="net1")),
    ),
    *_nics(
        "an open bridge without a VLAN: a trunk of all of them",
        "names no VLAN that is open on its bridge",
        Nic(),
        Nic(vlan=None, pool="acme-lab", bridge="vmbr9"),
        policy=BRIDGES,
        twin=(Nic(), Nic(vlan=7, pool="acme-lab", bridge="vmbr9")),
    ),
    Row(
        "a second NIC while the first is left to the template",
        MACHINES,
        "keeps the NICs of its template",
        lambda s: s.template(network=_without_first(s)),
        lambda s: s.template(Nic(), Nic(vlan=301)),
        also=BRIDGES,
    ),
    Row(
        "no network at all",
        MACHINES,
        "keeps the NICs of its template",
        lambda s: s.template(network={"networkDevices": []} if s.latest else {}),
        lambda s: s.template(),
        generations=NEW,
        also=BRIDGES,
    ),
    Row(
        "no network at all in the older shape",
        MACHINES,
        "keeps the NICs of its template",
        lambda s: {**s.template(), "spec": {"template": {"spec": _without(s.template(), "network")}}},
        # The platform's own machines may keep the NICs of their template.
        lambda s: {
            **s.template(namespace="platform"),
            "spec": {"template": {"spec": _without(s.template(), "network")}},
        },
        generations=OLD,
        also=BRIDGES,
    ),
    Row(
        "a machine without any network",
        MACHINES,
        "keeps the NICs of its template",
        lambda s: s.machine(network={"networkDevices": []}) if s.latest else _bare(s, "tenant-acme"),
        lambda s: s.machine(network={"networkDevices": []}, namespace="platform") if s.latest else _bare(s, "platform"),
        also=BRIDGES,
    ),
    Row(
        "a namespace without networks",
        MACHINES,
        "Namespace tenant-idle, bridge vmbr1: NIC net0 asks for VLAN 201",
        lambda s: s.template(namespace="tenant-idle", pool="lab-idle"),
        lambda s: s.template(Nic(vlan=7, bridge="vmbr9", pool=""), namespace="tenant-idle", pool="lab-idle"),
    ),
    Row(
        "a namespace of the platform on a tenant's VLAN",
        MACHINES,
        "Namespace platform, bridge vmbr1",
        lambda s: s.template(namespace="platform"),
        lambda s: s.template(Nic(bridge="vmbr0"), namespace="platform"),
    ),
    *[
        Row(
            f"{bridge} in a namespace of the platform: a VLAN of the zone by another name",
            MACHINES,
            f'net0 ("{bridge}") names a VLAN of vmbr1 as if it were a bridge',
            functools.partial(_built, "template", (Nic(bridge=bridge),), {"namespace": "platform"}),
            lambda s: s.template(Nic(bridge="vmbr0v202"), namespace="platform"),
        )
        for bridge in ("vmbr1v202", "vmbr1.202")
    ],
    Row(
        "a malformed bridge in a namespace of the platform",
        BRIDGES,
        "Not the name of a bridge",
        lambda s: s.template(Nic(bridge="vmbr0,tag=202"), namespace="platform"),
        lambda s: s.template(Nic(bridge="vmbr0"), namespace="platform"),
    ),
]


def _without(body: Body, key: str) -> Body:
    spec = body["spec"]["template"]["spec"]
    return {name: value for name, value in spec.items() if name != key}


def _clusters(says: str, said: str, change: Callable[[Shapes], Body], policy: str = CLUSTERS, **more: Any) -> list[Row]:
    """Give the row for a ProxmoxCluster and for its template."""
    twin, elsewhere = more.pop("twin", lambda _: {}), more.pop("twin_namespace", "tenant-acme")
    return [
        Row(
            f"{says} ({kind})",
            policy,
            said,
            functools.partial(_cluster, kind, change),
            functools.partial(_cluster, kind, twin, namespace=elsewhere),
            **more,
        )
        for kind in ("ProxmoxCluster", "ProxmoxClusterTemplate")
    ]


_DISKS = ("10.241.0.20-10.241.0.99", "10.241.0.120-10.241.0.199")
_GATEWAY_ONLY = "must hold the gateway and nothing else"
_ONE_RANGE = "must be exactly one range"
CLUSTER_ROWS = [
    *_clusters("a whole network", _GATEWAY_ONLY, lambda s: {"ipv4Config": s.config("10.201.0.0/24")}, generations=OLD),
    *_clusters(
        "the gateway as a range",
        _GATEWAY_ONLY,
        lambda s: {"ipv4Config": s.config("10.201.0.1-10.201.0.1")},
        generations=OLD,
    ),
    *_clusters(
        "the own range where it must be the gateway",
        _GATEWAY_ONLY,
        lambda s: {"ipv4Config": s.config("10.201.0.20-10.201.0.199")},
        generations=OLD,
        # Of another zone's network: the rule looks at the object alone.
        twin=lambda s: {"ipv4Config": s.config("10.241.0.1", gateway="10.241.0.1")},
    ),
    *_clusters(
        "IPv6 addresses",
        _GATEWAY_ONLY,
        lambda s: {"ipv6Config": s.config("fd00::/64", gateway="fd00::1", prefix=64)},
        generations=OLD,
        twin=lambda s: {"ipv6Config": s.config("fd00::1", gateway="fd00::1", prefix=64)},
    ),
    *_clusters(
        "machines in cloneSpec",
        "cloneSpec and zoneConfig are closed",
        lambda s: {"cloneSpec": {"machineSpec": {"controlPlane": s.machine()["spec"]}}},
        generations=OLD,
        twin=lambda s: {"cloneSpec": {"machineSpec": {"controlPlane": s.machine()["spec"]}}},
        twin_namespace="platform",
    ),
    *_clusters(
        "the sentinel where it must be the own range",
        "not 10.201.0.1, gateway 10.201.0.1, prefix 24",
        lambda s: {"ipv4Config": s.config("10.201.0.1")},
        RANGES,
        generations=NEW,
    ),
    *_clusters(
        "another tenant's range",
        _ONE_RANGE,
        lambda s: {"ipv4Config": s.config("10.202.0.20-10.202.0.199", gateway="10.202.0.1")},
        RANGES,
        generations=NEW,
        twin=lambda s: {"ipv4Config": s.config("10.231.0.20-10.231.0.199", gateway="10.231.0.1")},
    ),
    *_clusters(
        "both ranges of an own network",
        _ONE_RANGE,
        lambda s: {"ipv4Config": s.config(*_DISKS, gateway="10.241.0.1")},
        RANGES,
        generations=NEW,
        # A network of another zone than the tenant's first.
        twin=lambda s: {"ipv4Config": s.config(_DISKS[1], gateway="10.241.0.1")},
    ),
    *_clusters(
        "the own range with another gateway",
        "gateway 10.201.0.2",
        lambda s: {"ipv4Config": s.config(gateway="10.201.0.2")},
        RANGES,
        generations=NEW,
    ),
    *_clusters(
        "the own range with another prefix",
        "prefix 16",
        lambda s: {"ipv4Config": s.config(prefix=16)},
        RANGES,
        generations=NEW,
    ),
    *_clusters(
        "IPv6 beside the own range",
        "ipv6Config is closed",
        lambda s: {"ipv6Config": s.config("fd00::1", gateway="fd00::1", prefix=64)},
        RANGES,
        generations=NEW,
    ),
    *_clusters(
        "ranges in zoneConfig",
        "cloneSpec and zoneConfig are closed",
        lambda s: {"zoneConfig": [{"zone": "a", "dnsServers": ["10.0.0.1"], "ipv4Config": s.config()}]},
        generations=NEW,
        twin=lambda s: {"zoneConfig": [{"zone": "a", "dnsServers": ["10.0.0.1"], "ipv4Config": s.config()}]},
        twin_namespace="platform",
    ),
    *_clusters(
        "another namespace's credentials",
        "belongs to another tenant",
        lambda _: {"credentialsRef": {"name": "pve-lab", "namespace": "tenant-globex"}},
        twin=lambda _: {"credentialsRef": {"name": "pve-lab"}},
    ),
    *_clusters(
        "a namespace of the platform for credentials",
        "Secret platform/pve-lab",
        lambda _: {"credentialsRef": {"name": "pve-lab", "namespace": "platform"}},
    ),
    *_clusters("no credentials", "credentialsRef is missing", lambda _: {"credentialsRef": None}),
    *_clusters("credentials of its own", "allowed in namespace", lambda _: {"credentialsRef": {"name": "mine"}}),
]

POOL_ROWS = [
    Row(
        "a network's pool with another range",
        POOLS,
        "must have addresses 10.201.0.20-10.201.0.199, gateway 10.201.0.1, prefix 24 and nothing else",
        lambda s: s.pool("acme-lab", addresses=["10.202.0.20-10.202.0.30"]),
        lambda s: s.pool("acme-lab"),
    ),
    Row(
        "a network's pool that also gives reserved addresses",
        POOLS,
        "and nothing else",
        lambda s: s.pool("acme-lab", allocateReservedIPAddresses=True),
        lambda s: s.pool("acme-lab", allocateReservedIPAddresses=False),
    ),
    Row(
        "a pool of a name that is no network's",
        NAMES,
        "Namespace tenant-acme: no network is named mine; allowed: acme-dc, acme-disks, acme-lab",
        lambda s: s.pool("mine"),
        lambda s: s.pool("mine", "platform"),
    ),
    Row(
        "a pool of another tenant's network's name",
        NAMES,
        "no network is named globex-lab",
        lambda s: s.pool("globex-lab"),
        lambda s: s.pool("acme-lab"),
    ),
    Row(
        "a name that only looks like capmox' own",
        NAMES,
        "no network is named x-v5-icip",
        lambda s: s.pool("x-v5-icip", addresses=s.config()["addresses"]),
        lambda s: s.pool("x-v4-icip", addresses=s.config()["addresses"]),
    ),
    Row(
        "a cluster's own pool with a range",
        NAMES,
        "must hold the gateway",
        lambda s: s.pool("prod-v4-icip"),
        lambda s: s.pool("prod-v4-icip", addresses=["10.201.0.1"]),
        generations=OLD,
    ),
    Row(
        "a cluster's own pool with another tenant's range",
        NAMES,
        "one range of one of the namespace's networks",
        lambda s: s.pool("prod-v4-icip", addresses=["10.202.0.20-10.202.0.199"], gateway="10.202.0.1"),
        lambda s: s.pool("prod-v4-icip", addressReuseGracePeriodSeconds=60),
        generations=NEW,
    ),
    Row(
        "a cluster's own IPv6 pool where there are none",
        NAMES,
        "no network is named prod-v6-icip",
        lambda s: s.pool("prod-v6-icip", addresses=["fd00::1"], gateway="fd00::1", prefix=64),
        lambda s: s.pool("prod-v4-icip"),
        generations=NEW,
    ),
]

BODY_ROWS = [
    Row(
        "a new machine that is a VM already",
        BODIES,
        "written by capmox alone",
        lambda s: s.machine(providerID="proxmox://11111111-1111-4111-8111-111111111111"),
        lambda s: s.machine(),
        user=CAPI,
        twin_user=CAPI,
    ),
    Row(
        "a new machine with a VM's id, even by capmox",
        BODIES,
        "written by capmox alone",
        lambda s: s.machine(virtualMachineID=2100),
        lambda s: s.machine(virtualMachineID=2100, namespace="platform", network=s.network(Nic(bridge="vmbr0"))),
        user=CAPMOX,
    ),
    Row(
        "a template with a VM's id",
        BODIES,
        "written by capmox alone",
        lambda s: s.template(virtualMachineID=2100),
        lambda s: s.template(),
    ),
    *[
        Row(
            f"{says} ({kind})",
            BODIES,
            said,
            functools.partial(_built, kind, (), wrong),
            functools.partial(_built, kind, (), right),
        )
        for kind in ("machine", "template")
        for says, said, wrong, right in (
            ("another tenant's resource pool", "pool lab-globex, storage ceph-vm", {"pool": "lab-globex"}, {}),
            ("no resource pool", "pool none", {"pool": None}, {}),
            ("another storage", "storage local", {"storage": "local"}, {}),
            ("no storage", "storage none", {"storage": None}, {}),
            ("a snapshot", "spec.snapName must be absent", {"snapName": "before"}, {}),
            (
                "the storage of one location with the template of another",
                "storage tank, template 9000 of node pve1",
                {"storage": "tank", "templateSelector": None, "templateID": 9000, "sourceNode": "pve1"},
                {"storage": "tank", "templateSelector": None, "templateID": 9000, "sourceNode": "dc1"},
            ),
            (
                "another template by its tags",
                "template with tags talos",
                {"templateSelector": {"matchTags": ["talos"]}},
                {"templateSelector": {"matchTags": ["v1.13.6", "talos"]}},
            ),
            (
                "another template by its id",
                "template 9001 of node pve1",
                {"templateSelector": None, "templateID": 9001, "sourceNode": "pve1"},
                {"templateSelector": None, "templateID": 9000, "sourceNode": "pve1"},
            ),
            (
                "the template's id on another node",
                "template 9000 of node pve2",
                {"templateSelector": None, "templateID": 9000, "sourceNode": "pve2"},
                {"templateSelector": None, "templateID": 9000, "sourceNode": "pve1"},
            ),
        )
    ],
    Row(
        "a template that has the tags among others",
        BODIES,
        "not of one of its locations",
        lambda s: s.machine(templateSelector={"matchTags": ["talos", "v1.13.6"], "matchPolicy": "bestSubset"}),
        lambda s: s.machine(templateSelector={"matchTags": ["talos", "v1.13.6"], "matchPolicy": "exact"}),
        generations=NEW,
    ),
]

_CLOSED = {
    "dataStoreName": "other",
    "dataStoreSchema": "other",
    "registry": "registry.example",
    "apiServer": {"extraArgs": ["--anonymous-auth=true"]},
    "controllerManager": {"extraArgs": ["--v=1"]},
    "scheduler": {"extraArgs": ["--v=1"]},
    "kine": {"extraArgs": ["--v=1"]},
    "admissionControllers": ["NodeRestriction"],
    "deployment": {"serviceAccountName": "cluster-admin"},
    "addons__coreDNS": {},
    "addons__kubeProxy": {},
    "addons__konnectivity__server": {"port": 8132, "extraArgs": ["--v=1"]},
    "addons__konnectivity__server__image": "registry.example/proxy-server",
    "addons__konnectivity__agent": {"extraArgs": ["--v=1"]},
    "addons__konnectivity__agent__image": "registry.example/proxy-agent",
    "kubelet__configurationJSONPatches": [{"op": "remove", "path": "/x"}],
    "network__ingress": {"hostname": "x.example"},
    "network__serviceAnnotations": {"a": "b"},
    "network__loadBalancerConfig": {"loadBalancerClass": "other"},
}

PLANE_ROWS = [
    *[
        Row(
            f"a control plane's {place.replace('__', '.')}",
            PLANES,
            f"closed to tenants: spec.{place.replace('__', '.')}",
            functools.partial(_plane, "tenant-acme", place, value),
            functools.partial(_plane, "platform", place, value),
            user=STRANGER,
        )
        for place, value in _CLOSED.items()
    ],
    Row(
        "what the platform's charts write, by someone else",
        PLANES,
        "spec.dataStoreName",
        lambda s: s.control_plane(dataStoreName="tenant-root", deployment={"extraContainers": []}),
        lambda s: s.control_plane(dataStoreName="tenant-root", deployment={"extraContainers": []}),
        twin_user=CHARTS,
    ),
    *[
        Row(
            f"a control plane with {field} {value}",
            PLANES,
            f"out of bounds: spec.{field}",
            functools.partial(_plane, "tenant-acme", field, value),
            functools.partial(_plane, "tenant-acme", field, right),
            user=STRANGER,
            twin_user=STRANGER,
        )
        for field, right, values in (
            ("replicas", 5, (0, 6)),
            ("version", "v1.35.6", ("v1.35", "v1.35.6-rc.1", "x-v1.35.6")),
        )
        for value in values
    ],
    Row(
        "a control plane that a tenant names like none of its clusters",
        PLANES,
        "No cluster of the tenant is named tenant-acme/c; allowed: tenant-acme/prod",
        functools.partial(_named_plane, "c"),
        functools.partial(_named_plane, "prod"),
        user=TENANT,
        twin_user=TENANT,
    ),
    Row(
        "a control plane of the name of another tenant's cluster",
        PLANES,
        "No cluster of the tenant is named tenant-acme/b-c",
        functools.partial(_named_plane, "b-c"),
        functools.partial(_named_plane, "b-c"),
        user=TENANT,
    ),
]


def _refers(kind: str, field: str, to: str) -> Row:
    """Give the row of a reference that leaves its namespace; its twin names its own."""

    def build(namespace: str, shapes: Shapes) -> Body:
        ref = shapes.reference(to, namespace)
        if kind == "Cluster":
            return shapes.capi_cluster(**{field: ref})
        if kind == "MachineHealthCheck":
            return shapes.health_check(ref)
        return shapes.workers(kind, **({"bootstrap": {"configRef": ref}} if field == "configRef" else {field: ref}))

    return Row(
        f"{kind}: {field} of another namespace",
        REFERENCES,
        f"{field} names {to} tenant-globex/x",
        functools.partial(build, "tenant-globex"),
        functools.partial(build, "tenant-acme"),
        generations=OLD,
        user=CAPI,
        twin_user=CAPI,
    )


_TEMPLATE = "ProxmoxMachineTemplate"
_NO_SECRET = "dataSecretName must be absent"

REFERENCE_ROWS = [
    _refers("Cluster", "controlPlaneRef", "KamajiControlPlane"),
    _refers("Cluster", "infrastructureRef", "ProxmoxCluster"),
    *[
        _refers(kind, field, to)
        for kind in ("MachineDeployment", "MachineSet")
        for field, to in (("infrastructureRef", _TEMPLATE), ("configRef", "TalosConfigTemplate"))
    ],
    _refers("Machine", "infrastructureRef", "ProxmoxMachine"),
    _refers("Machine", "configRef", "TalosConfig"),
    _refers("MachineHealthCheck", "remediationTemplate", _TEMPLATE),
    Row(
        "a Cluster's class of another namespace",
        REFERENCES,
        "spec.topology names ClusterClass platform/x",
        lambda s: s.topology("platform"),
        lambda s: s.topology("tenant-acme"),
    ),
    Row(
        "the health checks of a class with a template of another namespace",
        REFERENCES,
        "machineDeployments.a.machineHealthCheck.remediationTemplate names ProxmoxMachineTemplate platform/x",
        lambda s: s.topology("tenant-acme", s.reference(_TEMPLATE, "platform")),
        lambda s: s.topology("tenant-acme", s.reference(_TEMPLATE, "")),
        generations=OLD,
    ),
    *[
        Row(
            f"{says} by a tenant's own identity",
            REFERENCES,
            said,
            refused,
            twin or refused,
            user=TENANT,
            twin_user=TENANT if twin else twin_user,
        )
        for says, said, refused, twin, twin_user in (
            (
                "a Secret for the machines",
                _NO_SECRET,
                lambda s: s.workers(bootstrap={"dataSecretName": "hybrid-handover"}),
                lambda s: s.workers(),
                None,
            ),
            (
                "a Secret beside bootstrap data",
                _NO_SECRET,
                lambda s: s.workers(
                    bootstrap={"configRef": s.reference("TalosConfigTemplate"), "dataSecretName": "pve-lab"}
                ),
                None,
                CAPI,
            ),
            (
                "another provider's template",
                "a tenant refers only to",
                lambda s: s.workers(infrastructureRef=s.reference("KubevirtMachineTemplate")),
                None,
                CHARTS,
            ),
            (
                "another provider's infrastructure",
                "infrastructureRef names KubevirtCluster tenant-acme/x",
                lambda s: s.capi_cluster(infrastructureRef=s.reference("KubevirtCluster")),
                lambda s: s.capi_cluster(),
                None,
            ),
            (
                "a class",
                "spec.topology names ClusterClass",
                lambda s: s.topology("tenant-acme"),
                None,
                CHARTS,
            ),
            (
                "a remediation of its own",
                "a tenant refers only to",
                lambda s: s.health_check(s.reference("Metal3RemediationTemplate")),
                lambda s: s.health_check(),
                None,
            ),
        )
    ],
]

SECRET_ROWS = [
    Row(
        says,
        SECRETS,
        "makes no Secret and changes none",
        functools.partial(_secret, name, kind),
        functools.partial(_secret, name, kind),
        user=TENANT,
    )
    for says, name, kind in (
        ("the kubeconfig of a further Cluster, which Cluster API would execute", "prod-lab-kubeconfig", _KUBECONFIG),
        ("the kubeconfig of the hosted control plane", "prod-kubeconfig", _KUBECONFIG),
        ("a token of a ServiceAccount", "mine", "kubernetes.io/service-account-token"),
        ("a Secret of another type", "mine", "Opaque"),
    )
]
"""Sent by the tenant's own identity and, as twins, by an administrator."""

ROWS = [*NIC_ROWS, *CLUSTER_ROWS, *POOL_ROWS, *BODY_ROWS, *PLANE_ROWS, *REFERENCE_ROWS]
