"""The installed SDKs and the upstream CRDs hold no field or type that could be a network and that no rule reads."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pulumi
import pulumi_hcloud
import pulumi_proxmoxve
import pytest
import yaml
from pulumi import _types
from tenant_isolation import guests, machines, networks, providers, rights, servers
from tenant_isolation.judgement import ENVIRONMENT as ENVIRONMENT_RULES
from tenant_isolation.judgement import TENANT as TENANT_RULES
from tenant_isolation.policy import tenant_isolation

from tests.policy.cases import CLUSTER_1, CLUSTER_2, TENANT, Example, put
from tests.policy.environment_cases import ENVIRONMENT
from tests.policy.examples import CONFIG, HCLOUD, PROXMOX
from tests.policy.offline import arguments, judged

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import ModuleType

CRDS = Path(__file__).parents[3] / "shared" / "crds"
VALIDATE = tenant_isolation().validate
LIKE_A_NETWORK = re.compile(
    r"bridge|vlan|^vids?$|^tag$|trunk|network|vnet|subnet|vswitch|zone|interface|^nic|netdev|^acls?$|^path$|^port|sdn|fabric|vrf"
    r"|^ip(v4|v6)?(config|range|pool)|hostpci|hook|kvm|usb|virtiofs|datastore|storage|fileid|pool",
    re.IGNORECASE,
)
"""Names of fields by which a machine could get onto a network, or something of another tenant's."""

HARMLESS = {
    (guests.VM, "disks[].interface"): "the slot of a disk",
    (guests.VM, "cdrom.interface"): "the slot of a drive",
    ("hcloud:index/networkSubnet:NetworkSubnet", "networkZone"): "a region of Hetzner's",
    ("hcloud:index/networkSubnet:NetworkSubnet", "networkId"): "made in the same run; its range is judged",
    ("proxmoxve:sdn/vnet:Vnet", "zone"): "nobody has rights on a vnet: ACL entries on SDN zones are refused",
    ("proxmoxve:sdn/zone/vlan:Vlan", "dnsZone"): "names",
    ("proxmoxve:network/linux/bridge:Bridge", "vlanAware"): "without it a bridge carries no VLANs of guests",
    ("proxmoxve:network/linux/bridge:Bridge", "vids"): "what its port carries; a guest's NIC names its own VLAN",
    (guests.FILE, "sourceFile.path"): "a file of whoever runs the stack",
    ("hcloud:index/firewall:Firewall", "rules[].port"): "what a firewall lets through to the tenant's own servers",
}
"""Fields that are called like a network and are none, with the reason."""


def resources(package: ModuleType) -> Iterator[tuple[str, type[pulumi.CustomResource]]]:
    """Give every resource of an SDK by its type token."""
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(found.name)
        for _, cls in inspect.getmembers(module, inspect.isclass):
            if issubclass(cls, pulumi.CustomResource) and cls.__module__ == found.name and hasattr(cls, "pulumi_type"):
                yield cls.pulumi_type, cls


ALL = {**dict(resources(pulumi_proxmoxve)), **dict(resources(pulumi_hcloud))}


def args_of(cls: type[Any]) -> type[Any]:
    """Give the class of a resource's inputs; one whose name a nested type has already is called `…InitArgs`."""
    module = inspect.getmodule(cls)
    found = getattr(module, f"{cls.__name__}Args", None) or getattr(module, f"{cls.__name__}InitArgs")
    assert inspect.isclass(found)
    return found


def fields(args: type[Any], path: str = "") -> Iterator[str]:
    """Give every input of a class of inputs, as the provider spells it, nested ones too: `disks[].datastoreId`."""
    names = _types.input_type_py_to_pulumi_names(args)
    types = _types.input_type_types(args)
    for python, name in names.items():
        yield f"{path}{name}"
        kind, several = nested(types.get(python) or types.get(name))
        if kind is not None:
            yield from fields(kind, f"{path}{name}{'[]' if several else ''}.")


def nested(annotation: Any) -> tuple[type[Any] | None, bool]:
    """Give the class of inputs within a type, and whether it is one of a list."""
    if inspect.isclass(annotation) and _types.is_input_type(annotation):
        return annotation, False
    for part in getattr(annotation, "__args__", ()):
        kind, several = nested(part)
        if kind is not None:
            origin = getattr(annotation, "__origin__", None)
            return kind, several or (inspect.isclass(origin) and not issubclass(origin, dict) and origin is not dict)
    return None, False


