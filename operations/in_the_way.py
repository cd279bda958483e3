"""What in the live cluster is in the way of an environment's new table. Pure: what was read goes in, problems come out.

Problems are those of the settings (`settings.problems`): code, path, value, why, fix. Nothing in them is a secret.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from manifests.generations import KINDS
from manifests.policies.parts import BINDING, POLICY
from operations.handing_out import handing_out_problems
from operations.live import TABLE, definition_name, ours, served_and_stored
from operations.managers import foreign_fields, made_by_program
from operations.naming import address_name, inside, machine_name, named
from operations.opening import opening
from operations.rendered import guard_objects, of_kind
from settings.problems import Problem, SettingsError
from settings.table import rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from manifests.manifest import Manifest
    from operations.live import Definition, Live, LiveAddress, LiveMachine, LiveRow
    from settings.environment import Environment, Generation
    from settings.stack import EnvironmentSettings
    from settings.table import Row

OWN_GROUP = KINDS["ProxmoxNetworkZone"].group
"""The API group of the kinds that the program defines itself."""


class InTheWayError(SettingsError):
    """A table that the live cluster is in the way of, with every problem found."""

    def __str__(self) -> str:
        """Give the whole list, ready to print."""
        count = len(self.problems)
        head = f"stack {self.stack}: {count} thing{'s' if count != 1 else ''} in the management cluster in the way"
        return "\n".join([head, *(f"  {line}" for problem in self.problems for line in str(problem).split("\n"))])


def in_the_way(live: Live, settings: EnvironmentSettings) -> list[Problem]:
    """Give everything at once: the cluster's kinds, then the table against what stands on it."""
    environment = settings.environment
    rendered = guard_objects(settings)
    own = [item.body for item in rendered if item.kind == "CustomResourceDefinition"]
    foreign = foreign_definitions(live, own)
    return [
        *foreign,
        *generation_problems(live.definitions, environment.management.generation),
        # Objects of somebody else's kind are no table to compare with.
        *([] if foreign else table_problems(live, environment)),
        *handing_out_problems(live, environment),
        *binding_problems(live.bindings, of_kind(rendered, BINDING)),
        *edited_problems(live, [item for item in rendered if not foreign or item.kind in (POLICY, BINDING)]),
    ]


def foreign_definitions(live: Live, own: Iterable[Mapping[str, Any]]) -> list[Problem]:
    """Refuse a definition of one of `own` names that somebody else made, unless its schema is the program's own."""
    problems = []
    for wanted in own:
        name = wanted["metadata"]["name"]
        found = live.definitions.get(name)
        if found is None or ours(found) or _schema(found) == _schema(wanted):
            continue
        why = "the management cluster has a definition of this name that this program did not make; its schema differs"
        fix = "find out whose it is: it is never overwritten. Delete it when nothing uses it, and run `pulumi up` again"
        problems.append(Problem("FOREIGN_CRD", "zones", name, why, fix))
    return problems


def generation_problems(definitions: Mapping[str, Definition | None], generation: Generation) -> list[Problem]:
    """Refuse a cluster whose kinds are not served, or are stored in another version than the generation's.

    A policy that lists a version which is not served never matches anything, so this is not a matter of taste.
    """
    missing, wrong = _contradictions(definitions, generation)
    path = "management.generation"
    problems = []
    if missing:
        why = f"the management cluster does not know {', '.join(missing)}"
        fix = f"install what {generation} consists of first (docs/guard.md), then run `pulumi up` again"
        problems.append(Problem("CRD_MISSING", path, generation, why, fix))
    if wrong:
        fitting = [name for name in _generations() if name != generation and not _contradictions(definitions, name)[1]]
        why = f"the management cluster is of another generation: {'; '.join(wrong)}"
        fix = f"write {fitting[0]}" if fitting else "upgrade or downgrade the cluster's providers together"
        problems.append(Problem("WRONG_GENERATION", path, generation, why, fix))
    return problems


