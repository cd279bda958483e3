"""What a machine of a size offers to pods: reservations for its kubelet, and the autoscaler's capacity annotations.

The maths for cpu and memory are the platform's own (its node groups use them for every backend), so that a pool
scaled up from zero gets exactly the node that was simulated. Memory is in MiB, cpu in millicores, disk in GiB.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from settings.tenant import Size

_EVICTION_HARD = 7
_EVICTION_SOFT = 10
_NODEFS_HARD = 10
_TALOS_PARTITIONS = 3
"""GiB that Talos keeps for its own partitions (EFI, META, STATE), rounded up."""


def _clamp(value: int, low: int, high: int) -> int:
    return max(low, min(high, value))


def reserved_memory(memory: int) -> int:
    """Give the MiB reserved for the system, and as much again for Kubernetes, of `memory` MiB."""
    return _clamp(memory * 5 // 100, 256, 1024)


def reserved_cpu(cores: int) -> int:
    """Give the millicores reserved for the system, and as much again for Kubernetes."""
    return _clamp(cores * 1000 * 5 // 100, 50, 500)


def memory_capacity(memory: int) -> str:
    """Give the memory that pods can have, as a quantity."""
    left = 100 * (memory - 2 * reserved_memory(memory)) - _EVICTION_HARD * memory
    return f"{max(left, 0) // 100}Mi"


def cpu_capacity(cores: int) -> str:
    """Give the cpu that pods can have, as a quantity."""
    return f"{cores * 1000 - 2 * reserved_cpu(cores)}m"


def disk_capacity(disk: int) -> str:
    """Give the ephemeral storage that pods can have, as a quantity: never more than what the node will report."""
    return f"{(disk - _TALOS_PARTITIONS) * 1024 * (100 - _NODEFS_HARD) // 100}Mi"


def kubelet_config(size: Size) -> dict[str, Any]:
    """Give the kubelet's settings under which the node really has that capacity."""
    reserved = {"cpu": f"{reserved_cpu(size.cpu)}m", "memory": f"{reserved_memory(size.memory)}Mi"}
    return {
        "systemReserved": reserved,
        "kubeReserved": dict(reserved),
        "evictionHard": {
            "memory.available": f"{_EVICTION_HARD}%",
            "nodefs.available": f"{_NODEFS_HARD}%",
            "nodefs.inodesFree": "5%",
            "imagefs.available": "15%",
        },
        "evictionSoft": {
            "memory.available": f"{_EVICTION_SOFT}%",
            "nodefs.available": "15%",
            "imagefs.available": "20%",
        },
        "evictionSoftGracePeriod": {
            "memory.available": "1m30s",
            "nodefs.available": "1m30s",
            "imagefs.available": "1m30s",
        },
    }
