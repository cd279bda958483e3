"""What the program renders from the stack files of this project passes the pack, and only for whom it was rendered."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from manifests.policy_config import policy_config
from manifests.tenant import tenant
from settings.load import load
from settings.stack import TenantSettings
from tests.policy.analyzer import POLICY
from tests.policy.examples import KUBERNETES

if TYPE_CHECKING:
    from tests.policy.analyzer import Analyzer

STACKS = Path(__file__).parents[2] / "stacks"
TENANTS = sorted(path.name.split(".")[1] for path in STACKS.glob("Pulumi.lab-*.yaml"))


def rendered(stack: str) -> list[tuple[str, dict[str, Any]]]:
    settings = load(stack, STACKS)
    assert isinstance(settings, TenantSettings)
    bodies = [manifest.body for manifest in tenant(settings)]
    return [(f"kubernetes:{body['apiVersion']}:{body['kind']}", body) for body in bodies]


@pytest.mark.parametrize("stack", TENANTS)
def test_rendered_objects_pass_for_their_own_tenant_alone(running: Analyzer, stack: str) -> None:
    config = policy_config(STACKS, "lab")
    assert config.keys() == {"all", POLICY}
    running.configure({key: value for key, value in config[POLICY].items() if key != "enforcementLevel"})
    objects = rendered(stack)
    assert objects
    other = next(name for name in TENANTS if name != stack)
    for token, body in objects:
        assert running.analyze(token, body, KUBERNETES, stack=stack) == []
        assert running.analyze(token, body, KUBERNETES, stack=other)


def test_a_template_rendered_for_one_tenant_is_refused_in_the_namespace_of_another(running: Analyzer) -> None:
    config = policy_config(STACKS, "lab")[POLICY]
    running.configure({key: value for key, value in config.items() if key != "enforcementLevel"})
    for token, body in rendered("lab-acme"):
        if body["kind"] == "ProxmoxMachineTemplate":
            moved = {**body, "metadata": {**body["metadata"], "namespace": "tenant-globex"}}
            messages = running.analyze(token, moved, KUBERNETES, stack="lab-globex")
            assert any("NIC 1 (network.default) asks for VLAN 201 on bridge vmbr1." in message for message in messages)
            break
    else:
        pytest.fail("lab-acme renders no ProxmoxMachineTemplate")
