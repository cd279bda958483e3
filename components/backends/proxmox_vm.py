"""Backend `proxmox-vm`: VMs cloned by the program itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pulumi
import pulumi_proxmoxve as proxmox

from components.seed import content_hash, write_seed
from manifests.talos import machine_config
from settings.access import resource_pool
from settings.environment import ProxmoxLocation
from settings.machines import machines
from settings.tenant import ProxmoxVmPool

if TYPE_CHECKING:
    from components.tenant_run import TenantRun
    from settings.machines import Machine

CPU_TYPE = "x86-64-v2-AES"
"""The least that Talos runs on, and the same on nodes of different age, so that a VM can move."""


IGNORED = [
    "clone",  # what a VM was cloned from is history: another template must not replace it (docs/adr/002)
    "nodeName",  # a VM stays where it was made: a tenant's token can't migrate it, and `nodes` is for new ones
    "disks[0].speed",  # the provider reports one that nobody asked for
]
"""What may differ from the program on a VM that exists."""


def proxmox_vms(
    run: TenantRun, cluster: str, pool: str, parent: pulumi.Resource
) -> list[pulumi.Output[dict[str, Any]]]:
    """Register a pool's seed ISOs and VMs; give what each machine is, once it is there.

    Always clones, from the template's own node: a VM of this type that is not a clone would adopt a foreign VM of its
    id, and a clone from elsewhere would need the right to migrate.
    """
    return [_vm(run, cluster, pool, machine, parent) for machine in machines(run.settings, cluster, pool)]


def _vm(
    run: TenantRun, cluster: str, pool: str, machine: Machine, parent: pulumi.Resource
) -> pulumi.Output[dict[str, Any]]:
    settings = run.settings
    spec = settings.clusters[cluster].pools[pool]
    location = settings.environment.locations[machine.location]
    row = machine.row
    if not isinstance(spec, ProxmoxVmPool) or not isinstance(location, ProxmoxLocation) or row is None:
        message = f"{machine.name} is not a Proxmox VM"
        raise TypeError(message)
    provider = run.providers.proxmox[machine.location]
    opts = pulumi.ResourceOptions(parent=parent, provider=provider)
    seed = machine_config(settings, cluster, pool, machine)
    seed_name = f"{machine.name}-{content_hash(machine.name, seed)}"
    storage = location.tenants[settings.tenant].iso_storage
    iso = proxmox.FileLegacy(
        seed_name,
        content_type="iso",
        datastore_id=storage,
        node_name=machine.node,
        source_file=proxmox.FileLegacySourceFileArgs(
            path=str(write_seed(machine.name, seed)), file_name=f"{seed_name}.iso"
        ),
        # Name and contents change together, so a path that differs between checkouts is no change. Nor is a node: a
        # replacement of the same name would be uploaded and then deleted (seen with the real plugin).
        opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(ignore_changes=["sourceFile", "nodeName"])),
    )
    vm = proxmox.VmLegacy(
        machine.name,
        name=machine.name,
        node_name=machine.node,
        vm_id=machine.vm_id,
        pool_id=resource_pool(settings.environment_name, settings.tenant),
        description=f"pool {pool} of cluster {cluster}, tenant {settings.tenant}",
        tags=sorted({"hybrid", settings.environment_name, settings.tenant, cluster, pool}),
        clone=proxmox.VmLegacyCloneArgs(
            vm_id=location.template.id, node_name=location.template.node, full=True, retries=1
        ),
        migrate=True,
        started=True,
        on_boot=True,
        stop_on_destroy=True,
        operating_system=proxmox.VmLegacyOperatingSystemArgs(type="l26"),
        cpu=proxmox.VmLegacyCpuArgs(cores=spec.size.cpu, sockets=1, type=CPU_TYPE),
        memory=proxmox.VmLegacyMemoryArgs(dedicated=spec.size.memory),
        disks=[proxmox.VmLegacyDiskArgs(interface="scsi0", datastore_id=location.storage.name, size=spec.size.disk)],
        network_devices=[
            proxmox.VmLegacyNetworkDeviceArgs(bridge=row.bridge, vlan_id=row.vlan, model="virtio", mtu=row.mtu)
        ],
        # The ISO's id, written out: known at preview, where the policy pack judges whose storage it is in.
        cdrom=proxmox.VmLegacyCdromArgs(file_id=f"{storage}:iso/{seed_name}.iso", interface="ide2"),
        opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(ignore_changes=IGNORED, depends_on=[iso])),
    )
    return vm.vm_id.apply(
        lambda _: {
            "name": machine.name,
            "location": machine.location,
            "node": machine.node,
            "vmId": machine.vm_id,
            "vlan": row.vlan,
            "address": str(machine.address),
        }
    )
