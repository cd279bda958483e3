"""The guard of an environment for a platform that does not run Pulumi: plain YAML, and its cases as a Chainsaw suite.

A folder with every object that isolates tenants (definitions, tables, pools, policies, bindings) with a
`kustomization.yaml` in the order in which they are to be made, and `chainsaw/`: for each request that must be refused a
test that sends it and the twin that must pass, both as dry runs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from manifests.chainsaw import objects_before, suites
from manifests.environment import environment
from manifests.guard_cases import cases
from manifests.render import CLUSTER_SCOPED, Kind, placeholders
from manifests.render_guard_readme import readme
from manifests.text import yaml_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from manifests.manifest import Manifest
    from settings.stack import EnvironmentSettings

_HEADER = "# The guard of environment "
_TITLE = "# The guard of environment `"

GUARD = Kind(
    re.compile(
        r"README\.md|kustomization\.yaml|[a-z0-9_-]+/[a-z]+\.[a-z0-9][a-z0-9.-]*\.yaml"
        r"|chainsaw(-[a-z]+)?/[a-z-]+/chainsaw-test\.yaml|chainsaw-[a-z]+/objects\.yaml"
    ),
    (_HEADER, _TITLE),
)


def guard(settings: EnvironmentSettings) -> list[Manifest]:
    """Give the objects that isolate tenants, in their order: without identities, which hold credentials."""
    every = environment(settings, placeholders(settings))
    return [item for item in every if item.part == "isolation" or item.part.startswith("zone/")]


def guard_files(settings: EnvironmentSettings) -> dict[str, str]:
    """Give the text of each file by its path below the folder."""
    objects = guard(settings)
    paths = {_path(item.body): item.body for item in objects}
    every = cases(settings.environment, settings.stack)
    names = {item.name for item in objects}
    head = f"{_HEADER}{settings.stack}\n"
    texts = {path: head + yaml_text(body) for path, body in paths.items()}
    texts["kustomization.yaml"] = head + yaml_text(_kustomization(paths))
    for path, tests in suites(every, names).items():
        texts[path] = head + _documents(tests)
    before = objects_before(every)
    if before:
        texts["chainsaw-scratch/objects.yaml"] = head + _documents(before)
    texts["README.md"] = readme(settings, objects, every, texts)
    return texts


def _kustomization(paths: Iterable[str]) -> dict[str, Any]:
    return {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": list(paths),
        "sortOptions": {"order": "fifo"},
    }


def _documents(bodies: Iterable[dict[str, Any]]) -> str:
    return "---\n".join(yaml_text(body) for body in bodies)


def _path(body: dict[str, Any]) -> str:
    meta = body["metadata"]
    return f"{meta.get('namespace', CLUSTER_SCOPED)}/{body['kind'].lower()}.{meta['name']}.yaml"
