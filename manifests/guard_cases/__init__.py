"""What the guard must refuse and what it must let pass, as data: requests with the verdict that the rules give them.

The requests follow from an environment's table alone, not from the policies: they are what the policies are measured
by. Every refusal has a twin, a request that differs in what is forbidden and that must pass, so that a policy which
refuses everything is found as surely as one which refuses nothing.
"""

from manifests.guard_cases.all import cases
from manifests.guard_cases.case import Case, Operation, User, Verdict

__all__ = ["Case", "Operation", "User", "Verdict", "cases"]
