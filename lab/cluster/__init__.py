"""The lab's management cluster: real etcd, kube-apiserver and kube-controller-manager on free loopback ports.

`start(state)` gives a `Cluster`; `running(state)` finds it again from another program; `stop(state)` ends it and
keeps the data. There are no nodes: objects are stored, defaulted, admitted, collected and deleted for real, and nothing
runs a Pod.
"""

from lab.cluster.cluster import Cluster
from lab.cluster.lifecycle import ClusterError, running, start, stop

__all__ = ["Cluster", "ClusterError", "running", "start", "stop"]
