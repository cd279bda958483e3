"""Legal stack files for property tests."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hypothesis.strategies import DrawFn

Settings = dict[str, Any]
ENVIRONMENT = "lab"
"""The name of every environment made here; its tenants' stacks are `lab-<tenant>`."""

_TENANTS = ("acme", "globex", "initech", "hooli2", "umbrella")
_LOCATIONS = ("lab", "dc", "rack3", "edge")
_CLOUDS = ("fsn1", "hel1")
_CLUSTERS = ("prod", "test", "dev2")
_ZONES = ("workers", "storage-net", "z3")
_POOLS = ("small", "large", "db-a", "web", "batch-2x")
_TAINTS = ("tier=db:NoSchedule", "tier=db:NoExecute", "gpu:NoExecute")
_IDS = 100
"""Ids that a tenant has in each location, and at least as many addresses in each row, so that none is short."""


@st.composite
def environments(draw: DrawFn) -> tuple[Settings, dict[str, Settings]]:
    """Draw a legal environment and the stacks of all of its tenants that have a network: `{stack: settings}`."""
    tenants = draw(st.lists(st.sampled_from(_TENANTS), min_size=1, max_size=4, unique=True))
    names = draw(st.lists(st.sampled_from(_LOCATIONS), min_size=1, max_size=3, unique=True))
    environment: Settings = {
        "management": {"context": "mgmt", "generation": "capi-1.10", **draw(_management())},
        "tenants": {
            tenant: {
                "namespace": f"tenant-{tenant}",
                "clusters": draw(st.lists(st.sampled_from(_CLUSTERS), min_size=1, unique=True)),
            }
            for tenant in tenants
        },
        "locations": {name: draw(_proxmox(name, tenants)) for name in names},
        "zones": {},
    }
    networks = count(1)
    for cloud in draw(st.lists(st.sampled_from(_CLOUDS), max_size=2, unique=True)):
        environment["locations"][cloud] = draw(_cloud(cloud, tenants, networks))
    for index, zone in enumerate(draw(st.lists(st.sampled_from(_ZONES), min_size=1, max_size=2, unique=True))):
        locations = draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
        body: Settings = {"bridge": f"vmbr{index}", "locations": locations, "retired": ["60-99"]}
        body["reserved"] = {location: ["2-40", 50] for location in locations if draw(st.booleans())}
        environment["zones"][zone] = {**body, "networks": draw(_networks(zone, locations, environment, networks))}
    stacks = {f"{ENVIRONMENT}-{tenant}": draw(_tenant(tenant, environment)) for tenant in tenants}
    return environment, {stack: settings for stack, settings in stacks.items() if settings["clusters"]}


def _management() -> st.SearchStrategy[Settings]:
    return st.fixed_dictionaries(
        {}, optional={"protect": st.booleans(), "guard": st.sampled_from(["enforce", "audit"])}
    )


@st.composite
def _proxmox(draw: DrawFn, name: str, tenants: list[str]) -> Settings:
    nodes = [f"{name}-n{index}" for index in range(draw(st.integers(1, 3)))]
    here = draw(st.lists(st.sampled_from(tenants), min_size=1, unique=True))
    found: Settings = {
        "type": "proxmox",
        "endpoint": f"https://{name}.example:8006",
        "nodes": {node: {"memory": draw(st.sampled_from(["128Gi", "256Gi"]))} for node in nodes},
        "storage": {"name": "disks", "shared": draw(st.booleans())},
        "template": {"tags": ["talos", "v1.13.6"], "id": 900, "node": draw(st.sampled_from(nodes))},
        "pve": draw(st.sampled_from([8, 9])),
        "tenants": {
            tenant: {
                "vmIds": f"{1000 + _IDS * index}-{1000 + _IDS * (index + 1) - 1}",
                "isoStorage": f"iso-{tenant}",
                "rotation": draw(st.integers(1, 3)),
            }
            for index, tenant in enumerate(here)
        },
    }
    if draw(st.booleans()):
        found["template"]["pool"] = draw(st.sampled_from(["golden", "talos-1.13"]))
    if draw(st.booleans()):
        found["template"]["disk"] = draw(st.sampled_from(["4Gi", "10Gi", "20Gi"]))
    if draw(st.booleans()):
        found["uplink"] = {"vswitch": draw(st.integers(4000, 4091)), "mtu": draw(st.integers(1304, 1400))}
    return found


@st.composite
def _cloud(draw: DrawFn, name: str, tenants: list[str], networks: Iterator[int]) -> Settings:
    found = {}
    for tenant in draw(st.lists(st.sampled_from(tenants), min_size=1, unique=True)):
        second = next(networks)
        found[tenant] = {"cidr": f"10.{second}.0.0/16", "subnet": f"10.{second}.1.0/24"}
    return {"type": "hcloud", "region": name, "image": {"selector": "os=talos"}, "tenants": found}


