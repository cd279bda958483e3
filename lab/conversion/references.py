"""References of Cluster API's own Cluster between `v1beta1` and `v1beta2`.

The older version names what a Cluster refers to by apiVersion and namespace, the newer by API group alone; nothing else
that this project writes differs. Cluster API looks an apiVersion up in the cluster, this takes the older generation's.
"""

from __future__ import annotations

from typing import Any

Body = dict[str, Any]

GROUP, KIND = "cluster.x-k8s.io", "Cluster"
OLD, NEW = "v1beta1", "v1beta2"
_FIELDS = ("controlPlaneRef", "infrastructureRef")
_VERSION = "v1alpha1"


def up(body: Body) -> None:
    """Make a Cluster of the newer version of one of the older."""
    for ref in _references(body):
        ref["apiGroup"] = ref.pop("apiVersion", "").partition("/")[0]
        ref.pop("namespace", None)


def down(body: Body) -> None:
    """Make a Cluster of the older version of one of the newer."""
    for ref in _references(body):
        ref["apiVersion"] = f"{ref.pop('apiGroup')}/{_VERSION}"
        ref["namespace"] = body["metadata"].get("namespace", "")


def _references(body: Body) -> list[Body]:
    spec = body.get("spec") or {}
    return [spec[field] for field in _FIELDS if field in spec]