def table_problems(live: Live, environment: Environment) -> list[Problem]:
    """Compare the zones in the cluster with the new table, row by row, and with who stands on them.

    A row is its bridge and VLAN. It must not change its tenant; it may go only with its VLAN in `retired` and nothing
    standing on it, and change its name, gateway or prefix only when nothing stands on it; an address that is leased
    must stay in its row; and a VLAN may be given only to the tenant whose machines stand on it, also where there is no
    table yet or its kind was lost. Machines that are wrong before and after are the audit's business.
    """
    table = _Table(environment)
    problems = []
    for row in live.rows:
        users = [
            *(machine_name(machine) for machine in live.machines if _stands_on(machine, row)),
            *(address_name(address) for address in live.addresses if _leased_from(address, row)),
        ]
        problems += _row_problems(row, table, users, live.addresses)
    known = {(row.bridge, row.vlan) for row in live.rows}
    problems += _new_owner_problems(table, known, live.machines)
    problems += _zone_problems(live, table)
    return problems


def binding_problems(live: Mapping[str, Mapping[str, Any]], wanted: Mapping[str, Manifest]) -> list[Problem]:
    """Refuse a binding whose actions somebody wrote by hand so that the program can not write its own beside them.

    Each of the actions belongs to who wrote it; `Deny` and `Warn` together are no binding (seen: a preview fails).
    """
    problems = []
    for name, manifest in sorted(wanted.items()):
        found = live.get(name)
        if found is None or not _clashes(found, manifest):
            continue
        actions, own = found["spec"].get("validationActions", []), manifest.body["spec"]["validationActions"]
        why = f"somebody changed the binding {name} by hand: {', '.join(actions)} instead of {', '.join(own)}"
        fix = f"{_closing(manifest)} puts it back; then run `pulumi up` again"
        problems.append(Problem("BINDING_EDITED", _path(manifest), actions, why, fix))
    return problems


def edited_problems(live: Live, wanted: Iterable[Manifest]) -> list[Problem]:
    """Refuse policies, bindings and tables into whose spec anybody wrote but the program and break-glass.

    What others add there, such as a condition under which a policy does not judge, is theirs: applying the program's
    own fields leaves it as it is and sees no change. An object that the program has not applied yet belongs to whoever
    made it; of it only what the program does not write at all counts.
    """
    zones = {body["metadata"]["name"]: body for body in live.zones or ()}
    places = {POLICY: live.policies, BINDING: live.bindings, "ProxmoxNetworkZone": zones, TABLE: live.tables}
    problems = []
    for manifest in wanted:
        name = manifest.body["metadata"]["name"]
        found = places.get(manifest.kind, {}).get(name)
        if found is None:
            continue
        known: set[str] = set() if made_by_program(found) else set(manifest.body["spec"])
        if manifest.kind == BINDING and (opening(found) or _clashes(found, manifest)):
            known.add("validationActions")  # written by break-glass, or told already
        written = {who: [each for each in names if each not in known] for who, names in foreign_fields(found).items()}
        said = [f"{who} wrote {', '.join(f'spec.{each}' for each in names)}" for who, names in written.items() if names]
        if said:
            why = f"{manifest.kind} {name} was changed by hand, and `up` does not put that back: {'; '.join(said)}"
            deleting = f"`kubectl delete {manifest.kind.lower()} {name}` and `pulumi up`, which makes it again"
            fix = f"{_closing(manifest)}, or {deleting}" if manifest.kind == BINDING else deleting
            problems.append(Problem("GUARD_EDITED", _path(manifest), name, why, fix))
    return problems


def _clashes(found: Mapping[str, Any], manifest: Manifest) -> bool:
    """Say whether a binding's actions, written by hand, can't stand beside the program's."""
    if opening(found) or not any("validationActions" in names for names in foreign_fields(found).values()):
        return False
    return {"Deny", "Warn"} <= {
        *found["spec"].get("validationActions", []),
        *manifest.body["spec"]["validationActions"],
    }


def _zone_of(manifest: Manifest) -> str | None:
    """Name the zone to which a zone object or a binding of a zone belongs."""
    name = str(manifest.body["metadata"]["name"])
    if manifest.kind == "ProxmoxNetworkZone":
        return name
    bound = str((manifest.body["spec"].get("paramRef") or {}).get("name"))
    return bound if manifest.kind == BINDING and name.endswith(f"-{bound}") else None


