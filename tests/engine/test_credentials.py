"""Tokens in the life of an environment: each is made anew without a machine noticing, and none is in the clear."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import uuid
from typing import TYPE_CHECKING, Any

import pytest

from lab.clouds import edit
from lab.env_file import full_environment
from lab.up import pulumi
from tests.engine.leaks import forms, leaks, secrets_of, seeds_left
from tests.manifests.live import until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.engine.harness import EngineLab

pytestmark = pytest.mark.lab

DC = "https://pve.dc.example:8006"
TENANT = "acme: {namespace: tenant-acme, clusters: [prod]}"
CLUSTERS = "/apis/cluster.x-k8s.io/v1beta1/namespaces/tenant-acme/clusters"
ROW = "acme: {vmIds: 3000-3099, isoStorage: iso-acme}"
LAB = "https://pve.lab.example:8006"
SECRETS = "/api/v1/namespaces/tenant-acme/secrets/{}"
STACKS = ("lab", "lab-acme", "lab-globex")


def credentials(lab: EngineLab) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((lab.layout.home / "credentials.json").read_text())["lab"]
    return found


def give(lab: EngineLab, changed: dict[str, Any]) -> None:
    """Set the environment's credentials as docs/credentials.md says, and let later starts of the lab know them."""
    text = json.dumps(changed)
    pulumi(lab.layout, "lab", "config", "set", "-s", "lab", "--secret", "hybrid:credentials", stdin=text)
    (lab.layout.home / "credentials.json").write_text(json.dumps({"lab": changed}))


def secret(lab: EngineLab, name: str) -> tuple[str, dict[str, str]]:
    """Give a Secret's uid and its values."""
    status, found = lab.get(SECRETS.format(name))
    assert status == 200
    return found["metadata"]["uid"], {key: base64.b64decode(value).decode() for key, value in found["data"].items()}


def kubeconfig(lab: EngineLab) -> None:
    """Write acme's own as an administrator does."""
    out = str(lab.layout.tenant_kubeconfig("lab-acme"))
    command = [sys.executable, "-m", "operations", "tenant-kubeconfig", "lab-acme", "--out", out]
    subprocess.run(command, cwd=lab.layout.project, env=full_environment(lab.layout, "lab"), check=True)


def machines(lab: EngineLab) -> dict[str, tuple[Any, ...]]:
    """Give every direct machine: that it is the same one, and how often it was started."""
    found = {
        f"{place}/{key}": (vm["starts"], vm["config"]["networkDevices"])
        for place in ("pve.lab", "pve.dc")
        for key, vm in lab.machines(place).items()
    }
    servers = lab.cloud("hcloud")["projects"]["fsn1-acme"]["servers"]
    return found | {f"hcloud/{key}": (server["starts"], server["attached"]) for key, server in servers.items()}


def test_another_token_of_the_administrator_updates_the_provider_and_nothing_else(lab: EngineLab) -> None:
    before, known = machines(lab), credentials(lab)
    new = f"pulumi@pve!second={uuid.uuid4()}"
    with edit(lab.layout.clouds, DC) as state:  # the old one is gone at once: nothing may still ask with it
        state["tokens"] = {key: token for key, token in state["tokens"].items() if not key.startswith("pulumi@")}
        state["tokens"]["pulumi@pve!second"] = {"secret": new.partition("=")[2], "privsep": False}
    give(lab, {**known, "dc": {"token": new}})
    assert lab.changes("lab") == {"pulumi:providers:proxmoxve::proxmox-dc": "update"}
    lab.up("lab")
    assert machines(lab) == before


def test_another_rotation_of_a_tenants_token_reaches_secret_and_handover_before_the_old_one_ends(
    lab: EngineLab,
) -> None:
    before = machines(lab)
    (pve_uid, old), (handover_uid, _) = secret(lab, "pve-dc"), secret(lab, "hybrid-handover")
    account, edits = lab.token("lab-acme"), [(row, row.replace("}", ", rotation: 2}")) for row in (ROW, TENANT)]
    with lab.edited("lab", *edits):
        assert "run `pulumi up -s lab` first" in lab.pulumi("lab-acme", "up", "--yes", "--skip-preview").output
        said = lab.up("lab", "--skip-preview")
        written = [said.index(f"Secret/tenant-acme/{name} updated") for name in ("pve-dc", "hybrid-handover")]
        assert max(written) < said.index("dc-acme-token deleted")
        (now_uid, new), (now_handover, handed) = secret(lab, "pve-dc"), secret(lab, "hybrid-handover")
        assert (pve_uid, handover_uid) == (now_uid, now_handover)
        assert (old["token"], new["token"]) == ("lab-acme@pve!hybrid", "lab-acme@pve!hybrid-2")
        assert handed["dc.token"] == f"{new['token']}={new['secret']}"
        assert new["insecure"] == "false"
        tokens = lab.cloud("pve.dc")
        assert [key for key in tokens["tokens"] if "acme" in key] == ["lab-acme@pve!hybrid-2"]
        assert not [acl for acl in tokens["acls"] if acl["who"] == "lab-acme@pve!hybrid"]
        status = until(lambda: lab.get(CLUSTERS, account)[0], lambda found: found == 401)
        assert status == 401  # the identity's token of before
        kubeconfig(lab)
        assert lab.get(CLUSTERS, lab.token("lab-acme"))[0] == 200
        assert lab.changes("lab-acme") == {"pulumi:providers:proxmoxve::proxmox-dc": "update"}
        lab.up("lab-acme", "--skip-preview")
    assert machines(lab) == before


