"""The policy pack, as the engine starts it: this folder is then the working directory and on the import path."""

from pulumi_policy import EnforcementLevel, PolicyPack
from tenant_isolation.policy import tenant_isolation

if __name__ == "__main__":
    PolicyPack("hybrid", policies=[tenant_isolation()], enforcement_level=EnforcementLevel.MANDATORY)
