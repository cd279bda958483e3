"""Who may do what on Proxmox VE, as an environment's stack writes it: roles, users, tokens, pools and ACL entries.

A wrong entry is a way onto a foreign network, whatever the other gates say: each must be one that the table asks for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tenant_isolation.providers import proxmox_place
from tenant_isolation.reading import ABSENT, UNKNOWN, read
from tenant_isolation.table import REALM
from tenant_isolation.verdicts import listed, shown, strange, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tenant_isolation.table import Holding, Proxmox
    from tenant_isolation.verdicts import Case

LOCAL_NETWORK = "/sdn/zones/localnetwork/"
"""Below it are the bridges of Proxmox VE that belong to no SDN zone, and below each its VLANs."""

ROLES = {
    "vm": words(
        """VM.Allocate VM.Audit VM.PowerMgmt VM.Config.CDROM VM.Config.CPU VM.Config.Disk VM.Config.HWType
        VM.Config.Memory VM.Config.Network VM.Config.Options VM.GuestAgent.Audit Pool.Audit"""
    ),
    "template": words("VM.Audit VM.Clone"),
    "network": words("SDN.Use SDN.Audit"),
    "disk": words("Datastore.AllocateSpace Datastore.Audit"),
    "iso": words("Datastore.Allocate Datastore.AllocateSpace Datastore.AllocateTemplate Datastore.Audit"),
    "node": words("Sys.Audit"),
}
"""Role (after `hybrid-<environment>-`) → all that it may hold, by the kind of path on which it is granted: whoever may
change the template or delete on the disks' storage reaches other tenants. In none of them: VM.Migrate,
Permissions.Modify, Pool.Allocate, SDN.Allocate, consoles, backups, the nodes' own settings."""

_EMPTY: tuple[Any, ...] = (ABSENT, "", [])


def role_problems(case: Case) -> list[str]:
    """Judge a role: named as the environment's own, with privileges that a tenant may have."""
    _, problems = proxmox_place(case)
    props = case.resource.props
    problems += strange(props, ("roleId", "privileges"), "It has inputs")
    role, said = _role_of(case, props)
    problems += said
    given = read(props, "privileges")
    if not isinstance(given, list) or not all(isinstance(item, str) for item in given):
        return [*problems, f"Its privileges are {shown(given)}, not a list of known names."]
    closed = set(given) - ROLES[role] if role else set()
    if closed:
        problems.append(
            f"It has privileges that are not for a role {shown(read(props, 'roleId'))}: {listed(closed)}. Leave them "
            f"out; it may have {listed(ROLES[role])}."
        )
    return problems


def acl_problems(case: Case) -> list[str]:
    """Judge an ACL entry: not propagated, for one tenant's user or token, on what is that tenant's."""
    place, problems = proxmox_place(case)
    props = case.resource.props
    problems += strange(props, ("path", "propagate", "roleId", "tokenId", "userId"), "It has inputs")
    role, said = _role_of(case, props)
    problems += said
    if read(props, "propagate") is not False:
        problems.append("It is propagated to everything below its path. Write propagate: false.")
    holders = [read(props, field) for field in ("userId", "tokenId") if read(props, field) not in _EMPTY]
    if len(holders) != 1:
        problems.append("It is not for one user or token. Write userId or tokenId.")
    if place is None or len(holders) != 1:
        return problems
    owner = _owner(holders[0], place)
    if owner is None:
        return [*problems, f"It is for {shown(holders[0])}, who is no tenant of {place.name}. {_accounts(place)}"]
    return [*problems, *(_path_problems(role, read(props, "path"), place, _paths(case, place, owner)) if role else ())]


def user_problems(case: Case) -> list[str]:
    """Judge a user: a tenant's account, which gets its rights by ACL entries alone."""
    place, problems = proxmox_place(case)
    props = case.resource.props
    problems += strange(
        props, words("userId enabled comment email expirationDate firstName lastName acls groups"), "It has inputs"
    )
    problems += [
        f"It has {field}: its rights are ACL entries of their own, which are judged one by one. Leave it out."
        for field in ("acls", "groups")
        if read(props, field) not in _EMPTY
    ]
    return [*problems, *_account_problems(read(props, "userId"), place)]


