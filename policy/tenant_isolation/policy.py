"""The policy as the SDK runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pulumi_policy import (
    EnforcementLevel,
    PolicyConfigSchema,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    Severity,
)
from pulumi_policy.proxy import UnknownValueError

from tenant_isolation.config import ConfigError, table
from tenant_isolation.judgement import problems
from tenant_isolation.schema import REQUIRED, SCHEMA
from tenant_isolation.verdicts import Case, Provider, Resource

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tenant_isolation.table import Table

NAME = "tenant-isolation"
DESCRIPTION = "Machines of a tenant get only the networks that the platform gave that tenant."
HOW_CONFIGURED = "Write the pack's config with `make policy-config` and give it with --policy-pack-config."


def tenant_isolation() -> ResourceValidationPolicy:
    """Make the policy. It judges resources one by one, before each is made: a stack policy would come after."""
    return ResourceValidationPolicy(
        name=NAME,
        description=DESCRIPTION,
        validate=_Validation(),
        enforcement_level=EnforcementLevel.MANDATORY,
        severity=Severity.CRITICAL,
        config_schema=PolicyConfigSchema(properties=SCHEMA, required=list(REQUIRED)),
    )


def stack_of(urn: str) -> str | None:
    """Give the stack of `urn:pulumi:<stack>::…` (`pulumi.get_stack()` in a Python pack is always "stack")."""
    head, separator, _ = urn.partition("::")
    stack = head.removeprefix("urn:pulumi:")
    return stack if separator and stack != head else None


class _Validation:
    """Judges resources, and keeps the table: the SDK gives every call the same config anew."""

    def __init__(self) -> None:
        self._read_from: tuple[Any, ...] = ()
        self._table: Table | None = None

    def __call__(self, args: ResourceValidationArgs, report_violation: ReportViolation) -> None:
        try:
            found = self._judge(args)
        except ConfigError as error:
            found = [f"The pack's config is not usable: {error}. {HOW_CONFIGURED}"]
        except UnknownValueError as error:
            found = [f"{'.'.join(error.props)} is not known yet, and it is needed to judge this."]
        for message in found:
            report_violation(f"{args.name}: {message}", None)

    def _judge(self, args: ResourceValidationArgs) -> list[str]:
        known = self._table_of(args.get_config())
        name = stack_of(args.urn)
        stack = known.stacks.get(name or "")
        if stack is None:
            unknown = f"Stack {name or args.urn} is not in the pack's config, so nothing in it may be made."
            return [f"{unknown} {HOW_CONFIGURED}"]
        given = args.provider
        provider = Provider(given.resource_type, given.name, given.props) if given else None
        resource = Resource(args.resource_type, args.name, args.props, provider)
        return problems(Case(resource, stack, known))

    def _table_of(self, config: Mapping[str, Any]) -> Table:
        parts = tuple(config.get(key) for key in SCHEMA)
        if self._table is None or any(new is not old for new, old in zip(parts, self._read_from, strict=True)):
            self._table = table(config)
            self._read_from = parts
        return self._table