@st.composite
def _networks(
    draw: DrawFn, zone: str, locations: list[str], environment: Settings, networks: Iterator[int]
) -> Settings:
    places = [(tenant, location) for location in locations for tenant in environment["locations"][location]["tenants"]]
    chosen = draw(st.lists(st.sampled_from(places), min_size=1, max_size=6))
    vlans = draw(st.lists(st.integers(101, 4094), min_size=len(chosen), max_size=len(chosen), unique=True))
    rows = {}
    for index, ((tenant, location), vlan) in enumerate(zip(chosen, vlans, strict=True)):
        net = f"10.{next(networks)}.{draw(st.integers(0, 255))}"
        split = draw(st.booleans())
        rows[f"{tenant}-{zone}-{index}"] = {
            "tenant": tenant,
            "location": location,
            "vlan": vlan,
            "cidr": f"{net}.0/24",
            "gateway": f"{net}.{draw(st.sampled_from([1, 19, 254]))}",
            "range": [f"{net}.20-{net}.59", f"{net}.100-{net}.199"] if split else f"{net}.20-{net}.199",
        }
    return rows


@st.composite
def _tenant(draw: DrawFn, tenant: str, environment: Settings) -> Settings:
    rows = {
        name: row
        for zone in environment["zones"].values()
        for name, row in zone["networks"].items()
        if row["tenant"] == tenant
    }
    clouds = [
        name
        for name, location in environment["locations"].items()
        if location["type"] == "hcloud" and tenant in location["tenants"]
    ]
    clusters: Settings = {}
    if rows:
        free: dict[str, Iterator[int]] = {
            name: count(int(location["tenants"][tenant]["vmIds"].split("-")[0]))
            for name, location in environment["locations"].items()
            if location["type"] == "proxmox" and tenant in location["tenants"]
        }
        by_controllers = {name: draw(st.booleans()) for name in rows}
        around = _Around(rows, by_controllers, environment["locations"], clouds, free)
        homes = sorted({row["location"] for row in rows.values()})
        for index, cluster in enumerate(environment["tenants"][tenant]["clusters"]):
            home = draw(st.sampled_from(homes))
            at_home = [name for name, row in rows.items() if row["location"] == home]
            clusters[cluster] = {
                "home": home,
                **({"network": draw(st.sampled_from(at_home))} if len(at_home) > 1 else {}),
                "kubernetes": draw(st.sampled_from(["v1.31.0", "v1.35.6", "v1.36.11"])),
                "talos": "v1.13.6",
                "controlPlane": {"type": "kamaji", "address": f"203.0.113.{index + 1}"},
                "connectivity": draw(st.sampled_from(["kilo", "cilium-wireguard", "routed"])),
                "pools": {},
            }
            for pool in draw(st.lists(st.sampled_from(_POOLS), max_size=4, unique=True)):
                made = draw(_pool(home, around))
                if made:
                    clusters[cluster]["pools"][pool] = made
    return {"environment": ENVIRONMENT, "clusters": clusters}


class _Around(NamedTuple):
    """What a tenant's pools are made of: its rows, which of them controllers use, locations, clouds, free ids."""

    rows: Settings
    by_controllers: dict[str, bool]
    locations: Settings
    clouds: list[str]
    free: dict[str, Iterator[int]]


@st.composite
def _pool(draw: DrawFn, home: str, around: _Around) -> Settings | None:
    labels = draw(st.dictionaries(st.sampled_from(["tier", "example.com/disk"]), st.sampled_from(["", "a", "b.C-1"])))
    common: Settings = {"labels": labels, "taints": draw(st.lists(st.sampled_from(_TAINTS), unique=True))}
    if draw(st.booleans()) and around.clouds:
        replicas = draw(st.integers(0, 4))
        cloud = draw(st.sampled_from(around.clouds))
        return {**common, "backend": "hcloud-server", "location": cloud, "serverType": "cpx32", "replicas": replicas}
    name = draw(st.sampled_from(sorted(around.rows)))
    place = around.rows[name]["location"]
    location = around.locations[place]
    common |= {
        "network": name,
        "size": {"cpu": draw(st.integers(1, 16)), "memory": draw(st.sampled_from(["4Gi", "8200Mi"])), "disk": "20Gi"},
    }
    if around.by_controllers[name]:
        if place != home or (len(location["nodes"]) > 1 and not location["storage"]["shared"]):
            return None
        most, surge = draw(st.integers(1, 3)), draw(st.integers(0, 1))
        common |= {"backend": "capi-proxmox", "vmIds": _take(around.free[place], most + surge)}
        common["rollout"] = {"surge": surge, "unavailable": 1 - surge}
        return common | draw(st.sampled_from([{"replicas": most}, {"scale": {"min": 0, "max": most}}]))
    replicas = draw(st.integers(0, 4))
    nodes = sorted(location["nodes"]) if location["storage"]["shared"] else [location["template"]["node"]]
    common |= {"backend": "proxmox-vm", "vmIds": _take(around.free[place], replicas + 1), "replicas": replicas}
    return common | {"nodes": draw(st.lists(st.sampled_from(nodes), min_size=1, unique=True))}


def _take(free: Iterator[int], size: int) -> str:
    ids = [next(free) for _ in range(size)]
    return f"{ids[0]}-{ids[-1]}"
