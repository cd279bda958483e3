"""What a demo leaves out of the engine's output: what passes and what stays as it is, never a change or an error."""

from __future__ import annotations

import pytest

from lab.demo.shell import PASSING

ACL = "proxmoxve:index:Acl lab-acme-user-disk-storage-ceph-vm"


@pytest.mark.parametrize(
    "line",
    [
        "@ updating....",
        f" +  {ACL} creating (0s)",
        f" ~  {ACL} refreshing",
        f" ~  {ACL} refreshing (0s) [diff: +stringData-data]",
        f" ~  {ACL} refresh (0.01s)",
        f"    {ACL}",
        "    kubernetes:core/v1:Secret Secret/tenant-acme/pve-lab",
    ],
)
def test_what_passes_and_what_stays_is_left_out(line: str) -> None:
    assert PASSING.search(line)


@pytest.mark.parametrize(
    "line",
    [
        f" +  {ACL} created (0.04s)",
        f" ~  {ACL} updated (0.04s) [diff: ~propagate]",
        f" -- {ACL} deleted original (0.18s) [diff: ~tokenId]",
        f" ~  {ACL} refreshing (3s) error: received an HTTP 401 response",
        f" ~  {ACL} refreshing error: received an HTTP 401 response",
        "    pulumi:pulumi:Stack hybrid-lab  3 messages",
        "    117 unchanged",
        "    + 117 to create",
        "    error: preview failed",
        "  pulumi:pulumi:Stack (hybrid-lab):",
    ],
)
def test_what_changes_and_what_fails_is_shown(line: str) -> None:
    assert not PASSING.search(line)
