"""The lab's simulated clouds: stand-in plugins for the Proxmox VE and Hetzner Cloud providers.

No real cloud is touched. The stand-ins keep one state file per endpoint in the folder `HYBRID_LAB_CLOUDS` and behave
like the real plugins and APIs where the program depends on it: what is refused, what is replaced, what a failure
leaves behind, who may do what.

Used from outside: `install`, `seed_proxmox`, `seed_hcloud`, `edit` and `python -m lab.clouds machines`.
"""

from lab.clouds.install import install
from lab.clouds.seed import seed_hcloud, seed_proxmox
from lab.clouds.state import edit

__all__ = ["edit", "install", "seed_hcloud", "seed_proxmox"]
