"""Pools, roles, users, tokens and access control entries."""

import re
import secrets
import uuid
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from lab.clouds.changes import Change
from lab.clouds.errors import CloudError
from lab.clouds.proxmox.api import ProxmoxApi, Session
from lab.clouds.proxmox.roles import BUILT_IN, known
from lab.clouds.resource import Live, Properties, Resource
from lab.clouds.schema import Failure
from lab.clouds.values import Secret

_PATH = re.compile(
    r"^/($|access(/groups|/realm|/users)?(/[^/]+)?$|nodes(/[^/]+)?$|pool(/[^/]+){0,3}$|vms(/[1-9][0-9]{2,})?$"
    r"|storage(/[^/]+)?$|sdn$|sdn/zones$|sdn/zones/[^/]+$|sdn/zones/[^/]+/[^/]+$|sdn/zones/[^/]+/[^/]+/[1-9][0-9]{0,3}$"
    r"|mapping(/[^/]+){0,2}$)"
)
_USER = re.compile(r"^[^\s:/@!]+@[A-Za-z][A-Za-z0-9.\-_]*$")


def _bad(what: str) -> CloudError:
    return CloudError(f"400 Parameter verification failed ({what})")


class _Access(Resource):
    """What the types here share."""

    sdk_module: ClassVar[str] = "pulumi_proxmoxve"
    api: ProxmoxApi

    def update(
        self, identity: str, state: Properties, inputs: Properties, old_inputs: Properties, ignored: Iterable[str]
    ) -> dict[str, Any]:
        """Write the new values over the old ones."""
        del old_inputs, ignored
        with self.api.call("access") as session:
            self.write(session, identity, self.wanted(inputs))
        return {**state, **self.wanted(inputs)}

    def write(self, session: Session, identity: str, wanted: Properties) -> None:
        """Write an existing entry."""
        raise NotImplementedError


class Pool(_Access):
    """A resource pool."""

    type_name: ClassVar[str] = "proxmoxve:index/poolLegacy:PoolLegacy"
    sdk_args: ClassVar[str] = "PoolLegacyArgs"
    computed: ClassVar[tuple[str, ...]] = ("members",)
    replace_on: ClassVar[frozenset[str]] = frozenset({"poolId"})

    def create(self, inputs: Properties) -> tuple[str, dict[str, Any]]:
        """Make an empty pool."""
        name = inputs["poolId"]
        with self.api.call("access") as session:
            session.require(f"/pool/{name}", "Pool.Allocate")
            if name in session.state["pools"]:
                message = f"500 create pool failed: pool '{name}' already exists"
                raise CloudError(message)
            session.state["pools"][name] = {"comment": inputs.get("comment", "")}
        return name, {**self.wanted(inputs), "members": []}

    def read(self, identity: str, state: Properties, inputs: Properties) -> Live | None:
        """Report the pool and its machines."""
        with self.api.call("access") as session:
            pool = session.state["pools"].get(identity)
            if pool is None:
                return None
            members = [
                {
                    "id": f"qemu/{number}",
                    "nodeName": each["node"],
                    "type": "qemu",
                    "vmId": int(number),
                    "datastoreId": "",
                }
                for number, each in session.state["machines"].items()
                if each["pool"] == identity
            ]
        return self.found(
            identity, {**state, "poolId": identity, "comment": pool["comment"], "members": members}, inputs
        )

    def write(self, session: Session, identity: str, wanted: Properties) -> None:
        """Change the comment."""
        session.require(f"/pool/{identity}", "Pool.Allocate")
        session.state["pools"][identity]["comment"] = wanted.get("comment", "")

    def delete(self, identity: str, state: Properties) -> None:
        """Remove the pool, which must be empty."""
        del state
        with self.api.call("access") as session:
            if identity not in session.state["pools"]:
                return
            session.require(f"/pool/{identity}", "Pool.Allocate")
            if any(each["pool"] == identity for each in session.state["machines"].values()):
                message = f"500 delete pool failed: pool '{identity}' is not empty"
                raise CloudError(message)
            del session.state["pools"][identity]
            _drop_acls(session, path=f"/pool/{identity}")


