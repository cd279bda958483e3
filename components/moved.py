"""Whether a tenant's objects can be changed in the versions of the environment's generation."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pulumi

from manifests.generations import CAPI_1_10
from operations.api import Api, UnreadableError
from operations.versions import not_moved

if TYPE_CHECKING:
    from settings.stack import TenantSettings


async def require_moved(settings: TenantSettings) -> None:
    """Stop where an object still has to be taken over from the generation before, with the command that does it.

    Where the cluster can't be asked nothing is said: the provider fails there itself. In the first generation nothing
    was before.
    """
    if settings.environment.management.generation == CAPI_1_10:
        return
    message = await asyncio.to_thread(_ask, settings)
    if message:
        raise pulumi.RunError(message)


def _ask(settings: TenantSettings) -> str | None:
    try:
        return not_moved(Api(settings.stack), settings)
    except UnreadableError:
        return None
