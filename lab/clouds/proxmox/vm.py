"""`VmLegacy`: virtual machines, cloned or from nothing, with the real plugin's failure modes.

As the real plugin was seen to do: a VM without `clone` adopts a foreign machine of the same id; a clone whose
configuration can't be written stays in the state with the wanted values and is only started by the next plain `up`; a
change of id, node (without `migrate`) or anything under `clone` deletes the machine first.
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from lab.clouds.changes import Change, compare, without_ignored
from lab.clouds.errors import CloudError, HalfDoneError, LostAnswerError
from lab.clouds.proxmox import machine, nic
from lab.clouds.proxmox.api import ProxmoxApi, Session
from lab.clouds.resource import Live, Properties, Resource, known_where_the_same
from lab.clouds.values import UNKNOWN

# What a real machine has, apart from what calls of their own change (disks, pool, node, power).
_WRITTEN: tuple[str, ...] = (
    "acpi", "agent", "amdSev", "audioDevice", "bios", "bootOrders", "cdrom", "cpu", "description", "efiDisk",
    "hookScriptFileId", "hostpcis", "hotplug", "initialization", "keyboardLayout", "kvmArguments", "machine", "memory",
    "name", "networkDevices", "numas", "onBoot", "operatingSystem", "protection", "rngs", "scsiHardware",
    "serialDevices", "smbios", "startup", "tabletDevice", "tags", "template", "tpmState", "usbs", "vga", "virtiofs",
    "watchdog",
)  # fmt: skip
# A running machine takes these up only when it is stopped and started.
_RESTART = frozenset({"cpu", "memory", "bios", "bootOrders", "agent", "machine", "scsiHardware", "vga"})
_NO_SPEED = "disks[{}].speed"
_RETRIES_THAT_ADOPT = 2

_AGENT = {"enabled": False, "timeout": "15m", "trim": False, "type": "virtio"}
_CDROM = {"interface": "ide3"}
_CPU = {"cores": 1, "hotplugged": 0, "limit": 0, "numa": False, "sockets": 1, "type": "qemu64", "units": 1024}
_MEMORY = {"dedicated": 512, "floating": 0, "keepHugepages": False, "shared": 0}
_DISK = {"interface": "scsi0", "datastoreId": "local-lvm", "size": 8}


class Vm(Resource):
    """A virtual machine."""

    type_name: ClassVar[str] = "proxmoxve:index/vmLegacy:VmLegacy"
    sdk_module: ClassVar[str] = "pulumi_proxmoxve"
    sdk_args: ClassVar[str] = "VmLegacyArgs"
    computed: ClassVar[tuple[str, ...]] = (
        "vmId",
        "ipv4Addresses",
        "ipv6Addresses",
        "macAddresses",
        "networkInterfaceNames",
    )
    delete_first: ClassVar[bool] = True
    api: ProxmoxApi

    # --- what is wanted, and what differs -----------------------------------------------------------------------

    def wanted(self, inputs: Properties) -> dict[str, Any]:
        """Return the inputs with what the plugin writes unasked."""
        full: dict[str, Any] = {"started": True, "onBoot": True, **inputs}
        full["cpu"] = _with(_CPU, inputs.get("cpu", {}))
        full["memory"] = _with(_MEMORY, inputs.get("memory", {}))
        full["operatingSystem"] = _with({"type": "other"}, inputs.get("operatingSystem", {}))
        for key, defaults in (("agent", _AGENT), ("cdrom", _CDROM)):
            if key in inputs:
                full[key] = _with(defaults, inputs[key])
        disks = inputs.get("disks", [{}])
        if isinstance(disks, list):
            full["disks"] = [_with(_DISK, disk) for disk in disks]
        if "networkDevices" in inputs:
            full["networkDevices"] = nic.wanted(inputs["networkDevices"])
        if isinstance(inputs.get("tags"), list) and UNKNOWN not in inputs["tags"]:
            full["tags"] = sorted(set(inputs["tags"]))
        if "clone" in inputs:
            full["clone"] = _with({"datastoreId": "", "full": True, "nodeName": "", "retries": 1}, inputs["clone"])
        return full

    def changes(self, state: Properties, inputs: Properties, old_inputs: Properties) -> list[Change]:
        """Compare; a disk without a speed other than zero differs on every run, as with the real plugin."""
        wanted = self.wanted(inputs)
        if inputs.get("disks") == []:
            del wanted["disks"]
        gone = [key for key in old_inputs if key not in inputs and key not in {"vmId", "tags", "name"}]
        changes = compare(wanted, state, gone=gone)
        disks = wanted.get("disks")
        if isinstance(disks, list) and "disks" in inputs:
            for index, disk in enumerate(disks):
                if disk is not UNKNOWN and not _has_speed(disk):
                    path = _NO_SPEED.format(index)
                    changes = [*without_ignored(changes, [path]), Change(path, "add")]
        return changes

    def replaces(self, change: Change, inputs: Properties) -> bool:
        """Another id, template or (without `migrate`) node is another machine."""
        return change.top in {"clone", "vmId"} or (change.top == "nodeName" and inputs.get("migrate") is not True)

    def planned(self, inputs: Properties, state: Properties | None = None) -> dict[str, Any]:
        """Show MAC addresses that the cloud will choose as unknown, or as they are."""
        plan = super().planned(inputs, state)
        devices = known_where_the_same(
            plan.get("networkDevices"), (state or {}).get("networkDevices"), {"macAddress": UNKNOWN}
        )
        return {**plan, "networkDevices": devices}

    # --- creation -----------------------------------------------------------------------------------------------

    def create(self, inputs: Properties) -> tuple[str, dict[str, Any]]:
        """Clone (or make) the machine, write its configuration, start it."""
        wanted = self.wanted(inputs)
        if "clone" in wanted:
            identity, adopted = self._clone(wanted)
        else:
            identity, adopted = self._from_nothing(wanted)
        wanted["vmId"] = int(identity)
        try:
            if not adopted:
                self._configure(identity, wanted, inputs)
            if wanted["started"] and not wanted.get("template"):
                with self.api.call("start") as session:
                    machine.start(session, identity)
            outputs = self._outputs(identity, wanted)
        except CloudError as error:
            message = f"error updating VM {identity}: {error}"
            raise HalfDoneError(identity, wanted, message) from error
        return identity, outputs

    def _clone(self, wanted: Mapping[str, Any]) -> tuple[str, bool]:
        try:
            with self.api.call("clone") as session:
                vm_id = wanted.get("vmId") or machine.next_id(session)
                if machine.taken(session, vm_id) and wanted["clone"]["retries"] >= _RETRIES_THAT_ADOPT:
                    return str(vm_id), True
                machine.clone(session, wanted["clone"]["vmId"], vm_id, wanted=wanted)
        except CloudError as error:
            message = f"error cloning VM: {error}"
            raise CloudError(message) from error
        return str(vm_id), False

    def _from_nothing(self, wanted: Mapping[str, Any]) -> tuple[str, bool]:
        """Make a machine. A taken id counts as made: the plugin tries again and takes "exists" for its own success."""
        try:
            with self.api.call("create") as session:
                vm_id = wanted.get("vmId") or machine.next_id(session)
                if machine.taken(session, vm_id):
                    machine.may_allocate(session, vm_id, wanted.get("poolId") or "")
                    return str(vm_id), True
                machine.create(session, vm_id, wanted=wanted)
        except LostAnswerError:
            raise
        except CloudError as error:
            message = f"error creating VM: {error}"
            raise CloudError(message) from error
        return str(vm_id), False

    def _configure(self, identity: str, wanted: Mapping[str, Any], inputs: Properties) -> None:
        values = {key: wanted[key] for key in _WRITTEN if key in wanted}
        if any(disk.get("fileId") for disk in wanted["disks"]):
            message = "failed to open SSH client: disks.file_id imports over SSH, and the lab's nodes have none"
            raise CloudError(message)
        with self.api.call("config_put") as session:
            # The plugin writes serial0=socket on every clone, asked or not (seen), and Proxmox VE asks HWType for it.
            session.require(f"/vms/{identity}", "VM.Config.HWType")
            machine.put_config(session, identity, values)
        if inputs.get("disks") != []:
            self._write_disks(identity, wanted["disks"], keep_others=True)

    def _write_disks(self, identity: str, disks: Iterable[Mapping[str, Any]], *, keep_others: bool) -> bool:
        """Bring the disks to what is wanted; tell whether one was moved."""
        disks = list(disks)
        moved = False
        with self.api.call("disk", "move_disk", "resize") as session:
            for disk in disks:
                machine.set_disk(session, identity, disk)
                moved |= machine.move_disk(session, identity, disk["interface"], disk["datastoreId"])
                machine.resize(session, identity, disk["interface"], disk["size"])
            if not keep_others:
                machine.remove_disks(session, identity, {disk["interface"] for disk in disks})
        return moved

    # --- reading ------------------------------------------------------------------------------------------------

    def read(self, identity: str, state: Properties, inputs: Properties) -> Live | None:
        """Report the real machine. One that the token may not see counts as gone. An import's id is `NODE/VMID`."""
        node, _, number = identity.rpartition("/")
        with self.api.call("read") as session:
            there = session.state["machines"].get(number)
            if there is None or (node and there["node"] != node) or not session.has(f"/vms/{number}", "VM.Audit"):
                return None
        return self.found(number, self._outputs(number, state), inputs)

    def _outputs(self, identity: str, state: Properties) -> dict[str, Any]:
        with self.api.call("read") as session:
            session.require(f"/vms/{identity}", "VM.Audit")
            return {**state, **_live(session, identity)}

    # --- changes ------------------------------------------------------------------------------------------------

    def update(
        self, identity: str, state: Properties, inputs: Properties, old_inputs: Properties, ignored: Iterable[str]
    ) -> dict[str, Any]:
        """Write what the plan changes; then the power state, whatever the plan says of it."""
        changed = {change.top for change in without_ignored(self.changes(state, inputs, old_inputs), ignored)}
        wanted = self.wanted(inputs)
        # What the program no longer asks for is not in the state any more, unless the machine itself says so.
        planned = {**{key: value for key, value in state.items() if key in wanted or key not in old_inputs}, **wanted}
        with self.api.call("read") as session:
            session.machine(identity)
        try:
            self._apply(identity, changed, wanted, inputs)
            return self._outputs(identity, planned)
        except CloudError as error:
            message = f"error updating VM {identity}: {error}"
            raise HalfDoneError(identity, planned, message) from error

    def _apply(self, identity: str, changed: set[str], wanted: Mapping[str, Any], inputs: Properties) -> None:
        if "nodeName" in changed:
            with self.api.call("migrate") as session:
                machine.migrate(session, identity, wanted["nodeName"])
        values = {key: wanted.get(key) for key in _WRITTEN if key in changed}
        if values or "disks" in changed:
            with self.api.call("config_put") as session:
                machine.put_config(session, identity, values)
        moved = "disks" in changed and self._write_disks(identity, wanted["disks"], keep_others=False)
        if "poolId" in changed:
            with self.api.call("pool") as session:
                machine.move_to_pool(session, identity, wanted.get("poolId") or "")
        if (moved or changed & _RESTART) and inputs.get("rebootAfterUpdate") is not False:
            self._restart(identity)
        name = "start" if wanted["started"] else "stop"
        if not wanted.get("template"):
            with self.api.call(name) as session:
                (machine.start if wanted["started"] else machine.stop)(session, identity)

    def _restart(self, identity: str) -> None:
        with self.api.call("stop") as session:
            running = session.machine(identity)["status"] == "running"
            machine.stop(session, identity)
        if running:
            with self.api.call("start") as session:
                machine.start(session, identity)

    def delete(self, identity: str, state: Properties) -> None:
        """Stop and delete."""
        del state
        with self.api.call("stop") as session:
            if identity not in session.state["machines"]:
                return
            machine.stop(session, identity)
        with self.api.call("delete") as session:
            machine.delete(session, identity)


