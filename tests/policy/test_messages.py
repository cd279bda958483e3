"""Nothing secret is in a message, and nothing that a program does on the way hides what it asks for."""

from __future__ import annotations

import asyncio
import contextvars
from typing import TYPE_CHECKING, Any

import pulumi
import pulumi_proxmoxve as proxmoxve

from tests.policy.analyzer import UNKNOWN, secret
from tests.policy.cases import TENANT
from tests.policy.environment_cases import ENVIRONMENT
from tests.policy.examples import (
    CONFIG,
    FILE,
    HCLOUD,
    KUBERNETES,
    LAB,
    PROXMOX,
    SERVER,
    VM,
    k8s,
    nic,
    row,
    server,
    template,
    vm,
)

if TYPE_CHECKING:
    from tests.policy.analyzer import Analyzer

MARKER = "s3cr3t-marker"


def marked(name: str) -> dict[str, Any]:
    return secret(f"{MARKER}-{name}")


PROVIDERS: dict[str, dict[str, Any]] = {
    "proxmoxve": {
        **PROXMOX[1],
        "apiToken": marked("token"),
        "password": marked("password"),
        "username": marked("user"),
        "ssh": {"password": marked("ssh")},
    },
    "hcloud": {"token": marked("hcloud"), "endpoint": marked("endpoint")},
    "kubernetes": {"context": "lab-globex", "kubeconfig": marked("kubeconfig")},
}
PROPS: list[tuple[str, dict[str, Any]]] = [
    (VM, vm(nic(201, macAddress=marked("mac")), description=marked("text"), hookScriptFileId=marked("hook"))),
    (VM, vm(nic(201), clone=None, initialization={"userAccount": {"password": marked("account")}})),
    (VM, vm(nic(201, trunks=marked("trunks")), kvmArguments=marked("kvm"), bogus=marked("bogus"))),
    (VM, vm(nic(UNKNOWN, bogus=marked("nic")), clone={"vmId": marked("id"), "retries": marked("retries")})),
    (FILE, {"contentType": marked("content"), "sourceRaw": {"data": marked("raw")}}),
    (SERVER, {"userData": marked("user-data"), "sshKeys": [marked("key")]}),
    ("kubernetes:core/v1:Secret", {"data": {"x": marked("data")}, "stringData": marked("string-data")}),
    template({"default": {"bridge": "vmbr1", "vlan": 201, "dnsServers": marked("dns"), "x": marked("x")}}),
    k8s("TalosConfigTemplate", {"template": {"spec": {"data": marked("talos")}}}, "bootstrap"),
    ("random:index/randomPassword:RandomPassword", {"result": marked("random")}),
    ("pulumi:providers:proxmoxve", {**PROVIDERS["proxmoxve"], "endpoint": "https://elsewhere.example"}),
    ("pulumi:providers:proxmoxve", {"endpoint": f"https://u:{MARKER}@pve.lab.example:8006"}),
    ("pulumi:providers:random", {"x": marked("provider")}),
]


def test_no_secret_is_in_a_message(analyzer: Analyzer) -> None:
    said = []
    for token, props in PROPS:
        for package, inputs in PROVIDERS.items():
            for stack in ("lab", "lab-globex", "lab-initech", "lab-unheard"):
                for endpoint in (LAB, "https://elsewhere.example", UNKNOWN, None):
                    given = (f"pulumi:providers:{package}", {**inputs, "endpoint": endpoint})
                    said += analyzer.analyze(token, props, given, stack=stack)
    assert len(said) > 200
    assert not [message for message in said if MARKER in message]


SECRET_FIELDS = ("userData", "apiToken", "token", "stringData", "data", "password", "kubeconfig")
"""Whatever is in one of these is never repeated, on whatever level."""


def hidden(value: Any, path: str = "") -> Any:
    """Put a marker into every field that holds secrets, and add such fields to everything that has fields."""
    if isinstance(value, dict):
        inner = {key: hidden(part, f"{path}.{key}") for key, part in value.items() if key not in SECRET_FIELDS}
        return {**inner, **{key: marked(f"{path}.{key}") for key in SECRET_FIELDS}}
    return [hidden(part, f"{path}[]") for part in value] if isinstance(value, list) else value


