"""KamajiControlPlane: it becomes pods of the management cluster, so what the program does not write is closed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tenant_isolation.reading import read
from tenant_isolation.verdicts import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tenant_isolation.kinds import Kind
    from tenant_isolation.verdicts import Case

FIELDS = frozenset(
    {
        "replicas",
        "version",
        "controlPlaneEndpoint",
        "addons.konnectivity.server.port",
        "kubelet.cgroupfs",
        "kubelet.preferredAddressTypes",
        "network.serviceType",
        "network.serviceAddress",
        "network.advertiseAddress",
        "network.certSANs",
        "network.additionalServicePorts",
    }
)
"""Images, extra containers, volumes, host networks and scheduling are the platform's."""


def control_plane_problems(case: Case, _: Kind) -> list[str]:
    """Judge a control plane."""
    closed = list(_closed(read(case.resource.props, "spec"), ""))
    return [f"It sets {listed(closed)} of its spec, which is the platform's. Leave it out."] if closed else []


def _closed(value: Any, path: str) -> Iterator[str]:
    if path in FIELDS:
        return
    if isinstance(value, dict) and (not path or any(field.startswith(f"{path}.") for field in FIELDS)):
        for key, part in value.items():
            yield from _closed(part, f"{path}.{key}" if path else key)
    elif path:
        yield path
