"""Wait until a restarted API server can evaluate the policies that it already has.

For up to half a minute after a restart the API server does not find the kind of the policies' parameters, and refuses
every request that they match (seen on 1.36; a cluster that never restarts does not show it).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from lab.cluster import ClusterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.cluster import Cluster

BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
PROBE = "/apis/infrastructure.cluster.x-k8s.io/v1alpha1/namespaces/default/proxmoxmachinetemplates?dryRun=All"
NOT_READY = "failed to configure policy"
LIMIT, PAUSE = 90.0, 1.0
"""Seconds."""


def wait(api: Cluster, report: Callable[[str], None]) -> None:
    """Ask with a dry run until the answer comes from the policies themselves; at once where there are none."""
    _, bindings = api.request("GET", BINDINGS)
    if not bindings.get("items"):
        return
    probe = {
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1alpha1",
        "kind": "ProxmoxMachineTemplate",
        "metadata": {"name": "probe"},
        "spec": {"template": {"spec": {}}},
    }
    end = time.monotonic() + LIMIT
    told = False
    while NOT_READY in str(api.request("POST", PROBE, probe)[1]):
        if time.monotonic() > end:
            message = f"the API server can not evaluate its admission policies after {LIMIT:.0f} s"
            raise ClusterError(message)
        if not told:
            report("management cluster: waiting until the API server has loaded its admission policies (up to 30 s)")
            told = True
        time.sleep(PAUSE)
