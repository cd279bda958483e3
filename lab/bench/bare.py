"""A Pulumi program that registers what a state file lists, and nothing else: what a preview costs without ours.

Run by the engine as `__main__.py` of a project of its own; `resources.json` lies beside it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pulumi

SECRET = "4dabf18193072939515e22adb298388d"  # noqa: S105 - the key under which the engine marks a secret
STACK = "pulumi:pulumi:Stack"
registered: dict[str, pulumi.Resource] = {}


def plain(value: Any) -> Any:
    """Give a state's value as an input."""
    if isinstance(value, dict):
        if SECRET in value:
            return pulumi.Output.secret(json.loads(value["plaintext"]))
        return {key: plain(item) for key, item in value.items() if key != "__defaults"}
    return [plain(item) for item in value] if isinstance(value, list) else value


def register(resource: dict[str, Any]) -> None:
    """Register one resource as the state has it."""
    urn, kind = resource["urn"], resource["type"]
    name = urn.split("::", 3)[3]
    provider = registered.get((resource.get("provider") or "").rpartition("::")[0])
    opts = pulumi.ResourceOptions(
        parent=registered.get(resource.get("parent", "")),
        provider=provider if isinstance(provider, pulumi.ProviderResource) else None,
        depends_on=[registered[item] for item in resource.get("dependencies", []) if item in registered],
        ignore_changes=resource.get("ignoreChanges") or ["disks[0].speed", "sourceFile", "image"],
        additional_secret_outputs=resource.get("additionalSecretOutputs"),
    )
    inputs = plain(resource.get("inputs", {}))
    if kind.startswith("pulumi:providers:"):
        registered[urn] = pulumi.ProviderResource(kind.rpartition(":")[2], name, inputs, opts)
    elif kind == "pulumi:pulumi:StackReference":
        registered[urn] = pulumi.StackReference(name)
    elif not resource["custom"]:
        registered[urn] = pulumi.ComponentResource(kind, name, None, opts)
    elif resource.get("external"):
        opts.id = resource["id"]
        registered[urn] = pulumi.CustomResource(kind, name, dict.fromkeys(resource["outputs"]), opts)
    else:
        registered[urn] = pulumi.CustomResource(kind, name, inputs, opts)


for item in json.loads((Path(__file__).parent / "resources.json").read_text()):
    if item["type"] != STACK and not item["urn"].endswith("::default"):
        register(item)
