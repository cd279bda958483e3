"""Where the lab keeps what it makes: everything below `.lab/`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Layout:
    """The lab's folders and files: `root` is the project's folder, everything that the lab makes is below `home`."""

    root: Path
    home: Path

    @classmethod
    def of(cls, root: Path) -> Layout:
        """Give the project's own lab, in `.lab/`."""
        return cls(root, root / ".lab")

    @property
    def bin(self) -> Path:
        """The Pulumi CLI and the language host."""
        return self.home / "bin"

    @property
    def pulumi_home(self) -> Path:
        """`PULUMI_HOME`, with the plugins in its cache."""
        return self.home / "pulumi"

    @property
    def backend(self) -> Path:
        """The stacks' states."""
        return self.home / "backend"

    @property
    def cluster(self) -> Path:
        """The API server's data."""
        return self.home / "cluster"

    @property
    def clouds(self) -> Path:
        """The simulated clouds' state."""
        return self.home / "clouds"

    @property
    def project(self) -> Path:
        """The copy of the project in which the lab's commands run."""
        return self.home / "project"

    @property
    def kubeconfig(self) -> Path:
        """The admin's."""
        return self.home / "kubeconfig"

    def tenant_kubeconfig(self, stack: str) -> Path:
        """Give the place of a tenant's own kubeconfig."""
        return self.home / f"kubeconfig-{stack}"

    def passphrase(self, stack: str) -> Path:
        """Give the place of a stack's passphrase."""
        return self.home / "passphrases" / stack

    def environment_file(self, stack: str) -> Path:
        """Give the file to source before a stack's commands."""
        return self.home / f"env-{stack}"

    def policy_config(self, environment: str) -> Path:
        """Give the pack's config of an environment."""
        return self.home / f"policy-config-{environment}.json"
