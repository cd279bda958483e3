"""What a simulated resource type is to the plugin that serves it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

from lab.clouds import schema
from lab.clouds.changes import Change, compare
from lab.clouds.schema import Failure
from lab.clouds.values import UNKNOWN, restrict

Properties = Mapping[str, Any]


class Live(NamedTuple):
    """What a read found."""

    identity: str
    outputs: dict[str, Any]
    inputs: dict[str, Any]


class Resource:
    """One resource type. A subclass names the SDK's class and says what its cloud does.

    The methods get plain Python with Pulumi's property names. `api` is the cloud's, made when the provider was
    configured; each call is made with that provider's token.
    """

    type_name: ClassVar[str]
    sdk_module: ClassVar[str]
    sdk_args: ClassVar[str]
    # Outputs that exist only after creation.
    computed: ClassVar[tuple[str, ...]] = ()
    # Compared as one value, see `changes.compare`.
    whole: ClassVar[frozenset[str]] = frozenset()
    # Top-level properties (or longer paths) whose change replaces the resource.
    replace_on: ClassVar[frozenset[str]] = frozenset()
    delete_first: ClassVar[bool] = False

    def __init__(self, api: Any) -> None:
        """Take the API that the provider was configured with."""
        self.api = api

    def fields(self) -> tuple[schema.Field, ...]:
        """Return the inputs that the SDK knows."""
        return schema.fields(self.sdk_module, self.sdk_args)

    def complete(self, name: str, inputs: Properties, old: Properties, seed: bytes) -> dict[str, Any]:  # noqa: ARG002
        """Return the inputs with what the plugin itself fills in (an automatic name)."""
        return dict(inputs)

    def check(self, inputs: Properties) -> Iterator[Failure]:
        """Yield what is wrong with the inputs beyond names and types. Must pass unknown values."""
        del inputs
        return iter(())

    def wanted(self, inputs: Properties) -> dict[str, Any]:
        """Return the inputs with the plugin's defaults: what the state says after a creation that went well."""
        return dict(inputs)

    def changes(self, state: Properties, inputs: Properties, old_inputs: Properties) -> list[Change]:
        """Return what `inputs` changes of `state`."""
        gone = [key for key in old_inputs if key not in inputs]
        return compare(self.wanted(inputs), state, gone=gone, whole=self.whole)

    def replaces(self, change: Change, inputs: Properties) -> bool:
        """Tell whether a change can only be made by a new resource."""
        del inputs
        return change.top in self.replace_on or change.path in self.replace_on

    def planned(self, inputs: Properties, state: Properties | None = None) -> dict[str, Any]:
        """Return the outputs that a preview shows: unknown where only the cloud knows."""
        computed = {key: (state or {}).get(key, UNKNOWN) for key in self.computed}
        return {**computed, **(state or {}), **self.wanted(inputs)}

    def create(self, inputs: Properties) -> tuple[str, dict[str, Any]]:
        """Make the resource; return its id and outputs."""
        raise NotImplementedError

    def read(self, identity: str, state: Properties, inputs: Properties) -> Live | None:
        """Return what really is there, or None when it is gone. `state` is empty at an import."""
        raise NotImplementedError

    def update(
        self, identity: str, state: Properties, inputs: Properties, old_inputs: Properties, ignored: Iterable[str]
    ) -> dict[str, Any]:
        """Change the resource; return its outputs."""
        raise NotImplementedError

    def delete(self, identity: str, state: Properties) -> None:
        """Remove the resource; one that is gone already is no error."""
        raise NotImplementedError

    def found(self, identity: str, outputs: dict[str, Any], inputs: Properties) -> Live:
        """Return a read's result, with the inputs as the live values say."""
        shape = inputs or {field.name: True for field in self.fields() if outputs.get(field.name)}
        return Live(identity, outputs, restrict(outputs, shape))


def known_where_the_same(planned: Any, state: Any, chosen: Properties) -> Any:
    """Return a planned list with what the cloud chooses in each object: as the state has it there, else `chosen`."""
    if not isinstance(planned, list):
        return planned
    before = state if isinstance(state, list) else []
    result = []
    for index, item in enumerate(planned):
        if not isinstance(item, Mapping):
            result.append(item)
            continue
        there = before[index] if index < len(before) else {}
        result.append({**{key: there.get(key, value) for key, value in chosen.items()}, **item})
    return result
