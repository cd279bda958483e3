"""Runs inside the program's own Python: connect the SDK to the engine, then run the program.

Started by file name (`python -u program.py program|module …`), since the program's Python may not see this package.
It does what the official executor does: run errors and exceptions become engine diagnostics, and exit code 32 says
that the user has been told already.
"""

import argparse
import asyncio
import logging
import os
import runpy
import signal
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ALREADY_REPORTED = 32


def die_with_the_host() -> None:
    """End this session when the host is gone, however it went: nobody else would."""
    host = os.getppid()

    def watch() -> None:
        while os.getppid() == host:
            time.sleep(0.5)
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()


def user_trace(program: str) -> str:
    """Return the current exception's trace from the program's first frame on, without this file's own frames."""
    frames = traceback.extract_tb(sys.exc_info()[2])
    start = 0
    for index, frame in enumerate(frames):
        path = Path(frame.filename).resolve()
        # The program's virtualenv often lies in its folder, and is not the program.
        if path.is_relative_to(Path(program).resolve()) and not path.is_relative_to(sys.prefix):
            return traceback.format_exc(limit=index - len(frames))
        if path == Path(__file__).resolve():
            start = index + 1
    return traceback.format_exc(limit=start - len(frames))


def run_program(options: argparse.Namespace) -> int:
    """Run one program against the engine and return the exit code."""
    import pulumi  # noqa: PLC0415 - only after the message for a missing SDK is possible
    import pulumi.runtime  # noqa: PLC0415

    pulumi.runtime.set_all_config(pulumi.runtime.get_config_env(), pulumi.runtime.get_config_secret_keys_env())
    pulumi.runtime.configure(
        pulumi.runtime.Settings(
            project=options.project,
            stack=options.stack,
            organization=options.organization,
            root_directory=options.root_directory,
            parallel=options.parallel,
            dry_run=options.dry_run,
            monitor=options.monitor,
            engine=options.engine,
        )
    )
    program = options.program
    sys.argv = [program, *options.arguments]
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    executor = ThreadPoolExecutor(max_workers=max(options.parallel, 1) * 4)
    loop.set_default_executor(executor)
    # A failed registration leaves futures that nobody awaits; asyncio would complain of each when the loop closes.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    code = 1

    def run() -> None:
        runpy.run_path(program, run_name="__main__")

    try:
        loop.run_until_complete(pulumi.runtime.run_in_stack(run))
        code = 0
    except pulumi.RunError as error:
        pulumi.log.error(str(error))
    except Exception:  # noqa: BLE001 - whatever a program raises is shown by the engine, not by this process
        pulumi.log.error(f"Program failed with an unhandled exception:\n{user_trace(program)}")
        code = ALREADY_REPORTED
    finally:
        executor.shutdown(wait=True)
        loop.close()
        sys.stdout.flush()
        sys.stderr.flush()
    return code


def main() -> None:
    """Run a program, a module (`pulumi.policy` for packs) or a plugin's folder."""
    parser = argparse.ArgumentParser()
    kinds = parser.add_subparsers(dest="kind", required=True)
    program = kinds.add_parser("program")
    for name in ("project", "stack", "organization", "root-directory", "monitor", "engine"):
        program.add_argument(f"--{name}")
    program.add_argument("--parallel", type=int)
    program.add_argument("--dry-run", action="store_true")
    program.add_argument("program")
    program.add_argument("arguments", nargs="*")
    for kind in ("module", "folder"):
        other = kinds.add_parser(kind)
        other.add_argument("target")
        other.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    # Python put this file's folder first on the path, where the official executor's would be. Nothing in it is the
    # program's business.
    sys.path.pop(0)
    die_with_the_host()
    try:
        import pulumi  # noqa: F401, PLC0415
    except ImportError as error:
        print(f"{sys.executable} can't import the Pulumi SDK ({error}); has `make setup` been run?", file=sys.stderr)
        sys.exit(1)
    if options.kind == "program":
        sys.exit(run_program(options))
    sys.argv = [options.target, *options.arguments]
    if options.kind == "module":
        runpy.run_module(options.target, run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(options.target, run_name="__main__")


if __name__ == "__main__":
    main()
