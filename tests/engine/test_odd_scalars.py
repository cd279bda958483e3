"""What the engine's own reader makes of odd values, on which the settings' tests build."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.settings.odd_scalars import ODD

if TYPE_CHECKING:
    from pathlib import Path

    from tests.engine.harness import EngineLab

pytestmark = pytest.mark.lab


def test_the_engine_reads_odd_values_as_the_table_says(lab: EngineLab, tmp_path: Path) -> None:
    file = tmp_path / "odd.yaml"
    lines = "".join(f"    k{index}: {{x: {text}}}\n" for index, (text, _) in enumerate(ODD))
    file.write_text(f"config:\n  hybrid:environment:\n{lines}")
    done = lab.pulumi("lab", "config", "get", "hybrid:environment", "--config-file", str(file))
    assert done.code == 0, done.output
    found = json.loads(done.output)
    assert {key: json.dumps(value["x"]) for key, value in found.items()} == {
        f"k{index}": json.dumps(value) for index, (_, value) in enumerate(ODD)
    }