class Membership(Resource):
    """A machine's or a storage's place in a pool."""

    type_name: ClassVar[str] = "proxmoxve:pool/membership:Membership"
    sdk_module: ClassVar[str] = "pulumi_proxmoxve.pool"
    sdk_args: ClassVar[str] = "MembershipArgs"
    replace_on: ClassVar[frozenset[str]] = frozenset({"poolId", "storageId", "vmId"})
    api: ProxmoxApi

    def check(self, inputs: Properties) -> Iterator[Failure]:
        """Refuse what names not exactly one member."""
        if ("vmId" in inputs) == ("storageId" in inputs):
            yield Failure("vmId", "Exactly one of these attributes must be configured: [vm_id,storage_id]")

    def create(self, inputs: Properties) -> tuple[str, dict[str, Any]]:
        """Put the member into the pool."""
        pool = inputs["poolId"]
        with self.api.call("access") as session:
            session.require(f"/pool/{pool}", "Pool.Allocate")
            if pool not in session.state["pools"]:
                message = f"500 pool '{pool}' does not exist"
                raise CloudError(message)
            if "vmId" in inputs:
                session.machine(inputs["vmId"])["pool"] = pool
                return f"{pool}/vm/{inputs['vmId']}", dict(inputs)
            storages = session.state["pools"][pool].setdefault("storages", [])
            storages.append(inputs["storageId"])
            return f"{pool}/storage/{inputs['storageId']}", dict(inputs)

    def read(self, identity: str, state: Properties, inputs: Properties) -> Live | None:
        """Report the membership while it lasts."""
        pool, kind, member = identity.split("/")
        with self.api.call("access") as session:
            if kind == "vm":
                there = session.state["machines"].get(member, {}).get("pool") == pool
            else:
                there = member in session.state["pools"].get(pool, {}).get("storages", [])
        return self.found(identity, dict(state), inputs) if there else None

    def delete(self, identity: str, state: Properties) -> None:
        """Take the member out of the pool."""
        del state
        pool, kind, member = identity.split("/")
        with self.api.call("access") as session:
            session.require(f"/pool/{pool}", "Pool.Allocate")
            if kind == "vm" and session.state["machines"].get(member, {}).get("pool") == pool:
                session.state["machines"][member]["pool"] = ""
            storages = session.state["pools"].get(pool, {}).get("storages", [])
            if kind == "storage" and member in storages:
                storages.remove(member)


class Role(_Access):
    """A role: a named set of privileges."""

    type_name: ClassVar[str] = "proxmoxve:index/roleLegacy:RoleLegacy"
    sdk_args: ClassVar[str] = "RoleLegacyArgs"
    replace_on: ClassVar[frozenset[str]] = frozenset({"roleId"})

    def wanted(self, inputs: Properties) -> dict[str, Any]:
        """Order of privileges means nothing."""
        privileges = inputs["privileges"]
        known = isinstance(privileges, list) and all(isinstance(each, str) for each in privileges)
        return {**inputs, "privileges": sorted(set(privileges)) if known else privileges}

    def create(self, inputs: Properties) -> tuple[str, dict[str, Any]]:
        """Make the role."""
        name = inputs["roleId"]
        with self.api.call("access") as session:
            if name in session.state["roles"] or name in BUILT_IN:
                message = f"500 role '{name}' already exists"
                raise CloudError(message)
            self.write(session, name, self.wanted(inputs))
        return name, self.wanted(inputs)

    def write(self, session: Session, identity: str, wanted: Properties) -> None:
        """Write the privileges; a name that this version does not know is refused."""
        session.require("/access", "Sys.Modify")
        for privilege in wanted["privileges"]:
            if privilege not in known(session.state.get("pve", 9)):
                what = f"privs: invalid privilege '{privilege}'"
                raise _bad(what)
        session.state["roles"][identity] = list(wanted["privileges"])

    def read(self, identity: str, state: Properties, inputs: Properties) -> Live | None:
        """Report the role."""
        with self.api.call("access") as session:
            privileges = session.state["roles"].get(identity)
        if privileges is None:
            return None
        return self.found(identity, {**state, "roleId": identity, "privileges": sorted(privileges)}, inputs)

    def delete(self, identity: str, state: Properties) -> None:
        """Remove the role."""
        del state
        with self.api.call("access") as session:
            session.require("/access", "Sys.Modify")
            session.state["roles"].pop(identity, None)


