"""Faults on demand: `faults.json` in the state folder, a list of `{"endpoint", "call", "times", "how"}`.

`how` is `error` (the call is refused with a 500 and does nothing) or `lost_answer` (the call is carried out and its
answer lost). Each entry is used up `times` times (default 1). An unknown `call` never fires; the calls are the names
that the APIs use: clone, create, config_put, disk, move_disk, resize, migrate, pool, start, stop, delete, upload,
delete_file, access, read (Proxmox VE); create_server, update_server, delete_server and so for network, subnet,
firewall, placement_group and SSH_key, attach_to_network, detach_from_network, change_alias_ips, get_servers,
get_networks, get_image (Hetzner Cloud).
"""

import json
from pathlib import Path

from lab.clouds.state import locked, state_name, write_atomically

_FILE = "faults.json"


def take(folder: Path, endpoint: str, call: str) -> str | None:
    """Use up and return the fault that is ordered for this call, or None."""
    path = folder / _FILE
    if not path.exists():
        return None
    with locked(folder, "faults"):
        faults = json.loads(path.read_text())
        for fault in faults:
            if fault["call"] == call and state_name(fault["endpoint"]) == state_name(endpoint):
                break
        else:
            return None
        fault["times"] = fault.get("times", 1) - 1
        left = [entry for entry in faults if entry.get("times", 1) > 0]
        write_atomically(path, json.dumps(left, indent=1).encode())
    return str(fault.get("how", "error"))
