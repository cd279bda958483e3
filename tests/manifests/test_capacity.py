from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manifests.capacity import (
    cpu_capacity,
    disk_capacity,
    kubelet_config,
    memory_capacity,
    reserved_cpu,
    reserved_memory,
)
from settings.tenant import Size


@pytest.mark.parametrize(
    ("cores", "memory", "reserved", "annotated"),
    [
        (2, 4096, (256, 100), ("3297Mi", "1800m")),
        (4, 8192, (409, 200), ("6800Mi", "3600m")),
        (16, 65536, (1024, 500), ("58900Mi", "15000m")),
    ],
)
def test_capacity_is_what_the_platform_computes(
    cores: int, memory: int, reserved: tuple[int, int], annotated: tuple[str, str]
) -> None:
    assert (reserved_memory(memory), reserved_cpu(cores)) == reserved
    assert (memory_capacity(memory), cpu_capacity(cores)) == annotated


def test_the_kubelet_reserves_what_the_annotations_leave_out() -> None:
    config = kubelet_config(Size.model_validate({"cpu": 4, "memory": "8Gi", "disk": "40Gi"}))
    assert config["systemReserved"] == config["kubeReserved"] == {"cpu": "200m", "memory": "409Mi"}
    assert config["evictionHard"]["memory.available"] == "7%"
    assert set(config["evictionSoft"]) == set(config["evictionSoftGracePeriod"])


def test_the_disk_is_less_talos_own_partitions_and_the_kubelets_threshold() -> None:
    assert disk_capacity(40) == "34099Mi"
    assert disk_capacity(5) == "1843Mi"


@given(cores=st.integers(1, 512), memory=st.integers(1, 131072).map(lambda n: n * 8), disk=st.integers(5, 100_000))
def test_no_size_gives_less_than_nothing_or_more_than_the_machine_has(cores: int, memory: int, disk: int) -> None:
    assert 0 < int(cpu_capacity(cores)[:-1]) < cores * 1000
    assert 0 <= int(memory_capacity(memory)[:-2]) < memory
    assert 0 < int(disk_capacity(disk)[:-2]) < disk * 1024
