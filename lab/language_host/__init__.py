"""The lab's own Python language host, for machines that have no official `pulumi-language-python`.

The host is not in any package registry, so the lab serves the same gRPC service (`pulumirpc.LanguageRuntime`) with
the SDK's own stubs. Where an official host is on `PATH`, that one is used and this one stays unused.
"""

from lab.language_host.install import install

__all__ = ["install"]
