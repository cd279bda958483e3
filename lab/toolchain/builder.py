"""Build what is not installed, once per machine, in parallel where cores and memory allow."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lab.toolchain import golang, locate, pins
from lab.toolchain.parts import LAB, part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from lab.toolchain.parts import Part

_BYTES_PER_BUILD = 5 * 1024**3  # linking the Kubernetes provider was seen to take 4 GB
_TAIL_LINES = 25


class BuildError(RuntimeError):
    """A build failed; the message has the end of Go's own output."""


def build(names: Iterable[str] = (), *, jobs: int | None = None, report: Callable[[str], None] = print) -> None:
    """Make the named tools (by default all that the lab runs) available, building those that are not.

    `report` gets one line per step. Raises `golang.GoError` before any work if Go is missing or too old, and
    `BuildError` after all builds ended if some failed.
    """
    wanted = [part(name) for name in names] or list(LAB)
    missing = []
    for each in wanted:
        found = locate.find(each.name)
        if found is None:
            missing.append(each)
        else:
            report(f"{each.name} {pins.version(each)}: {found.origin}, {found.file}")
    if not missing:
        return
    golang.check(missing)
    lanes = plan(missing)
    workers = jobs or parallel(len(lanes))
    with ThreadPoolExecutor(max_workers=max(1, workers)) as pool:
        errors = [error for lane in pool.map(lambda lane: _lane(lane, report), lanes) for error in lane]
    if errors:
        raise BuildError("\n\n".join(errors))


def plan(parts: Sequence[Part]) -> list[list[Part]]:
    """Group parts into lanes that may run side by side, the longest first; within a lane the order counts."""
    lanes: dict[str, list[Part]] = {}
    for each in sorted(parts, key=lambda each: each.after is not None):
        lanes.setdefault(each.after or each.name, []).append(each)
    return sorted(lanes.values(), key=lambda lane: -sum(each.seconds for each in lane))


def parallel(lanes: int) -> int:
    """Return how many builds to run at the same time here."""
    return max(1, min(lanes, os.cpu_count() or 1, _memory() // _BYTES_PER_BUILD))


def _memory() -> int:
    """Bytes of memory that builds may use; a container's limit counts."""
    free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    meminfo, limit = Path("/proc/meminfo"), Path("/sys/fs/cgroup/memory.max")
    if meminfo.exists():
        values = dict(line.split(":", 1) for line in meminfo.read_text().splitlines())
        free = int(values["MemAvailable"].split()[0]) * 1024
    if limit.exists() and (text := limit.read_text().strip()).isdigit():
        free = min(free, int(text))
    return free


def _lane(lane: list[Part], report: Callable[[str], None]) -> list[str]:
    errors = []
    for each in lane:
        try:
            _build(each, report)
        except (BuildError, OSError) as error:
            report(f"{each.name} could not be built")
            errors.append(f"{each.name}: {error}")
    return errors


def _build(wanted: Part, report: Callable[[str], None]) -> None:
    target = locate.cache() / pins.key(wanted)
    target.parent.mkdir(parents=True, exist_ok=True)
    with _lock(target.with_name(f"{target.name}.lock"), wanted, report):
        if locate.built_file(wanted).is_file():
            report(f"{wanted.name}: another run has built it")
            return
        work = target.with_name(f"{target.name}.building")
        shutil.rmtree(work, ignore_errors=True)  # of a run that was killed: the lock says that nobody uses it
        report(f"building {wanted.name} {pins.version(wanted)} (about {_about(wanted.seconds)}) ...")
        start = time.monotonic()
        try:
            file = _compile(wanted, work)
            size = file.stat().st_size // 1024**2
            shutil.rmtree(work / "src")
            shutil.rmtree(target, ignore_errors=True)
            work.rename(target)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        report(f"{wanted.name} built in {time.monotonic() - start:.0f} s ({size} MB)")


def _compile(wanted: Part, work: Path) -> Path:
    source, file = work / "src", work / "bin" / wanted.name
    source.mkdir(parents=True)
    file.parent.mkdir()
    for name in ("go.mod", "go.sum", "main.go"):
        if (wanted.folder / name).exists():
            shutil.copyfile(wanted.folder / name, source / name)
    if wanted.assets:
        module = Path(json.loads(_go(source, wanted, "mod", "download", "-json", wanted.module))["Dir"])
        for asset in wanted.assets:
            shutil.copyfile(module / asset, source / Path(asset).name)
    flags = ["-ldflags", pins.linker_flags(wanted), "-o", str(file)]
    _go(source, wanted, "build", *pins.BUILD_FLAGS, *flags, wanted.package)
    return file


def _go(folder: Path, wanted: Part, *arguments: str) -> str:
    # Without cgo no C compiler is needed, and the result does not hang on the machine's libraries.
    environment = os.environ | {"CGO_ENABLED": "0", "GOWORK": "off"}
    if wanted.go:
        environment["GOTOOLCHAIN"] = wanted.go
    done = subprocess.run(["go", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        tail = "\n".join(f"  {line}" for line in (done.stderr or done.stdout).splitlines()[-_TAIL_LINES:])
        message = f"`go {arguments[0]}` failed:\n{tail}"
        raise BuildError(message)
    return done.stdout


@contextmanager
def _lock(file: Path, wanted: Part, report: Callable[[str], None]) -> Iterator[None]:
    with file.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report(f"{wanted.name}: another run is building it, waiting ...")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _about(seconds: int) -> str:
    minute = 60
    return f"{round(seconds / minute)} min" if seconds >= minute else f"{seconds} s"
