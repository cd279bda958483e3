"""The JSON Schema of a whole stack file, for editors."""

from __future__ import annotations

from typing import Any

from settings.environment import Environment
from settings.outer import BESIDE_CONFIG
from settings.places import CREDENTIALS_KEY, ENVIRONMENT_KEY, TENANT_KEY
from settings.tenant import TenantStack


def stack_file_schema(kind: str) -> dict[str, Any]:
    """Give the schema of an `environment`'s or a `tenant`'s stack file."""
    key, model = (ENVIRONMENT_KEY, Environment) if kind == "environment" else (TENANT_KEY, TenantStack)
    settings = model.model_json_schema(by_alias=True)
    parts = settings.pop("$defs", {})
    secret = {"type": "object", "properties": {"secure": {"type": "string"}}, "required": ["secure"]}
    config = {
        "type": "object",
        "properties": {key: settings, CREDENTIALS_KEY: {**secret, "additionalProperties": False}},
        "required": [key],
        "additionalProperties": False,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Stack file of {'an environment' if kind == 'environment' else 'a tenant'}",
        "type": "object",
        "properties": {"config": config, **{name: {"type": "string"} for name in BESIDE_CONFIG}},
        "required": ["config"],
        "additionalProperties": False,
        "$defs": parts,
    }
