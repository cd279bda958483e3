"""What the speed figures are measured with: it must be what the program would make."""

from __future__ import annotations

from lab.bench.pack import pack_cost
from tests.conftest import ROOT


def test_the_packs_cost_is_measured_with_machines_that_it_lets_pass() -> None:
    assert pack_cost(ROOT, resources=2, pairs=1).startswith("(e) the policy pack over 2 resources: ")
