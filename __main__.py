"""Hybrid workers for Kubernetes tenants: the stack's name says whether this is an environment or one of its tenants."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pulumi

from components.environment import environment
from components.guard import prepare
from components.kubeconfig import require_context
from components.tenant import tenant
from settings.credentials import parse_credentials
from settings.load import from_config
from settings.problems import SettingsError
from settings.stack import EnvironmentSettings

STACKS = Path(__file__).parent / "stacks"


async def main() -> dict[str, Any]:
    """Read the settings, refuse what is wrong in them with everything at once, and register the rest."""
    config = pulumi.Config("hybrid")
    stack = pulumi.get_stack()
    try:
        given = {key: config.get_object(key) or None for key in ("environment", "tenant")}
        settings = from_config(stack, given, STACKS)
        for warning in settings.warnings:
            pulumi.warn(str(warning))
        if isinstance(settings, EnvironmentSettings):
            require_context(settings.environment.management.context, "set KUBECONFIG to the admin's kubeconfig")
            secret = config.get_secret("credentials")
            credentials = parse_credentials(await secret.future() if secret is not None else None)
            return environment(settings, credentials, await prepare(settings))
        require_context(
            stack,
            f"run `pulumi up -s {settings.environment_name}`, then `make tenant-kubeconfig STACK={stack}`, "
            "and set KUBECONFIG to what it writes",
        )
        return await tenant(settings)
    except SettingsError as error:
        raise pulumi.RunError(str(error)) from error


pulumi.run(main)
