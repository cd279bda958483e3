"""The simulated Hetzner Cloud and the hcloud plugin in front of it."""

from pathlib import Path

from lab.clouds.cloud import Cloud


def cloud(folder: Path) -> Cloud:
    """Return the cloud whose state lies in `folder`."""
    from lab.clouds.hcloud.provider import HetznerCloud  # noqa: PLC0415 - seeding needs none of the plugin

    return HetznerCloud(folder)