class User(_Access):
    """A user."""

    type_name: ClassVar[str] = "proxmoxve:index/userLegacy:UserLegacy"
    sdk_args: ClassVar[str] = "UserLegacyArgs"
    replace_on: ClassVar[frozenset[str]] = frozenset({"userId"})

    def wanted(self, inputs: Properties) -> dict[str, Any]:
        """Users are enabled unless said otherwise."""
        return {"enabled": True, **inputs}

    def create(self, inputs: Properties) -> tuple[str, dict[str, Any]]:
        """Make the user."""
        name = inputs["userId"]
        with self.api.call("access") as session:
            session.require("/access/groups", "User.Modify", "Realm.AllocateUser")
            if not _USER.match(name):
                what = f"userid: invalid format - value '{name}' does not look like a valid user name"
                raise _bad(what)
            if name in session.state["users"]:
                message = f"500 create user failed: user '{name}' already exists"
                raise CloudError(message)
            session.state["users"][name] = {}
            self.write(session, name, self.wanted(inputs))
        return name, self.wanted(inputs)

    def write(self, session: Session, identity: str, wanted: Properties) -> None:
        """Write the user and the ACL entries that came with it."""
        session.require("/access/groups", "User.Modify", "Realm.AllocateUser")
        if identity not in session.state["users"]:
            message = f"500 no such user ('{identity}')"
            raise CloudError(message)
        kept = {"enabled", "comment", "email", "firstName", "lastName", "groups", "password"}
        session.state["users"][identity] = {key: value for key, value in wanted.items() if key in kept}
        for acl in wanted.get("acls", []):
            _add_acl(session, acl["path"], acl["roleId"], identity, "user", propagate=acl.get("propagate", False))

    def read(self, identity: str, state: Properties, inputs: Properties) -> Live | None:
        """Report the user; the password can't be read."""
        with self.api.call("access") as session:
            user = session.state["users"].get(identity)
        if user is None:
            return None
        live = {key: value for key, value in user.items() if key != "password"}
        return self.found(identity, {**state, "userId": identity, **live}, inputs)

    def delete(self, identity: str, state: Properties) -> None:
        """Remove the user with its tokens and entries."""
        del state
        with self.api.call("access") as session:
            session.require("/access/groups", "User.Modify", "Realm.AllocateUser")
            session.state["users"].pop(identity, None)
            for token in [each for each in session.state["tokens"] if each.startswith(f"{identity}!")]:
                del session.state["tokens"][token]
                _drop_acls(session, who=token)
            _drop_acls(session, who=identity)


class Token(_Access):
    """An API token; its value is known once, when it is made."""

    type_name: ClassVar[str] = "proxmoxve:user/token:Token"
    sdk_module: ClassVar[str] = "pulumi_proxmoxve.user"
    sdk_args: ClassVar[str] = "TokenArgs"
    computed: ClassVar[tuple[str, ...]] = ("value",)
    replace_on: ClassVar[frozenset[str]] = frozenset({"userId", "tokenName"})

    def wanted(self, inputs: Properties) -> dict[str, Any]:
        """Tokens are privilege-separated unless said otherwise."""
        return {"privilegesSeparation": True, **inputs}

    def create(self, inputs: Properties) -> tuple[str, dict[str, Any]]:
        """Make the token and its secret."""
        wanted = self.wanted(inputs)
        identity = f"{wanted['userId']}!{wanted['tokenName']}"
        secret = str(uuid.UUID(bytes=secrets.token_bytes(16), version=4))
        with self.api.call("access") as session:
            if identity in session.state["tokens"]:
                message = f"500 Token already exists ({identity})"
                raise CloudError(message)
            if wanted["userId"] not in session.state["users"]:
                message = f"500 no such user ('{wanted['userId']}')"
                raise CloudError(message)
            session.state["tokens"][identity] = {"secret": secret}
            self.write(session, identity, wanted)
        return identity, {**wanted, "value": Secret(f"{identity}={secret}")}

    def write(self, session: Session, identity: str, wanted: Properties) -> None:
        """Write what can be changed."""
        session.require("/access/groups", "User.Modify")
        if identity not in session.state["tokens"]:
            message = f"500 no such token '{identity}'"
            raise CloudError(message)
        entry = session.state["tokens"][identity]
        entry.update(privsep=wanted["privilegesSeparation"], comment=wanted.get("comment", ""))

    def update(
        self, identity: str, state: Properties, inputs: Properties, old_inputs: Properties, ignored: Iterable[str]
    ) -> dict[str, Any]:
        """Change comment or separation; the value stays."""
        outputs = super().update(identity, state, inputs, old_inputs, ignored)
        return {**outputs, "value": Secret(state.get("value"))}

    def read(self, identity: str, state: Properties, inputs: Properties) -> Live | None:
        """Report the token; its value is the state's, nobody can read it."""
        with self.api.call("access") as session:
            entry = session.state["tokens"].get(identity)
        if entry is None:
            return None
        user, _, name = identity.partition("!")
        live = {"userId": user, "tokenName": name, "privilegesSeparation": entry["privsep"]}
        if entry.get("comment"):
            live["comment"] = entry["comment"]
        outputs = {**state, **live}
        if state.get("value"):
            outputs["value"] = Secret(state["value"])
        return self.found(identity, outputs, inputs)

    def delete(self, identity: str, state: Properties) -> None:
        """Remove the token and its entries."""
        del state
        with self.api.call("access") as session:
            session.require("/access/groups", "User.Modify")
            session.state["tokens"].pop(identity, None)
            _drop_acls(session, who=identity)


