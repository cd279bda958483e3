"""What the program renders from the stack files of this project passes the pack, and only for whom it was rendered."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from manifests.policy_config import policy_config
from manifests.render import manifests
from settings.load import load
from tests.policy.analyzer import POLICY
from tests.policy.examples import kubernetes

if TYPE_CHECKING:
    from tests.policy.analyzer import Analyzer

STACKS = Path(__file__).parents[2] / "stacks"
TENANTS = sorted(path.name.split(".")[1] for path in STACKS.glob("Pulumi.lab-*.yaml"))


def rendered(stack: str) -> list[tuple[str, dict[str, Any]]]:
    bodies = [manifest.body for manifest in manifests(load(stack, STACKS))]
    return [(f"kubernetes:{group(body['apiVersion'])}:{body['kind']}", body) for body in bodies]


def group(api_version: str) -> str:
    return api_version if "/" in api_version else f"core/{api_version}"


@pytest.fixture
def lab(running: Analyzer) -> Analyzer:
    config = policy_config(STACKS, "lab")
    assert config.keys() == {"all", POLICY}
    running.configure({key: value for key, value in config[POLICY].items() if key != "enforcementLevel"})
    return running


@pytest.mark.parametrize("stack", TENANTS)
def test_rendered_objects_pass_for_their_own_tenant_alone(lab: Analyzer, stack: str) -> None:
    objects = rendered(stack)
    assert objects
    other = next(name for name in TENANTS if name != stack)
    for token, body in objects:
        assert lab.analyze(token, body, kubernetes(stack), stack=stack) == []
        assert lab.analyze(token, body, kubernetes(other), stack=other)
        assert lab.analyze(token, body, kubernetes(stack), stack="lab-unheard")


def test_a_template_rendered_for_one_tenant_is_refused_in_the_namespace_of_another(lab: Analyzer) -> None:
    for token, body in rendered("lab-acme"):
        if body["kind"] == "ProxmoxMachineTemplate":
            moved = {**body, "metadata": {**body["metadata"], "namespace": "tenant-globex"}}
            messages = lab.analyze(token, moved, kubernetes("lab-globex"), stack="lab-globex")
            assert any("NIC 1 (network.default) asks for VLAN 201 on bridge vmbr1." in message for message in messages)
            break
    else:
        pytest.fail("lab-acme renders no ProxmoxMachineTemplate")


def test_an_environments_objects_pass_for_the_environment_alone(lab: Analyzer) -> None:
    for token, body in rendered("lab"):
        assert lab.analyze(token, body, kubernetes("lab"), stack="lab") == []
        assert lab.analyze(token, body, kubernetes("lab-acme"), stack="lab-acme")
