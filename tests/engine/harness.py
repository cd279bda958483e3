"""One lab for all engine tests: its stacks, its API server, its simulated clouds, and what changed."""

from __future__ import annotations

import json
import shutil
import subprocess
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lab.env_file import full_environment
from lab.stacks import add_secrets
from manifests.policy_config import policy_config
from settings.problems import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from lab import cluster
    from lab.layout import Layout

SHOWN = 4000


@dataclass(frozen=True)
class Done:
    """A command's exit code and output."""

    code: int
    output: str


@dataclass
class EngineLab:
    """The running lab; `said` is what every command printed."""

    layout: Layout
    api: cluster.Cluster
    said: list[str] = field(default_factory=list)

    def pulumi(
        self, stack: str, *arguments: str, folder: Path | None = None, environment: Mapping[str, str] | None = None
    ) -> Done:
        """Run the CLI for a stack; the exit code is the caller's to judge."""
        variables = {**full_environment(self.layout, stack), **(environment or {})}
        return self.run(["pulumi", *arguments, "-s", stack], folder or self.layout.project, variables)

    def run(self, command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Done:
        """Run a command; what it prints is searched for secrets at the end."""
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self.said.append(done.stdout)
        return Done(done.returncode, done.stdout)

    def must(self, stack: str, *arguments: str, folder: Path | None = None) -> str:
        """Run the CLI; fail with what it printed where it fails."""
        done = self.pulumi(stack, *arguments, folder=folder)
        assert done.code == 0, done.output[-SHOWN:]
        return done.output

    def up(self, stack: str, *arguments: str, folder: Path | None = None) -> str:
        """Run `up`."""
        return self.must(stack, "up", "--yes", *arguments, folder=folder)

    def unchanged(self, stack: str, *, folder: Path | None = None) -> None:
        """Run `up` and demand that it changes nothing."""
        self.up(stack, "--expect-no-changes", folder=folder)

    def changes(self, stack: str, *, folder: Path | None = None) -> dict[str, str]:
        """Preview: give each resource that would change, `<type>::<name>` → operation."""
        done = subprocess.run(
            ["pulumi", "preview", "--json", "-s", stack],
            cwd=folder or self.layout.project,
            env=full_environment(self.layout, stack),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        self.said.append(done.stdout + done.stderr)
        assert done.returncode == 0, (done.stdout + done.stderr)[-SHOWN:]
        found: dict[str, str] = {}
        for step in json.loads(done.stdout)["steps"]:
            if step["op"] in {"same", "read", "refresh"}:
                continue
            _, _, types, name = step["urn"].split("::", 3)
            found[f"{types.rpartition('$')[2]}::{name}"] = step["op"]
        return found

    def state(self, stack: str) -> list[dict[str, Any]]:
        """Give the resources in a stack's state."""
        exported = json.loads(self.must(stack, "stack", "export"))
        resources: list[dict[str, Any]] = exported["deployment"].get("resources", [])
        return resources

    def get(self, path: str, token: str | None = None) -> tuple[int, Any]:
        """Read from the API server."""
        return self.api.request("GET", path, token=token)

    def token(self, stack: str) -> str:
        """Give a tenant's own token."""
        token: str = json.loads(self.layout.tenant_kubeconfig(stack).read_text())["users"][0]["user"]["token"]
        return token

    def cloud(self, name: str) -> dict[str, Any]:
        """Give the state of a simulated cloud, by a part of its file's name."""
        (file,) = self.layout.clouds.glob(f"*{name}*.json")
        state: dict[str, Any] = json.loads(file.read_text())
        return state

    def machines(self, name: str) -> dict[str, dict[str, Any]]:
        """Give a simulated Proxmox VE's machines but for templates, by id."""
        return {key: vm for key, vm in self.cloud(name)["machines"].items() if not vm["template"]}

    @contextmanager
    def edited(self, stack: str, *replacements: tuple[str, str]) -> Iterator[None]:
        """Change a stack file of the lab's copy, and put it back."""
        before = self.rewrite(stack, *replacements)
        try:
            yield
        finally:
            self._write(stack, before)

    def rewrite(self, stack: str, *replacements: tuple[str, str]) -> str:
        """Change a stack file of the lab's copy for good, and give what it was."""
        before = text = (self.layout.project / "stacks" / f"Pulumi.{stack}.yaml").read_text()
        for old, new in replacements:
            assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in the file of {stack}"
            text = text.replace(old, new)
        self._write(stack, text)
        return before

    def _write(self, stack: str, text: str) -> None:
        """Write a stack file, and of an environment that is not refused the pack's config, as `make lab` does."""
        stacks = self.layout.project / "stacks"
        (stacks / f"Pulumi.{stack}.yaml").write_text(text)
        if "-" not in stack:
            with suppress(SettingsError):
                self.layout.policy_config(stack).write_text(json.dumps(policy_config(stacks, stack)))

    def fresh_checkout(self, folder: Path, stack: str) -> Path:
        """Copy the project as a clone would be: no build output, other place, only the stack's secrets added."""
        shutil.copytree(
            self.layout.project,
            folder,
            symlinks=True,
            ignore=shutil.ignore_patterns(".build", "__pycache__"),
        )
        assert (folder / "stacks" / f"Pulumi.{stack}.yaml").exists()
        return folder


__all__ = ["Done", "EngineLab", "add_secrets"]
