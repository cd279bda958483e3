"""What a plugin needs to know of a cloud."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

from lab.clouds.resource import Resource


class Function(NamedTuple):
    """A function of the SDK: its name there, and what answers it (given the API and the arguments)."""

    sdk_name: str
    call: Callable[[Any, Mapping[str, Any]], dict[str, Any]]


class Cloud(ABC):
    """One kind of cloud."""

    # The plugin's name and the SDK's Python package.
    name: ClassVar[str]
    package: ClassVar[str]
    # For the notice: "no real … is touched".
    untouched: ClassVar[str]

    @abstractmethod
    def resources(self) -> dict[str, type[Resource]]:
        """Return the resource types by token."""

    def functions(self) -> dict[str, Function]:
        """Return the functions by token."""
        return {}

    @abstractmethod
    def configure(self, arguments: Mapping[str, Any]) -> Any:
        """Return the API for a provider's arguments; raises CloudError for what is malformed."""

    @abstractmethod
    def place(self, arguments: Mapping[str, Any]) -> str:
        """Return the endpoint, for the notice."""