def _with(defaults: Mapping[str, Any], value: Any) -> Any:
    return {**defaults, **value} if isinstance(value, Mapping) else value


def _has_speed(disk: Mapping[str, Any]) -> bool:
    speed = disk.get("speed")
    return speed is UNKNOWN or (isinstance(speed, Mapping) and any(speed.values()))


def _live(session: Session, identity: str) -> dict[str, Any]:
    """Return the real machine as the plugin reads it."""
    there = session.machine(identity)
    config = there["config"]
    pool = there["pool"] if session.has(f"/pool/{there['pool']}", "Pool.Audit") else ""
    live = {key: config.get(key) for key in _WRITTEN if key in config}
    disks = [
        {key: value for key, value in disk.items() if key != "speed" or any(value.values())} for disk in config["disks"]
    ]
    return {
        **dict.fromkeys(_WRITTEN),
        **live,
        "disks": disks,
        "name": there["name"],
        "nodeName": there["node"],
        "poolId": pool,
        "started": there["status"] == "running",
        "template": there["template"],
        "vmId": int(identity),
        "macAddresses": [device["macAddress"] for device in config["networkDevices"] if "macAddress" in device],
        "ipv4Addresses": [],
        "ipv6Addresses": [],
        "networkInterfaceNames": [],
    }