def test_what_is_secret_in_any_resource_and_its_provider_is_never_repeated(analyzer: Analyzer) -> None:
    said = []
    for example in (*TENANT, *ENVIRONMENT):
        provider = example.provider and (example.provider[0], hidden(example.provider[1]))
        for stack in ("lab", "lab-globex", "lab-initech", "lab-unheard"):
            said += analyzer.analyze(example.token, hidden(example.props), provider, stack=stack)
    assert len(said) > 300
    assert not [message for message in said if MARKER in message]


def test_a_message_names_no_other_tenant(analyzer: Analyzer) -> None:
    for token, props, provider in ((VM, vm(nic(201), vmId=2000), PROXMOX), (*template({}), KUBERNETES)):
        assert not [text for text in analyzer.analyze(token, props, provider) if "acme" in text]
    (message,) = analyzer.analyze(SERVER, server(networks=[{"subnetId": "1-10.9.0.0/24"}]), HCLOUD)
    assert "10.100" not in message


def test_everything_wrong_with_a_vm_comes_in_one_run(analyzer: Analyzer) -> None:
    props = vm(nic(201), nic(None), clone=None, hostpcis=[{}], bogus=1, vmId=1, poolId="x", cdrom=5, disks=5)
    assert len(analyzer.analyze(VM, props, PROXMOX)) == 9


def test_a_message_lists_only_so_many_networks(running: Analyzer) -> None:
    rows = [row(f"n{vlan}", "globex", "lab", vlan) for vlan in range(100, 200)]
    running.configure({**CONFIG, "networks": rows})
    (message,) = running.analyze(VM, vm(nic(201)), PROXMOX)
    assert "vmbr1 VLAN 107 (n107) and 92 more." in message
    assert running.analyze(VM, vm(nic(199)), PROXMOX) == []


def test_a_message_is_one_line_and_short_whatever_was_asked_for(analyzer: Analyzer) -> None:
    (message,) = analyzer.analyze(VM, vm(nic(202, "vmbr1\n\x1b[2K" + "x" * 5000)), PROXMOX)
    assert "\\n\\x1b[2K" in message
    description, line = message.split("\n")
    assert description.endswith(".")
    assert len(line) < 400


class Registered(pulumi.runtime.Mocks):
    """Stands in for the engine and keeps what reaches it."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.seen: list[pulumi.runtime.MockResourceArgs] = []

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        """Keep a resource and let it be made as asked."""
        self.seen.append(args)
        return args.name, args.inputs

    def call(self, args: pulumi.runtime.MockCallArgs) -> tuple[dict[Any, Any], list[tuple[str, str]] | None]:
        """Refuse calls: the program makes none."""
        raise NotImplementedError(args.token)


def registered(transform: Any) -> dict[str, Any]:
    """Give the inputs of a VM of globex after a transform, as they reach the engine."""
    engine = Registered()
    contextvars.copy_context().run(_run_with, engine, transform)  # else its stack would stay the root of later tests'
    (found,) = engine.seen
    inputs: dict[str, Any] = dict(found.inputs)
    return inputs


def _run_with(engine: Registered, transform: Any) -> None:
    asyncio.set_event_loop(asyncio.new_event_loop())  # whatever ran before may have taken its own away
    pulumi.runtime.set_mocks(engine)

    @pulumi.runtime.test  # type: ignore[untyped-decorator]  # the SDK gives it no types
    def program() -> pulumi.Output[Any]:
        made = proxmoxve.VmLegacy(
            "prod-small-0",
            node_name="pve1",
            vm_id=2100,
            pool_id="lab-globex",
            clone=proxmoxve.VmLegacyCloneArgs(vm_id=9000),
            network_devices=[proxmoxve.VmLegacyNetworkDeviceArgs(bridge="vmbr1", vlan_id=202)],
            opts=pulumi.ResourceOptions(transformations=[transform]),
        )
        return made.urn

    program()


def test_a_transform_does_not_hide_what_is_made(analyzer: Analyzer) -> None:
    def unchanged(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult:
        return pulumi.ResourceTransformationResult(args.props, args.opts)

    def intruding(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult:
        nics = [proxmoxve.VmLegacyNetworkDeviceArgs(bridge="vmbr1", vlan_id=201)]
        return pulumi.ResourceTransformationResult({**args.props, "network_devices": nics}, args.opts)

    assert analyzer.analyze(VM, registered(unchanged), PROXMOX) == []
    (message,) = analyzer.analyze(VM, registered(intruding), PROXMOX)
    assert "asks for VLAN 201 on bridge vmbr1." in message
