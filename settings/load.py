"""From a stack's name to its checked settings, or to everything that is wrong with them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from settings import outer, stackfile
from settings.environment_shape import examine_environment
from settings.places import UNREAD, choose
from settings.problems import Problem, SettingsError
from settings.rules.all import ENVIRONMENT_RULES, PLACE_RULES, TENANT_RULES
from settings.rules.views import EnvironmentView, TenantView, warning
from settings.stack import EnvironmentSettings, TenantSettings
from settings.tenant_shape import examine_tenant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from settings.outer import Identity

Settings = EnvironmentSettings | TenantSettings


def load(stack: str, stacks: Path) -> Settings:
    """Read and check a stack's file in the folder `stacks`.

    A tenant's stack also reads the file of its environment there. Raises SettingsError with every problem at once.
    """
    who = _identity(stack)
    file, problems = stackfile.examine(stackfile.file_of(stack, stacks))
    if any(problem.path == "stack" for problem in problems):  # no file, or no YAML: nothing more to say
        raise SettingsError(stack, problems)
    problems += outer.check(file, who)
    if _settings_in(file, who) is UNREAD:
        raise SettingsError(stack, problems)
    return _check(who, _settings_in(file, who), stacks, problems)


def from_config(stack: str, config: Mapping[str, Any], stacks: Path) -> Settings:
    """Check what the engine read from a stack's file: `{"environment": {...} or None, "tenant": {...} or None}`.

    The stack's file in `stacks` must say the same to this project's own reader: what a review and `make check` have
    seen is what the engine does, whatever readers of YAML differ in, and whatever was encrypted or comes from another
    file. Raises SettingsError as `load` does.
    """
    settings = load(stack, stacks)
    who = _identity(stack)
    file, _ = stackfile.examine(stackfile.file_of(stack, stacks))
    raw = config.get(who.kind) or None
    if _text(raw) == _text(_settings_in(file, who)):
        return settings
    try:  # other text may mean the same
        given = _check(who, raw, stacks, [])
    except SettingsError as error:
        raise SettingsError(stack, [_read_otherwise(who, stacks), *error.problems]) from None
    if given != settings:
        raise SettingsError(stack, [_read_otherwise(who, stacks)])
    return settings


def _text(raw: Any) -> str:
    """Write settings so that equal texts are equal settings, types and all."""
    return json.dumps(raw, sort_keys=True, default=str)


def _read_otherwise(who: Identity, stacks: Path) -> Problem:
    name = stackfile.file_of(who.stack, stacks).name
    why = f"the engine's configuration of stack {who.stack} is not what {name} says to `make check`"
    fix = f"take the configuration from {name} alone, and write odd values in it in quotes"
    return Problem("READ_OTHERWISE", who.key, None, why, fix)


def _identity(stack: str) -> Identity:
    who = outer.identity(stack)
    if isinstance(who, Problem):
        raise SettingsError(stack, [who])
    return who


def _settings_in(file: Mapping[str, Any], who: Identity) -> Any:
    """Give the settings; None where there are none, UNREAD where what is wrong has been told."""
    config = file.get("config")
    if config is None:
        return None
    return config.get(who.key) if isinstance(config, dict) else UNREAD


def _check(who: Identity, raw: Any, stacks: Path, problems: list[Problem]) -> Settings:
    if not isinstance(raw, dict):
        code = "MISSING_KEY" if raw is None else "NOT_A_MAP"
        why = f"the settings of stack {who.stack} stand there"
        raise SettingsError(
            who.stack, [*problems, Problem(code, who.key, None, why, f"write {who.key} under `config:`")]
        )
    if who.tenant is None:
        return _environment(who, raw, stacks, problems)
    return _tenant(who, who.tenant, raw, stacks, problems)


def _environment(who: Identity, raw: Mapping[str, Any], stacks: Path, problems: list[Problem]) -> EnvironmentSettings:
    view, found = look_at_environment(raw)
    if view is not None:
        found += _left_behind(who, view, stacks)
    warnings = _refuse(who.stack, problems, found)
    if view is None:
        raise SettingsError(who.stack, [_nothing_left(who)])
    return EnvironmentSettings(who.stack, view.environment, warnings)


def _left_behind(who: Identity, view: EnvironmentView, stacks: Path) -> Iterator[Problem]:
    """Warn of the stack of a tenant that the environment does not have: its machines may still run."""
    for path in sorted(stacks.glob(f"Pulumi.{who.environment}-*.yaml")):
        other = outer.identity(stackfile.stack_of(path))
        if isinstance(other, Problem) or other.tenant in view.examined.names("tenants"):
            continue
        why = f"{path.name} is the stack of a tenant that is not here, and nothing of it could be destroyed any more"
        fix = f"destroy that stack before its tenant is taken out, then delete {path.name}"
        yield warning("STACK_LEFT", ("tenants", str(other.tenant)), other.stack, why, fix)


def look_at_environment(raw: Mapping[str, Any]) -> tuple[EnvironmentView | None, list[Problem]]:
    """Check `hybrid:environment`: what is sound of it, and all problems and warnings."""
    examined = examine_environment(raw)
    if examined.model is None:
        return None, list(examined.problems)
    view = EnvironmentView(examined, examined.model)
    said = [problem for rule in ENVIRONMENT_RULES for problem in rule(view)]
    found = [examined.as_in_file(problem) for problem in said if examined.believes(problem)]
    return view, [*examined.problems, *found]


def _tenant(
    who: Identity, tenant: str, raw: Mapping[str, Any], stacks: Path, problems: list[Problem]
) -> TenantSettings:
    around, found = _around(who, stacks)
    problems += found

    def own_networks(pool: Mapping[str, Any]) -> list[str]:
        return _nameable(around, tenant, pool) if around else []

    examined = examine_tenant(raw, own_networks)
    found = list(examined.problems)
    if around is None or examined.model is None:
        raise SettingsError(who.stack, _together(problems, found) or [_nothing_left(who)])
    settings = TenantSettings(who.stack, who.environment, tenant, around.environment, examined.model.clusters)
    view = TenantView(settings, examined, around)
    rules = (*TENANT_RULES, *PLACE_RULES) if tenant in around.environment.tenants else TENANT_RULES
    said = [problem for rule in rules for problem in rule(view)]
    found += [examined.as_in_file(problem) for problem in said if examined.believes(problem)]
    return replace(settings, warnings=_refuse(who.stack, problems, found))


def _around(who: Identity, stacks: Path) -> tuple[EnvironmentView | None, list[Problem]]:
    """Read a tenant's environment; what is wrong in it is told to its owner, not here, since it may be of others."""
    path = stackfile.file_of(who.environment, stacks)
    if not path.is_file():
        there = (stackfile.stack_of(file) for file in stacks.glob("Pulumi.*.yaml"))
        why = f"the stack's name says that it belongs to environment {who.environment}, which has no file {path.name}"
        fix = choose(who.environment, [name for name in there if "-" not in name])
        return None, [Problem("UNKNOWN_ENVIRONMENT", "stack", who.stack, why, fix)]
    file, problems = stackfile.examine(path)
    whose = outer.identity(who.environment)
    if not isinstance(whose, Problem):
        problems += outer.check(file, whose)
    raw = _settings_in(file, whose) if not isinstance(whose, Problem) else None
    view, found = look_at_environment(raw) if isinstance(raw, dict) else (None, [])
    errors = [problem for problem in [*problems, *found] if problem.severity == "error"]
    if not errors and view is not None:
        return view, []
    why = f"the file of environment {who.environment} is refused itself, so this stack can not be checked against it"
    fix = f"its owner mends it: make check STACK={who.environment}"
    return view, [Problem("ENVIRONMENT_REFUSED", "environment", who.environment, why, fix)]


def _nameable(around: EnvironmentView, tenant: str, pool: Mapping[str, Any]) -> list[str]:
    """Name the tenant's networks that a pool could mean: of the place of the one it names, or all."""
    own = {name: row for name, row in around.rows.items() if row.tenant == tenant}
    named = own.get(str(pool.get("network")))
    where = named.location if named else pool.get("location")
    there = [name for name, row in own.items() if row.location == where]
    return there or list(own)


def _nothing_left(who: Identity) -> Problem:
    return Problem("NOT_LEGAL", who.key, None, "nothing in it can be read", "begin from an example in the README")


def _together(text: list[Problem], found: list[Problem]) -> list[Problem]:
    """Join what is wrong with the text and with the settings; what only follows from the text is left out."""
    after = tuple(problem.path for problem in text)
    kept = [p for p in found if not any(p.path == path or p.path.startswith(f"{path}.") for path in after)]
    return list({(problem.path, problem.code): problem for problem in [*text, *kept]}.values())


def _refuse(stack: str, text: list[Problem], found: list[Problem]) -> tuple[Problem, ...]:
    """Raise when there is an error; else give the warnings."""
    problems = _together(text, found)
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors:
        raise SettingsError(stack, errors)
    return tuple(problems)
