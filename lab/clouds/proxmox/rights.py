"""Who may do what: Proxmox VE's resolution of roles over paths (`RPCEnvironment.pm`, `AccessControl.pm`).

* Down the tree, the deepest entry of an identity replaces what came from above; an entry counts for paths below only
  with `propagate`. `NoAccess` on a path takes everything away there, what comes from a pool too.
* A pool's members (`/vms/N`, `/storage/S`) also have the privileges of `/pool/P` itself; `NoAccess` there beats all.
* A privilege-separated token has the intersection of its own and its user's; another token has its user's.
* `root@pam` may do everything.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from lab.clouds.proxmox.roles import ALL, BUILT_IN

State = Mapping[str, Any]
Permissions = dict[str, bool]
"""Privilege → whether it spreads to what lies below the path."""

_TOP = ("/", "/access", "/access/groups", "/nodes", "/pool", "/sdn", "/storage", "/vms")


def privileges(state: State, identity: str, path: str) -> frozenset[str]:
    """Return the privileges of a user (`u@realm`) or token (`u@realm!id`) on a path."""
    return frozenset(permissions(state, identity, path))


def permissions(state: State, identity: str, path: str) -> Permissions:
    """Return the privileges on a path, each with its spreading."""
    user, _, token = identity.partition("!")
    of_user = _of_one(state, user, path)
    if not token or not state["tokens"][identity]["privsep"]:
        return of_user
    own = _of_one(state, identity, path)
    return {name: own[name] and of_user[name] for name in own.keys() & of_user.keys()}


def effective(state: State, identity: str) -> dict[str, Permissions]:
    """Return all paths on which an identity has something: of those above all, those of any entry, pools' members."""
    paths = {*_TOP, *(acl["path"] for acl in state["acls"])}
    paths |= {f"/vms/{number}" for number, machine in state["machines"].items() if machine.get("pool")}
    paths |= {f"/storage/{name}" for pool in state["pools"].values() for name in pool.get("storages", ())}
    found = {path: permissions(state, identity, path) for path in sorted(paths)}
    return {path: there for path, there in found.items() if there}


def _of_one(state: State, who: str, path: str) -> Permissions:
    if who == "root@pam":
        return dict.fromkeys(ALL, True)
    roles = _roles(state, who, path)
    if "NoAccess" in roles:
        return {}
    pool = _pool_of(state, path)
    if pool:
        pool_roles = _roles(state, who, f"/pool/{pool}")
        if "NoAccess" in pool_roles:
            return {}
        roles = {**dict.fromkeys(pool_roles, False), **roles}
    found: Permissions = {}
    for role, spreads in roles.items():
        for privilege in BUILT_IN.get(role, frozenset(state["roles"].get(role, ()))):
            found[privilege] = found.get(privilege, False) or spreads
    return found


def _roles(state: State, who: str, path: str) -> dict[str, bool]:
    roles: dict[str, bool] = {}
    for prefix in _prefixes(path):
        here = {
            acl["role"]: bool(acl["propagate"])
            for acl in state["acls"]
            if acl["who"] == who and acl["path"] == prefix and (acl["propagate"] or prefix == path)
        }
        if here:
            roles = here
    return roles


def _prefixes(path: str) -> Iterator[str]:
    yield "/"
    parts = path.strip("/").split("/")
    for length in range(1, len(parts) + 1):
        yield "/" + "/".join(parts[:length])


def _pool_of(state: State, path: str) -> str:
    kind, _, name = path.strip("/").partition("/")
    if kind == "vms" and name in state["machines"]:
        return str(state["machines"][name].get("pool", ""))
    if kind == "storage":
        for pool, entry in state["pools"].items():
            if name in entry.get("storages", ()):
                return str(pool)
    return ""