def test_tokens_that_leaked_and_were_revoked_at_once_are_made_anew_and_no_machine_notices(lab: EngineLab) -> None:
    """A tenant's Proxmox VE token and its Hetzner token, with rotation 1 in the file again."""
    before, known = machines(lab), credentials(lab)
    (uid, old), hetzner = secret(lab, "hybrid-handover"), "R" * 32 + "t" * 32
    with edit(lab.layout.clouds, DC) as state:
        del state["tokens"]["lab-acme@pve!hybrid-2"]
        state["acls"] = [acl for acl in state["acls"] if acl["who"] != "lab-acme@pve!hybrid-2"]
    with edit(lab.layout.clouds, "hcloud") as state:
        state["projects"]["fsn1-acme"]["token"] = hetzner
    give(lab, {**known, "fsn1": {"acme": hetzner}})
    lab.up("lab", "--skip-preview")
    kubeconfig(lab)
    now, handed = secret(lab, "hybrid-handover")
    assert (now, handed["fsn1.token"]) == (uid, hetzner)
    assert handed["dc.token"].startswith("lab-acme@pve!hybrid=")
    assert handed["dc.token"] != old["dc.token"]
    assert lab.changes("lab-acme") == {
        "pulumi:providers:hcloud::hcloud-fsn1": "update",
        "pulumi:providers:proxmoxve::proxmox-dc": "update",
    }
    lab.up("lab-acme", "--skip-preview")
    for stack in STACKS:
        lab.unchanged(stack)
    assert machines(lab) == before


def test_what_is_wrong_with_credentials_is_said_without_them(lab: EngineLab) -> None:
    known = credentials(lab)
    short = {**known, "fsn1": {"acme": known["fsn1"]["acme"][:-1]}, "lab": known["lab"]["token"]}
    give(lab, short)
    for command in (("preview",), ("up", "--yes", "--skip-preview")):
        done = lab.pulumi("lab", *command)
        assert done.code != 0
        for line in ("credentials.fsn1.acme: ", "[NOT_A_TOKEN]", "credentials.lab: ", "[MISSING_CREDENTIALS]"):
            assert line in done.output
    give(lab, known)


def fault(lab: EngineLab, endpoint: str, call: str) -> None:
    order = [{"endpoint": endpoint, "call": call, "times": 1, "how": "error"}]
    (lab.layout.clouds / "faults.json").write_text(json.dumps(order))


def test_no_secret_stands_in_the_clear_in_states_plans_outputs_logs_and_temporary_files(
    lab: EngineLab, tmp_path: Path
) -> None:
    temporary, plans = tmp_path / "tmp", tmp_path / "plans"
    temporary.mkdir()
    plans.mkdir()
    where = {"TMPDIR": str(temporary)}
    for stack in STACKS:
        plan = ("--save-plan", str(plans / f"{stack}.json"))
        for command in (
            ("preview", "--diff", "--show-reads", *plan),
            ("stack", "export", "--file", str(plans / f"{stack}.export")),
            ("stack", "output"),
        ):
            assert lab.pulumi(stack, *command, environment=where).code == 0
        render = [sys.executable, "-m", "manifests", "render", stack, "--out", str(plans / stack)]
        subprocess.run(render, cwd=lab.layout.project, check=True, capture_output=True)
    with lab.edited("lab-globex", ("replicas: 2", "replicas: 3")):
        fault(lab, LAB, "config_put")
        loud = ("up", "--yes", "--skip-preview", "--logtostderr", "-v=9")
        assert lab.pulumi("lab-globex", *loud, environment=where).code != 0
        lab.up("lab-globex", "--skip-preview")
    lab.up("lab-globex", "--skip-preview")
    fault(lab, DC, "access")
    assert lab.pulumi("lab", "up", "--yes", "--skip-preview", environment=where).code != 0
    lab.unchanged("lab")
    assert leaks(lab, secrets_of(lab), temporary, plans) == []


def test_seeds_are_gone_after_runs_that_went_well_and_runs_that_failed(lab: EngineLab) -> None:
    assert seeds_left(lab) == []
    assert list(lab.layout.clouds.rglob("*.iso"))  # they were made, and uploaded


def test_what_is_searched_for_is_found_in_every_form(lab: EngineLab, tmp_path: Path) -> None:
    known = secrets_of(lab)
    kinds = ("credentials of", "token lab-acme@pve", "passphrase of", "token of kubeconfig-lab-acme", "seed ")
    assert all(any(what.startswith(kind) for what in known) for kind in kinds), sorted(known)
    token = known["credentials of fsn1/acme"]
    for index, form in enumerate(set(forms(token))):
        (tmp_path / str(index)).write_bytes(b"x" + form + b"y")
    found = leaks(lab, {"planted": token}, tmp_path)
    assert len(found) == len(list(tmp_path.iterdir()))