def token_problems(case: Case) -> list[str]:
    """Judge a token: of a tenant's account, with rights of its own."""
    place, problems = proxmox_place(case)
    props = case.resource.props
    known = words("userId tokenName privilegesSeparation comment expirationDate")
    problems += strange(props, known, "It has inputs")
    if read(props, "privilegesSeparation") not in (ABSENT, True):
        problems.append("Its rights are not separated from its user's. Write privilegesSeparation: true.")
    return [*problems, *_account_problems(read(props, "userId"), place)]


def pool_problems(case: Case) -> list[str]:
    """Judge a resource pool: a tenant's, or that of the templates."""
    place, problems = proxmox_place(case)
    props = case.resource.props
    problems += strange(props, ("poolId", "comment"), "It has inputs")
    name = read(props, "poolId")
    pools = set() if place is None else {place.template_pool, *(item.pool for item in place.tenants.values())}
    if place is not None and not (isinstance(name, str) and name in pools):
        problems.append(f"Its poolId is {shown(name)}. Pools of {place.name} are {listed(pools)}.")
    return problems


def _role_of(case: Case, props: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Give which of `ROLES` is named, or "" and what is wrong."""
    role, own = read(props, "roleId"), f"hybrid-{case.stack.name}-"
    what = role.removeprefix(own) if isinstance(role, str) and role.startswith(own) else ""
    if what in ROLES:
        return what, []
    known = listed(f"{own}{name}" for name in ROLES)
    return "", [f"Its roleId is {shown(role)}. Roles of {case.stack.name} are {known}."]


def _account_problems(who: Any, place: Proxmox | None) -> Iterator[str]:
    if place is None or (_owner(who, place) is not None and "!" not in who):
        return
    yield f"Its userId is {shown(who)}, who is no tenant of {place.name}. {_accounts(place)}"


def _accounts(place: Proxmox) -> str:
    return f"Its tenants are {listed(f'{item.pool}@{REALM}' for item in place.tenants.values()) or 'none'}."


def _owner(who: Any, place: Proxmox) -> Holding | None:
    """Give the tenant whose user or token (`user@realm!name`) it is."""
    if not isinstance(who, str):
        return None
    account, mark, name = who.partition("!")
    user, _, realm = account.rpartition("@")
    if realm != REALM or bool(mark) != bool(name):
        return None
    return next((item for item in place.tenants.values() if item.pool == user), None)


def _path_problems(role: str, path: Any, place: Proxmox, own: Mapping[str, set[str]]) -> Iterator[str]:
    if not isinstance(path, str):
        known = "is not known yet" if path is UNKNOWN else f"is {shown(path)}"
        yield f"Its path {known}, but it decides what may be used."
    elif path not in own[role]:
        yield (
            f"Its path is {shown(path)}, on which this tenant has no role {role} in {place.name}. "
            f"It has it on {listed(own[role]) or 'nothing'}."
        )


def _paths(case: Case, place: Proxmox, owner: Holding) -> dict[str, set[str]]:
    """Give every path on which a tenant may have a role in a location: exactly its own, and what all share."""
    return {
        "vm": {f"/pool/{owner.pool}"},
        "template": {f"/pool/{place.template_pool}"},
        "disk": {f"/storage/{place.storage}"},
        "iso": {f"/storage/{owner.iso_storage}"},
        "node": {f"/nodes/{node}" for node in place.nodes},
        "network": {
            f"{LOCAL_NETWORK}{row.bridge}/{row.vlan}"
            for row in case.table.rows
            if (row.tenant, row.location) == (owner.tenant, place.name)
        },
    }


RIGHTS: Mapping[str, Callable[[Case], list[str]]] = {
    "proxmoxve:index/roleLegacy:RoleLegacy": role_problems,
    "proxmoxve:index/acl:Acl": acl_problems,
    "proxmoxve:index/aclLegacy:AclLegacy": acl_problems,
    "proxmoxve:index/userLegacy:UserLegacy": user_problems,
    "proxmoxve:user/token:Token": token_problems,
    "proxmoxve:user/tokenLegacy:TokenLegacy": token_problems,
    "proxmoxve:index/poolLegacy:PoolLegacy": pool_problems,
}