def _path(manifest: Manifest) -> str:
    """Give the place in the environment file that says how such an object is."""
    zone = _zone_of(manifest)
    if zone is None:
        return "management.guard"
    return f"zones.{zone}.mode" if manifest.kind == BINDING else f"zones.{zone}"


def _closing(manifest: Manifest) -> str:
    """Give the command that writes a binding as the environment says."""
    zone = _zone_of(manifest)
    which = f"ZONE={zone}" if zone else f"BINDING={manifest.body['metadata']['name']}"
    return f"`make break-glass ENV=… {which} CLOSE=1`"


class _Table:
    """The new table by bridge and VLAN, with the VLANs that each bridge's zone has retired."""

    def __init__(self, environment: Environment) -> None:
        self.open_bridges = environment.management.open_bridges
        self.rows: dict[tuple[str, int], Row] = {(row.bridge, row.vlan): row for row in rows(environment).values()}
        self.bridges = {name: zone.bridge for name, zone in environment.zones.items()}
        self.zones = {zone.bridge: name for name, zone in environment.zones.items()}
        self._retired = {zone.bridge: zone.retired for zone in environment.zones.values()}

    def retired(self, row: LiveRow) -> bool:
        return any(span.first <= row.vlan <= span.last for span in self._retired.get(row.bridge, ()))


def _row_problems(row: LiveRow, table: _Table, users: list[str], addresses: Iterable[LiveAddress]) -> list[Problem]:
    new = table.rows.get((row.bridge, row.vlan))
    path = f"zones.{row.zone}.networks.{row.name}"
    way = f"; in the way: {named(users)}" if users else ""
    if new is None:
        retired = table.retired(row)
        if retired and not users:
            return []
        if not retired:
            why = (
                f"VLAN {row.vlan} on {row.bridge} is given to namespace {row.namespace} in the cluster; its row is "
                f"gone and the VLAN is not retired{way}"
            )
            zone = table.zones.get(row.bridge)
            moved = None if zone else table.bridges.get(row.zone)
            if moved:
                fix = f"keep zones.{row.zone} with bridge: {row.bridge}, and give {moved} a zone of its own"
            else:
                fix = f"add {row.vlan} to zones.{zone or row.zone}.retired" + (
                    "" if zone else " (keep the zone until nothing is left on its bridge)"
                )
                fix += ", and remove what is in the way first" if users else ""
            return [Problem("ROW_VANISHED", path, row.vlan, why, fix)]
        why = f"the row is gone, but namespace {row.namespace} still uses VLAN {row.vlan} on {row.bridge}{way}"
        fix = "put the row back, remove what is in the way, then remove the row"
        return [Problem("ROW_IN_USE", path, row.vlan, why, fix)]
    if new.namespace != row.namespace:
        why = (
            f"VLAN {row.vlan} on {row.bridge} belongs to namespace {row.namespace} in the cluster and would change to "
            f"{new.namespace}{way}"
        )
        fix = (
            f"give {new.tenant} another VLAN; remove this row with {row.vlan} in `retired`, and give the VLAN away "
            "when nothing stands on it"
        )
        path = f"zones.{new.zone}.networks.{new.name}"
        return [Problem("ROW_CHANGED_TENANT", path, row.vlan, why, fix)]
    return [*_leaving_problems(row, new, addresses), *_changed_problems(row, new, users)]


def _leaving_problems(row: LiveRow, new: Row, addresses: Iterable[LiveAddress]) -> list[Problem]:
    """Refuse that an address which is leased leaves its row."""
    leaving = [address_name(item) for item in addresses if _leased_from(item, row) and not _stays(item, row, new)]
    if leaving:
        kept = "the row keeps its name and" if new.name != row.pool else "the row's range"
        why = f"leased addresses would leave their row; in the way: {named(leaving)}"
        fix = f"write the row so that {kept} holds them, or remove the machines that have them first"
        path = f"zones.{new.zone}.networks.{new.name}"
        return [Problem("ADDRESS_LEAVES_ROW", path, new.addresses, why, fix)]
    return []


