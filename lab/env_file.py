"""What a stack's commands find in their environment, as a mapping and as a file to source."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from lab.clouds.state import ENVIRONMENT as CLOUDS_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lab.layout import Layout


def command_environment(layout: Layout, stack: str) -> dict[str, str]:
    """Give the variables for one stack: its own passphrase and kubeconfig, never another's."""
    environment, _, tenant = stack.partition("-")
    return {
        "HYBRID_LAB": str(layout.home),
        "HYBRID_ROOT": str(layout.root),
        CLOUDS_VARIABLE: str(layout.clouds),
        "KUBECONFIG": str(layout.tenant_kubeconfig(stack) if tenant else layout.kubeconfig),
        "PULUMI_BACKEND_URL": f"file://{layout.backend}",
        "PULUMI_CONFIG_PASSPHRASE_FILE": str(layout.passphrase(stack)),
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_HOME": str(layout.pulumi_home),
        "PULUMI_OPTION_POLICY_PACK": str(layout.project / "policy"),
        "PULUMI_OPTION_POLICY_PACK_CONFIG": str(layout.policy_config(environment)),
        # The program runs before a refresh, so that a moved API server or a new token reaches the provider first.
        "PULUMI_RUN_PROGRAM": "true",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }


def env_file(layout: Layout, stack: str) -> str:
    """Give the text of `.lab/env-<stack>`; sourcing it also goes to the copy of the project that the lab runs."""
    variables: Mapping[str, str] = command_environment(layout, stack)
    lines = [f"export {name}={shlex.quote(value)}" for name, value in sorted(variables.items())]
    return "\n".join(
        [
            f"# Source this, then for example: pulumi preview -s {stack}",
            *lines,
            "unset PULUMI_CONFIG_PASSPHRASE PULUMI_ACCESS_TOKEN",
            f'export PATH={shlex.quote(str(layout.bin))}:"$PATH"',
            f"cd {shlex.quote(str(layout.project))}",
            "",
        ]
    )


def full_environment(layout: Layout, stack: str) -> dict[str, str]:
    """Give a whole environment for a stack's commands, from this process's own."""
    base = {key: value for key, value in os.environ.items() if not key.startswith(("PULUMI_", "KUBE", "VIRTUAL_ENV"))}
    path = f"{layout.bin}{os.pathsep}{base.get('PATH', '')}"
    return {**base, **command_environment(layout, stack), "PATH": path}
