"""What a checked stack file gives the rest of the program: an environment, or one tenant of one."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from settings.table import Row, rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from settings.environment import Environment
    from settings.problems import Problem
    from settings.tenant import Cluster


@dataclass(frozen=True)
class EnvironmentSettings:
    """A checked environment stack; `stack` is its name and the environment's."""

    stack: str
    environment: Environment
    warnings: tuple[Problem, ...] = field(default=(), compare=False)

    @cached_property
    def rows(self) -> dict[str, Row]:
        """Every row of the table, by name."""
        return rows(self.environment)


@dataclass(frozen=True)
class TenantSettings:
    """A checked tenant stack `<environment>-<tenant>`, with the environment that it refers to."""

    stack: str
    environment_name: str
    tenant: str
    environment: Environment
    clusters: Mapping[str, Cluster]
    warnings: tuple[Problem, ...] = field(default=(), compare=False)

    @property
    def namespace(self) -> str:
        """The tenant's namespace of the management cluster."""
        return self.environment.tenants[self.tenant].namespace

    @cached_property
    def rows(self) -> dict[str, Row]:
        """The tenant's own rows of the table, by name."""
        return {name: row for name, row in rows(self.environment).items() if row.tenant == self.tenant}

    def location_of(self, cluster: str, pool: str) -> str:
        """Name the location in which a pool's machines stand."""
        chosen = self.clusters[cluster].pools[pool]
        return chosen.location if chosen.backend == "hcloud-server" else self.rows[chosen.network].location
