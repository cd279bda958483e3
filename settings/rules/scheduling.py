"""Rules of labels and taints, as Kubernetes and the kubelet take them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from settings.places import choose
from settings.rules.views import pool_place, problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from settings.problems import Problem
    from settings.rules.views import TenantView

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
_PREFIX = re.compile(r"(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*")
_VALUE = re.compile(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")

OURS = frozenset({"node.cluster.x-k8s.io/location", "node.cluster.x-k8s.io/pool", "topology.kubernetes.io/region"})
"""Every worker carries these; the program sets them."""
_KUBELETS = frozenset(
    {
        "kubernetes.io/hostname",
        "kubernetes.io/os",
        "kubernetes.io/arch",
        "beta.kubernetes.io/os",
        "beta.kubernetes.io/arch",
    }
)
_ALLOWED = frozenset({"topology.kubernetes.io/zone", "node.kubernetes.io/instance-type"})
_ALLOWED_PREFIXES = ("kubelet.kubernetes.io", "node.kubernetes.io")
"""k8s.io/kubelet/pkg/apis/well_known_labels.go: what a kubelet may say of itself below kubernetes.io and k8s.io."""
_CONTROLLERS_TAINTS = ("node.kubernetes.io", "node.cloudprovider.kubernetes.io", "node.cluster.x-k8s.io")


def labels_are_legal(view: TenantView) -> Iterator[Problem]:
    """Require that a label has a legal key that the pool may set, and a legal value."""
    for cluster, name, pool in view.pools:
        for key, value in sorted(pool.labels.items()):
            place = pool_place(cluster, name, "labels", key)
            found = _key_fault(key) or _label_key_taken(key)
            if found:
                yield problem(found[0], place, key, found[1], found[2])
            elif not _VALUE.fullmatch(value):
                why = "Kubernetes takes letters, digits and `- _ .`, 63 at most, a letter or digit at both ends"
                yield problem("BAD_LABEL_VALUE", place, value, why, _mended(value))


def _key_fault(key: str) -> tuple[str, str, str] | None:
    prefix, slash, name = key.rpartition("/")
    if slash and not _PREFIX.fullmatch(prefix):
        return "BAD_KEY", "before the `/` stands a DNS name", "for example example.com/tier"
    if not _NAME.fullmatch(name):
        why = "a key is letters, digits and `- _ .`, 63 at most, a letter or digit at both ends"
        return "BAD_KEY", why, _mended(name) if name else "for example example.com/tier"
    return None


def _mended(text: str) -> str:
    mended = re.sub(r"[^A-Za-z0-9_.-]+", "-", text)[:63].strip("-_.")
    return f"for example {mended}" if mended else "leave it out"


def _label_key_taken(key: str) -> tuple[str, str, str] | None:
    prefix = key.rpartition("/")[0]
    if key in OURS:
        return "LABEL_RESERVED", "every worker carries this label already; the program sets it", "leave it out"
    if key in _KUBELETS:
        return "LABEL_RESERVED", "the kubelet sets this label itself", "leave it out"
    if key in _ALLOWED or any(_is_below(prefix, allowed) for allowed in _ALLOWED_PREFIXES):
        return None
    if _is_below(prefix, "kubernetes.io") or _is_below(prefix, "k8s.io"):
        why = "Kubernetes keeps this prefix to itself, and lets no kubelet set such a label"
        return "LABEL_RESERVED", why, "use a prefix of your own, for example example.com/"
    return None


def _is_below(prefix: str, domain: str) -> bool:
    return prefix == domain or prefix.endswith(f".{domain}")


def taints_are_legal(view: TenantView) -> Iterator[Problem]:
    """Require that a taint is `key=value:Effect` or `key:Effect`, with each key and effect once."""
    for cluster, name, pool in view.pools:
        seen: set[tuple[str, str]] = set()
        for index, taint in enumerate(pool.taints):
            place = pool_place(cluster, name, "taints", index)
            found = _taint_fault(taint, seen)
            if found:
                yield problem(found[0], place, taint, found[1], found[2])


def _taint_fault(taint: str, seen: set[tuple[str, str]]) -> tuple[str, str, str] | None:
    rest, colon, effect = taint.rpartition(":")
    key, _, value = rest.partition("=")
    if not colon:
        return "BAD_TAINT", "a taint is key=value:Effect", f"for example {taint or 'tier=db'}:NoSchedule"
    if effect not in _EFFECTS:
        return "BAD_TAINT", f"{effect or 'nothing'} is no effect", choose(effect, _EFFECTS)
    bad_key = _key_fault(key)
    if bad_key or not _VALUE.fullmatch(value):
        why = "a taint's value is letters, digits and `- _ .`, 63 at most, a letter or digit at both ends"
        return ("BAD_TAINT", *(bad_key[1:] if bad_key else (why, _mended(value))))
    if key.rpartition("/")[0] in _CONTROLLERS_TAINTS:
        return "TAINT_RESERVED", "controllers put these taints on nodes and take them off", "leave it out"
    if (key, effect) in seen:
        return (
            "DUPLICATE_NAME",
            "a node takes one taint of each key and effect",
            "keep one of them",
        )
    seen.add((key, effect))
    return None