def unread(example: Example, names: Iterable[str]) -> set[str]:
    """Give those fields that may hold anything: an example with a hostile value there still passes."""
    found = set()
    for name in names:
        if not LIKE_A_NETWORK.search(name.rpartition(".")[2]):
            continue
        for hostile in ("s3cr3t-elsewhere", ["s3cr3t-elsewhere"], 4000):
            props = with_field(example.props, name, hostile)
            if not judged(
                VALIDATE, arguments(Example("x", example.token, props, example.provider, example.stack), CONFIG)
            ):
                found.add(name)
    return found


def with_field(props: Any, name: str, value: Any) -> Any:
    """Set a field at its path, making what is above it where the example has none."""
    head, _, rest = name.partition(".")
    several, key = head.endswith("[]"), head.removesuffix("[]")
    if not rest:
        return {**props, key: value}
    inner = props.get(key) or ([{}] if several else {})
    inner = [with_field(inner[0], rest, value), *inner[1:]] if several else with_field(inner, rest, value)
    return {**props, key: inner}


EXAMPLES = {
    example.token: example
    for example in [*TENANT, *ENVIRONMENT]
    if example.token in ALL and not example.token.startswith("pulumi:")
}


def refused(token: str, stack: str) -> bool:
    given = HCLOUD if token.startswith("hcloud") else PROXMOX
    return bool(judged(VALIDATE, arguments(Example(token, token, {"name": "x"}, given, stack), CONFIG)))


def test_every_type_of_the_sdks_is_refused_but_those_that_a_rule_judges() -> None:
    assert len(ALL) > 100
    for stack, rules in (("lab-globex", TENANT_RULES), ("lab", ENVIRONMENT_RULES)):
        closed = {token for token in ALL if token not in rules}
        assert len(closed) > 100
        assert [token for token in sorted(closed) if not refused(token, stack)] == []


def test_every_type_that_a_rule_judges_has_an_example_or_an_older_twin_of_the_same_inputs() -> None:
    for token in sorted({*TENANT_RULES, *ENVIRONMENT_RULES} & ALL.keys() - EXAMPLES.keys()):
        if token.startswith("pulumi:"):
            continue
        twin = re.sub(r"Legacy", "", token)
        assert twin in EXAMPLES, token
        assert set(fields(args_of(ALL[token]))) <= set(fields(args_of(ALL[twin]))), token


@pytest.mark.parametrize("token", sorted(EXAMPLES))
def test_no_field_like_a_network_is_unread(token: str) -> None:
    names = list(fields(args_of(ALL[token])))
    harmless = {name for (kind, name) in HARMLESS if kind == token}
    assert unread(EXAMPLES[token], names) == harmless


def test_a_new_field_like_a_network_would_be_found() -> None:
    # The test above, tested: it reports what no rule reads, and only that.
    vm = EXAMPLES[guests.VM]
    assert unread(vm, ["cpu.vlanTag"]) == {"cpu.vlanTag"}
    assert unread(vm, ["cpu.bridge", "agent.trunks[].network"]) == {"cpu.bridge", "agent.trunks[].network"}
    assert unread(vm, ["networkDevices[].vlanId", "networkDevices[].newTrunks", "vlans", "disks[].bridge"]) == set()
    assert unread(EXAMPLES[servers.SERVER], ["publicNets[].subnet", "networks[].vlan"]) == {"publicNets[].subnet"}


def test_the_walk_sees_nested_fields() -> None:
    names = set(fields(args_of(ALL[guests.VM])))
    assert {"networkDevices[].vlanId", "networkDevices[].trunks", "initialization.ipConfigs[].ipv4.address"} <= names
    assert {"disks[].speed.read", "clone.datastoreId", "usbs[].mapping"} <= names
    assert {"networks[].subnetId", "publicNets[].ipv4"} <= set(fields(args_of(ALL[servers.SERVER])))


def test_what_the_rules_know_is_what_the_sdk_has() -> None:
    def of(args: type[Any]) -> set[str]:
        return set(_types.input_type_py_to_pulumi_names(args).values())

    classified = [guests.JUDGED_FIELDS, guests.OTHER_FIELDS, guests.REFUSED_FIELDS.keys()]
    assert set().union(*classified) == of(pulumi_proxmoxve.VmLegacyArgs)
    assert sum(map(len, classified)) == len(set().union(*classified))
    assert of(pulumi_proxmoxve.VmLegacyNetworkDeviceArgs) == guests.NIC_FIELDS
    assert of(pulumi_proxmoxve.VmLegacyCloneArgs) == guests.CLONE_FIELDS
    assert of(pulumi_proxmoxve.VmLegacyDiskArgs) == guests.DISK_FIELDS
    assert of(pulumi_proxmoxve.VmLegacyCdromArgs) == guests.CDROM_FIELDS
    assert of(pulumi_proxmoxve.ProviderArgs) > providers.PROXMOX_INPUTS - {"version"}
    assert of(pulumi_hcloud.ServerNetworkArgs) > servers.NETWORK_FIELDS
    for token, known in servers.FIELDS.items():
        assert known <= of(args_of(ALL[token]))


