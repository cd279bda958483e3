"""What every component of a tenant's stack works with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from components.handover import Handover
    from components.objects import Objects
    from components.providers import Providers
    from settings.stack import TenantSettings


@dataclass(frozen=True)
class TenantRun:
    """One run of a tenant's stack: its settings, where its objects and machines are registered, what it was handed.

    `last_templates` is the stack's own `templates` output of its last run, pool by pool.
    """

    settings: TenantSettings
    objects: Objects
    providers: Providers
    handover: Handover
    last_templates: Mapping[str, Any] = field(default_factory=dict)
