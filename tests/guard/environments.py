"""Environments for these tests: drawn ones, and a fixed one that has everything, with their policies."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from manifests.environment import environment
from manifests.generations import GENERATIONS
from manifests.render import placeholders
from settings.environment import Environment
from settings.stack import EnvironmentSettings
from tests.guard.offline import Guard
from tests.manifests.examples import raw
from tests.manifests.live import CAPI, CAPMOX, CHARTS
from tests.strategies import ENVIRONMENT, environments

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

    from manifests.manifest import Manifest

Body = dict[str, Any]
CONTROLLERS = {"capmox": CAPMOX, "capi": CAPI, "charts": CHARTS}


def objects(stack: Body) -> list[Manifest]:
    """Give the objects of an environment, as the program renders them."""
    settings = EnvironmentSettings(ENVIRONMENT, Environment.model_validate(stack))
    return environment(settings, placeholders(settings))


def guard(stack: Body) -> Guard:
    """Give the policies of an environment."""
    return Guard(item.body for item in objects(stack))


@st.composite
def drawn(draw: DrawFn) -> Body:
    """Draw a legal environment of a generation whose objects are rendered, as a stack file has it."""
    found: Body = draw(environments())[0]
    found["management"]["generation"] = draw(st.sampled_from(GENERATIONS))
    found["management"]["controllers"] = CONTROLLERS
    found["management"]["openBridges"] = draw(st.sampled_from([[], ["vmbr9"], ["vmbr8", "vmbr9"]]))
    if "vmbr9" in found["management"]["openBridges"]:
        found["management"]["openVlans"] = draw(st.sampled_from([{}, {"vmbr9": [7]}, {"vmbr9": ["2-9", 300]}]))
    return found


def full(generation: str) -> Body:
    """Give an environment with two zones, rows of several ranges, a tenant in both zones and an open bridge."""
    found = copy.deepcopy(raw("lab"))
    found["management"] |= {
        "generation": generation,
        "openBridges": ["vmbr7", "vmbr8", "vmbr9"],
        "controllers": CONTROLLERS,
    }
    found["management"]["openVlans"] = {"vmbr8": ["2-9"], "vmbr9": ["7-19", 300]}
    found["zones"]["workers"]["networks"]["acme-lab"]["range"] = [
        "10.201.0.20-10.201.0.59",
        "10.201.0.100-10.201.0.199",
    ]
    found["tenants"]["initech"] = {"namespace": "tenant-initech", "clusters": []}
    row = {"location": "lab", "gateway": "10.210.0.1", "range": "10.210.0.20-10.210.0.99", "cidr": "10.210.0.0/25"}
    found["zones"]["storage"] = {
        "bridge": "vmbr2",
        "locations": ["lab"],
        "networks": {"acme-disks": {"tenant": "acme", "vlan": 201, **row}},
    }
    return found
