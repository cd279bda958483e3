"""The simulated Proxmox VE and the proxmoxve plugin in front of it."""

from pathlib import Path

from lab.clouds.cloud import Cloud


def cloud(folder: Path) -> Cloud:
    """Return the cloud whose endpoints' states lie in `folder`."""
    from lab.clouds.proxmox.provider import ProxmoxCloud  # noqa: PLC0415 - seeding needs none of the plugin

    return ProxmoxCloud(folder)
