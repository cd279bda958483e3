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


def privileges(state: State, identity: str, path: str) -> frozenset[str]:
    """Return the privileges of a user (`u@realm`) or token (`u@realm!id`) on a path."""
    user, _, token = identity.partition("!")
    if not token:
        return _of_one(state, user, path)
    if not state["tokens"][identity]["privsep"]:
        return _of_one(state, user, path)
    return _of_one(state, user, path) & _of_one(state, identity, path)


def _of_one(state: State, who: str, path: str) -> frozenset[str]:
    if who == "root@pam":
        return ALL
    roles = _roles(state, who, path)
    if "NoAccess" in roles:
        return frozenset()
    found = _privileges_of(state, roles)
    pool = _pool_of(state, path)
    if pool:
        pool_roles = _roles(state, who, f"/pool/{pool}")
        if "NoAccess" in pool_roles:
            return frozenset()
        found |= _privileges_of(state, pool_roles)
    return found


def _roles(state: State, who: str, path: str) -> set[str]:
    roles: set[str] = set()
    for prefix in _prefixes(path):
        here = {
            acl["role"]
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


def _privileges_of(state: State, roles: set[str]) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    for role in roles:
        found |= BUILT_IN.get(role, frozenset(state["roles"].get(role, ())))
    return found


def _pool_of(state: State, path: str) -> str:
    kind, _, name = path.strip("/").partition("/")
    if kind == "vms" and name in state["machines"]:
        return str(state["machines"][name].get("pool", ""))
    if kind == "storage":
        for pool, entry in state["pools"].items():
            if name in entry.get("storages", ()):
                return str(pool)
    return ""
