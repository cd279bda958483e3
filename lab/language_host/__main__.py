"""`python -m lab.language_host [flags] ENGINE_ADDRESS`: serve until the engine ends."""

import sys

from pulumi.runtime.proto import language_pb2_grpc

from lab.language_host.children import Children
from lab.language_host.service import LanguageHost
from lab.serving import serve

# Each Run and RunPlugin call holds a thread for as long as its process lives: one program and a few policy packs.
_THREADS = 32


def main() -> None:
    """Serve the language host; the engine's address is the last argument."""
    arguments = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    if not arguments:
        sys.exit("pulumi-language-python (the lab's) is started by the Pulumi engine, with the engine's address")
    children = Children()
    host = LanguageHost(arguments[-1], children)
    serve(
        lambda server: language_pb2_grpc.add_LanguageRuntimeServicer_to_server(host, server),
        threads=_THREADS,
        on_end=children.kill_all,
    )


if __name__ == "__main__":
    main()
