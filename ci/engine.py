"""Run the engine for one stack in a written tree, with that tree's own policy pack and the config made by its code."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ci.problems import CiError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_WORDS = {"preview": (), "up": ("--yes", "--suppress-outputs")}


@dataclass(frozen=True)
class Run:
    """One run: a stack in a tree, with the folder that is removed afterwards and the environment of each child."""

    stack: str
    tree: Path
    work: Path
    plain: Mapping[str, str]
    engine: Mapping[str, str]


def policy_config(run: Run) -> Path:
    """Write the pack's config from the tree's environment file; raises CiError with why it can not be."""
    file = run.work / f"policy-config-{run.stack}.json"
    environment = run.stack.partition("-")[0]
    done = subprocess.run(  # noqa: S603 - this interpreter
        [sys.executable, "-m", "manifests", "policy-config", environment, "--stacks", "stacks", "--out", str(file)],
        cwd=run.tree,
        env=run.plain,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        message = f"the policy pack's config of {environment} can not be made:\n{done.stdout}{done.stderr}".rstrip()
        raise CiError(message)
    return file


def pulumi(command: Literal["preview", "up"], run: Run) -> int:
    """Run the engine and let it print; give its exit code. It is never killed: it ends what it has begun."""
    program = shutil.which("pulumi", path=run.engine["PATH"])
    if program is None:
        message = "the Pulumi CLI is not on PATH"
        raise CiError(message)
    config = policy_config(run)
    words = [program, command, *_WORDS[command], "--non-interactive", "--color", "never", "--stack", run.stack]
    words += ["--policy-pack", str(run.tree / "policy"), "--policy-pack-config", str(config)]
    sys.stdout.flush()
    with subprocess.Popen(words, cwd=run.tree, env=run.engine, stdin=subprocess.DEVNULL) as running:  # noqa: S603 - found above
        try:
            return running.wait()
        except KeyboardInterrupt:  # the terminal told the engine too, and a second time would end it at once
            return running.wait()
        except SystemExit:
            running.terminate()
            running.wait()
            raise