class TokenLegacy(Token):
    """The older name of the same."""

    type_name: ClassVar[str] = "proxmoxve:user/tokenLegacy:TokenLegacy"
    sdk_args: ClassVar[str] = "TokenLegacyArgs"


class Acl(_Access):
    """An access control entry: who has which role on a path. Its id is `PATH?WHO?ROLE`."""

    type_name: ClassVar[str] = "proxmoxve:index/acl:Acl"
    sdk_args: ClassVar[str] = "AclArgs"
    replace_on: ClassVar[frozenset[str]] = frozenset({"path", "roleId", "groupId", "tokenId", "userId"})

    def wanted(self, inputs: Properties) -> dict[str, Any]:
        """Entries propagate unless said otherwise."""
        return {"propagate": True, **inputs}

    def check(self, inputs: Properties) -> Iterator[Failure]:
        """Refuse what names not exactly one receiver."""
        if len({"groupId", "tokenId", "userId"} & set(inputs)) != 1:
            reason = "Exactly one of these attributes must be configured: [group_id,token_id,user_id]"
            yield Failure("userId", reason)

    def changes(self, state: Properties, inputs: Properties, old_inputs: Properties) -> list[Change]:
        """Compare; the receiver's kind counts by its new name only."""
        kinds = {"groupId", "tokenId", "userId"}
        return super().changes(state, inputs, {key: old_inputs[key] for key in old_inputs if key not in kinds})

    def create(self, inputs: Properties) -> tuple[str, dict[str, Any]]:
        """Grant."""
        wanted = self.wanted(inputs)
        who, kind = _receiver(wanted)
        with self.api.call("access") as session:
            _add_acl(session, wanted["path"], wanted["roleId"], who, kind, propagate=wanted["propagate"])
        return f"{wanted['path']}?{who}?{wanted['roleId']}", wanted

    def write(self, session: Session, identity: str, wanted: Properties) -> None:
        """Change the propagation."""
        del identity
        who, kind = _receiver(wanted)
        _add_acl(session, wanted["path"], wanted["roleId"], who, kind, propagate=wanted["propagate"])

    def read(self, identity: str, state: Properties, inputs: Properties) -> Live | None:
        """Report the entry while it is there."""
        path, who, role = identity.split("?")
        with self.api.call("access") as session:
            for acl in session.state["acls"]:
                if (acl["path"], acl["who"], acl["role"]) == (path, who, role):
                    live = {"path": path, "roleId": role, f"{acl['type']}Id": who, "propagate": acl["propagate"]}
                    return self.found(identity, {**state, **live}, inputs)
        return None

    def delete(self, identity: str, state: Properties) -> None:
        """Take the grant back."""
        del state
        path, who, role = identity.split("?")
        with self.api.call("access") as session:
            session.require(path, "Permissions.Modify")
            _both_there(session, role, who)
            _drop_acls(session, path=path, who=who, role=role)


class AclLegacy(Acl):
    """The older name of the same."""

    type_name: ClassVar[str] = "proxmoxve:index/aclLegacy:AclLegacy"
    sdk_args: ClassVar[str] = "AclLegacyArgs"


def _receiver(wanted: Properties) -> tuple[str, str]:
    for kind in ("token", "user", "group"):
        if f"{kind}Id" in wanted:
            return wanted[f"{kind}Id"], kind
    what = "users, groups or tokens: property is missing"
    raise _bad(what)


def _add_acl(session: Session, path: str, role: str, who: str, kind: str, *, propagate: bool) -> None:  # noqa: PLR0913
    session.require(path, "Permissions.Modify")
    if not _PATH.match(path):
        what = f"path: invalid ACL path '{path}'"
        raise _bad(what)
    _both_there(session, role, who if kind != "group" else "")
    _drop_acls(session, path=path, who=who, role=role)
    session.state["acls"].append({"path": path, "role": role, "who": who, "type": kind, "propagate": propagate})


def _both_there(session: Session, role: str, who: str) -> None:
    """Refuse a role or a receiver that is not there, of an entry that is to be deleted too (`API2/ACL.pm`)."""
    user, _, token = who.partition("!")
    why = ""
    if role not in session.state["roles"] and role not in BUILT_IN:
        why = f"role '{role}' does not exist"
    elif user and user not in session.state["users"]:
        why = f"no such user ('{user}')" if token else f"user '{user}' does not exist"
    elif token and who not in session.state["tokens"]:
        why = f"no such token '{token}' for user '{user}'"
    if why:
        message = f"500 ACL update failed: {why}"
        raise CloudError(message)


def _drop_acls(session: Session, **matching: str) -> None:
    session.state["acls"] = [
        acl for acl in session.state["acls"] if any(acl[key] != value for key, value in matching.items())
    ]
