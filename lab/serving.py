"""Serve one plugin of the engine over gRPC until the engine ends."""

import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import FrameType

import grpc  # type: ignore[import-untyped]  # grpcio ships no types

# The SDK's own limit; the default of 4 MiB is too small for a large stack.
_MESSAGE_BYTES = 400 * 1024 * 1024
OPTIONS = [
    ("grpc.max_receive_message_length", _MESSAGE_BYTES),
    ("grpc.max_send_message_length", _MESSAGE_BYTES),
    ("grpc.server_max_unrequested_time_in_server", 30 * 60),
]
_PARENT_CHECK_SECONDS = 1.0


def serve(register: Callable[[grpc.Server], None], *, threads: int, on_end: Callable[[], None] | None = None) -> None:
    """Serve what `register` adds, on a free loopback port that is printed as the engine expects it.

    Ends at SIGINT or SIGTERM, and when the engine is gone without a word (killed), so that nothing is left running.
    """
    server = grpc.server(ThreadPoolExecutor(max_workers=threads), options=OPTIONS)
    register(server)
    port = server.add_insecure_port("127.0.0.1:0")
    done = threading.Event()

    def stop(_signal: int, _frame: FrameType | None) -> None:
        done.set()

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    engine = os.getppid()
    server.start()
    print(port, flush=True)
    while os.getppid() == engine and not done.wait(_PARENT_CHECK_SECONDS):
        pass
    if on_end is not None:
        on_end()
    server.stop(grace=0)
    # A call that still waits would keep its thread, and so the process, alive.
    os._exit(0)
