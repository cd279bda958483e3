"""Privileges and built-in roles of Proxmox VE 9 (pve-access-control 9, `AccessControl.pm`)."""

_VM = frozenset(
    """VM.Allocate VM.Audit VM.Backup VM.Clone VM.Config.CDROM VM.Config.CPU VM.Config.Cloudinit VM.Config.Disk
    VM.Config.HWType VM.Config.Memory VM.Config.Network VM.Config.Options VM.Console VM.GuestAgent.Audit
    VM.GuestAgent.FileRead VM.GuestAgent.FileSystemMgmt VM.GuestAgent.FileWrite VM.GuestAgent.Unrestricted VM.Migrate
    VM.PowerMgmt VM.Replicate VM.Snapshot VM.Snapshot.Rollback""".split()
)
_DATASTORE = frozenset("Datastore.Allocate Datastore.AllocateSpace Datastore.AllocateTemplate Datastore.Audit".split())
_OTHER = frozenset(
    """Group.Allocate Mapping.Audit Mapping.Modify Mapping.Use Permissions.Modify Pool.Allocate Pool.Audit
    Realm.Allocate Realm.AllocateUser SDN.Allocate SDN.Audit SDN.Use Sys.AccessNetwork Sys.Audit Sys.Console
    Sys.Incoming Sys.Modify Sys.PowerMgmt Sys.Syslog User.Modify""".split()
)
ALL = _VM | _DATASTORE | _OTHER

BUILT_IN: dict[str, frozenset[str]] = {
    "Administrator": ALL,
    "NoAccess": frozenset(),
    "PVEAdmin": ALL - {"Permissions.Modify", "Realm.Allocate", "Sys.Modify", "Sys.PowerMgmt", "Sys.Incoming"},
    "PVEAuditor": frozenset(name for name in ALL if name.endswith(".Audit")),
    "PVEDatastoreAdmin": _DATASTORE,
    "PVEDatastoreUser": frozenset({"Datastore.AllocateSpace", "Datastore.Audit"}),
    "PVEPoolAdmin": frozenset({"Pool.Allocate", "Pool.Audit"}),
    "PVEPoolUser": frozenset({"Pool.Audit"}),
    "PVESDNAdmin": frozenset({"SDN.Allocate", "SDN.Audit", "SDN.Use"}),
    "PVESDNUser": frozenset({"SDN.Audit", "SDN.Use"}),
    "PVETemplateUser": frozenset({"VM.Audit", "VM.Clone"}),
    "PVEUserAdmin": frozenset({"Group.Allocate", "Realm.AllocateUser", "User.Modify"}),
    "PVEVMAdmin": _VM,
    "PVEVMUser": frozenset(
        "VM.Audit VM.Backup VM.Config.CDROM VM.Config.Cloudinit VM.Console VM.GuestAgent.Audit VM.PowerMgmt".split()
    ),
}