def test_types_with_the_inputs_of_a_guest_are_guests() -> None:
    like_guests = {
        token
        for token, cls in ALL.items()
        if not token.startswith("pulumi:")
        and {"clone", "cpu", "networkDevices", "networkInterfaces", "serverType"} & set(fields(args_of(cls)))
    }
    assert {guests.VM, servers.SERVER, "proxmoxve:index/containerLegacy:ContainerLegacy"} <= like_guests
    assert "proxmoxve:cloned/vm:Vm" in like_guests
    assert not like_guests & ENVIRONMENT_RULES.keys()
    assert like_guests & TENANT_RULES.keys() == {guests.VM, servers.SERVER}
    assert set(rights.RIGHTS) | set(networks.NETWORKS) <= ALL.keys()


def kubernetes_kinds() -> Iterator[tuple[str, bool]]:
    """Give the type token of every resource of the Kubernetes SDK, and whether it is a Patch."""
    import pulumi_kubernetes  # noqa: PLC0415 - it takes seconds

    text = (Path(pulumi_kubernetes.__file__)).read_text(encoding="utf-8")
    for token in sorted(set(re.findall(r'"(kubernetes:[^"]+)"', text))):
        yield token, token.endswith("Patch")


def test_every_kind_of_the_kubernetes_sdk_is_refused_in_a_tenants_stack() -> None:
    tokens = dict(kubernetes_kinds())
    assert len(tokens) > 300
    assert sum(tokens.values()) > 100
    for token in tokens:
        body = {"apiVersion": "v1", "kind": "x", "metadata": {"name": "x", "namespace": "tenant-globex"}}
        provider = ("pulumi:providers:kubernetes", {"context": "lab-globex"})
        assert judged(VALIDATE, arguments(Example(token, token, body, provider), CONFIG)), token


def schemas() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Give the schema of each capmox kind's own spec, as (kind, version, properties)."""
    for path in sorted(CRDS.glob("*/proxmox*.yaml")):
        for crd in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            kind = crd["spec"]["names"]["kind"]
            for version in crd["spec"]["versions"]:
                schema = version["schema"]["openAPIV3Schema"]
                for step in machines.SPEC_OF.get(kind, ("spec",)):
                    schema = schema["properties"][step]
                yield kind, version["name"], schema["properties"]


@pytest.mark.shared
def test_every_field_of_a_machine_and_its_nics_in_the_crds_is_classified() -> None:
    seen = [(kind, version, spec) for kind, version, spec in schemas() if kind in machines.SPEC_OF]
    assert {(kind, version) for kind, version, _ in seen} == {
        (kind, version) for kind in machines.SPEC_OF for version in machines.VERSIONS
    }
    known = machines.JUDGED_FIELDS | machines.OTHER_FIELDS | machines.REFUSED_FIELDS.keys()
    assert set().union(*(spec for _, _, spec in seen)) == known
    for _, _, spec in seen:
        network = spec["network"]["properties"]
        assert network.keys() <= set(machines.NETWORK_FIELDS)
        nics = [network[field] for field in ("default", *machines.LISTS) if field in network]
        for nic in nics:
            assert nic.get("items", nic)["properties"].keys() <= machines.NIC_FIELDS
        assert spec["templateSelector"]["properties"].keys() <= {"matchTags", "matchPolicy"}


@pytest.mark.shared
def test_no_field_like_a_network_of_the_crds_is_unread() -> None:
    for kind, version, spec in schemas():
        example = next(
            (item for item in [*TENANT, CLUSTER_1, CLUSTER_2] if item.token.endswith(f"/{version}:{kind}")), None
        )
        if example is None:
            continue
        at = ".".join(machines.SPEC_OF.get(kind, ("spec",)))
        for name in spec:
            if LIKE_A_NETWORK.search(name) and name != "memoryMiB":
                for hostile in ("elsewhere", ["elsewhere"], {"elsewhere": True}):
                    props = put(example.props, f"{at}.{name}", hostile)
                    changed = Example("x", example.token, props, example.provider)
                    assert judged(VALIDATE, arguments(changed, CONFIG)), (kind, version, name)
