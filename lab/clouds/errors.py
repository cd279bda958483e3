"""What the simulated APIs and plugins answer when they refuse."""

from collections.abc import Mapping
from typing import Any


class CloudError(Exception):
    """A refusal of the simulated API or plugin, worded as the real one words it."""


class LostAnswerError(CloudError):
    """The call was carried out, but its answer never arrived (a fault on demand)."""


class HalfDoneError(Exception):
    """Something was made or changed, then a later call failed: the resource stays in Pulumi's state.

    `outputs` is what the state then says, which are the wanted values and not the real ones (so do the real plugins,
    as Terraform's SDK saves the planned state).
    """

    def __init__(self, identity: str, outputs: Mapping[str, Any], reason: str) -> None:
        """Take the resource's id, its outputs and what failed."""
        super().__init__(reason)
        self.identity = identity
        self.outputs = dict(outputs)
