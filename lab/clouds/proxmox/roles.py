"""Privileges and built-in roles of Proxmox VE 8 and 9 (pve-access-control 8.2 and 9.1, `AccessControl.pm`)."""


def _names(prefix: str, names: str) -> frozenset[str]:
    return frozenset(f"{prefix}.{name}" for name in names.split())


_VM = (
    _names("VM", "Allocate Audit Backup Clone Console Migrate PowerMgmt Replicate Snapshot Snapshot.Rollback")
    | _names("VM.Config", "CDROM CPU Cloudinit Disk HWType Memory Network Options")
    | _names("VM.GuestAgent", "Audit FileRead FileSystemMgmt FileWrite Unrestricted")
)
_DATASTORE = _names("Datastore", "Allocate AllocateSpace AllocateTemplate Audit")
_OTHER = (
    _names("Group", "Allocate")
    | _names("Mapping", "Audit Modify Use")
    | _names("Permissions", "Modify")
    | _names("Pool", "Allocate Audit")
    | _names("Realm", "Allocate AllocateUser")
    | _names("SDN", "Allocate Audit Use")
    | _names("Sys", "AccessNetwork Audit Console Incoming Modify PowerMgmt Syslog")
    | _names("User", "Modify")
)
ALL = _VM | _DATASTORE | _OTHER


def known(version: int) -> frozenset[str]:
    """Return the privileges of a major version: 9 took VM.Monitor out and brought VM.GuestAgent.* and VM.Replicate."""
    if version >= _NINE:
        return ALL
    newer = {name for name in ALL if name.startswith("VM.GuestAgent.") or name == "VM.Replicate"}
    return (ALL - newer) | {"VM.Monitor"}


_NINE = 9

BUILT_IN: dict[str, frozenset[str]] = {
    "Administrator": ALL,
    "NoAccess": frozenset(),
    "PVEAdmin": ALL - {"Permissions.Modify", "Realm.Allocate", "Sys.Modify", "Sys.PowerMgmt", "Sys.Incoming"},
    "PVEAuditor": frozenset(name for name in ALL if name.endswith(".Audit")),
    "PVEDatastoreAdmin": _DATASTORE,
    "PVEDatastoreUser": _names("Datastore", "AllocateSpace Audit"),
    "PVEPoolAdmin": _names("Pool", "Allocate Audit"),
    "PVEPoolUser": _names("Pool", "Audit"),
    "PVESDNAdmin": _names("SDN", "Allocate Audit Use"),
    "PVESDNUser": _names("SDN", "Audit Use"),
    "PVETemplateUser": _names("VM", "Audit Clone"),
    "PVEUserAdmin": frozenset({"Group.Allocate", "Realm.AllocateUser", "User.Modify"}),
    "PVEVMAdmin": _VM,
    "PVEVMUser": _names("VM", "Audit Backup Config.CDROM Config.Cloudinit Console GuestAgent.Audit PowerMgmt"),
}