def _changed_problems(row: LiveRow, new: Row, users: list[str]) -> list[Problem]:
    """Refuse that what running machines were set up with changes under them: the row's name, gateway or prefix."""
    pairs = {
        "name": (row.pool or row.name, new.name),
        "gateway": (row.gateway, str(new.gateway)),
        "prefix": (row.prefix, new.cidr.prefixlen),
    }
    changed = [f"{key} {old} to {value}" for key, (old, value) in pairs.items() if old and old != value]
    if not changed or not users:
        return []
    why = (
        f"the row of VLAN {row.vlan} on {row.bridge} would change ({', '.join(changed)}), and machines were set up "
        f"with what it was; in the way: {named(users)}"
    )
    fix = "write the row as it was, or remove the machines first; new ones can have a row and a VLAN of their own"
    return [Problem("ROW_IN_USE", f"zones.{new.zone}.networks.{new.name}", row.vlan, why, fix)]


def _new_owner_problems(table: _Table, known: set[tuple[str, int]], machines: Iterable[LiveMachine]) -> list[Problem]:
    problems = []
    for (bridge, vlan), row in table.rows.items():
        if (bridge, vlan) in known:
            continue
        users = [
            machine_name(machine)
            for machine in machines
            if machine.namespace != row.namespace and any(nic[1:] == (bridge, vlan) for nic in machine.nics)
        ]
        if users:
            why = f"machines of other namespaces stand on VLAN {vlan} of {bridge}; in the way: {named(users)}"
            fix = f"give {row.tenant} another VLAN, or remove those machines first"
            problems.append(Problem("VLAN_IN_USE", f"zones.{row.zone}.networks.{row.name}", vlan, why, fix))
    return problems


def _zone_problems(live: Live, table: _Table) -> list[Problem]:
    """Refuse that a zone goes while machines stand on its bridge, on whichever VLAN."""
    problems = []
    given = {(row.bridge, row.vlan, row.namespace) for row in live.rows}
    for zone in live.zones or ():
        name, bridge = zone["metadata"]["name"], (zone.get("spec") or {}).get("bridge", "")
        if bridge in table.zones or bridge in table.open_bridges:
            continue
        users = [
            machine_name(machine)
            for machine in live.machines
            # Those on a row of their own are named by that row's problem.
            if any(on == bridge and (on, vlan, machine.namespace) not in given for _, on, vlan in machine.nics)
        ]
        if users:
            why = f"the zone of bridge {bridge} is gone, and machines stand on it; in the way: {named(users)}"
            fix = "keep the zone until they are gone"
            problems.append(Problem("ZONE_IN_USE", f"zones.{name}", bridge, why, fix))
    return problems


def _stands_on(machine: LiveMachine, row: LiveRow) -> bool:
    return machine.namespace == row.namespace and any(nic[1:] == (row.bridge, row.vlan) for nic in machine.nics)


def _leased_from(address: LiveAddress, row: LiveRow) -> bool:
    """From the row's own pool, or (capi-1.12: from its cluster's pool) out of the row's ranges."""
    if address.namespace != row.namespace:
        return False
    return address.pool == row.pool or inside(address, row.addresses)


def _stays(address: LiveAddress, row: LiveRow, new: Row) -> bool:
    return (address.pool != row.pool or new.name == row.pool) and inside(address, new.addresses)


def _schema(definition: Mapping[str, Any]) -> Any:
    spec = definition["spec"]
    return spec["group"], spec["scope"], {each["name"]: each.get("schema") for each in spec["versions"]}


def _generations() -> list[Generation]:
    return sorted({name for kind in KINDS.values() for name in kind.versions})


def _contradictions(
    definitions: Mapping[str, Definition | None], generation: Generation
) -> tuple[list[str], list[str]]:
    """Give the definitions that are not there, and what those that contradict the generation serve."""
    missing: list[str] = []
    wrong: list[str] = []
    for name, kind in sorted(KINDS.items()):
        if kind.group == OWN_GROUP:
            continue
        definition = definitions.get(definition_name(name))
        if definition is None:
            missing.append(definition_name(name))
            continue
        wanted = kind.versions[generation]
        served, stored = served_and_stored(definition)
        if wanted not in served or stored in set(kind.versions.values()) - {wanted}:
            wrong.append(f"{definition_name(name)} serves {', '.join(sorted(served)) or 'nothing'} and stores {stored}")
    return missing, wrong
