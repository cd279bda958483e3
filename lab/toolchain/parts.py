"""The lab's tools: what each is, where its version is pinned, and how it is built.

A new tool is one folder (`go.mod`, `go.sum`, and a `main.go` only where upstream's own main can not be built from
its module) and one row in `PARTS`. A new version: `go get -tool PACKAGE@VERSION` in the folder (`go get` where there
is a `main.go`); for Kubernetes first write the new version into the `replace` lines, one for each module that
k8s.io/kubernetes' own `go.mod` replaces by `./staging`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Part:
    """One tool.

    `variables` are Go string variables that the linker sets; `{version}`, `{major}` and `{minor}` stand for the
    version without `v`. `assets` are files of the module that the folder's `main.go` embeds; they are copied beside
    it at build time because they are too large to keep here.
    """

    name: str
    module: str
    """The Go module whose version in `go.mod` is the pin."""
    package: str
    """What `go build` builds: a package path, or `.` for the folder's own `main.go`."""
    seconds: int
    """About how long a first build takes on two cores, downloads aside."""
    variables: tuple[tuple[str, str], ...] = ()
    ask: tuple[str, ...] = ()
    """Arguments that make the tool print its version; empty for a plugin, which lies in Pulumi's plugin cache."""
    assets: tuple[str, ...] = ()
    version: str | None = None
    """The version that the tool reports, where that is not the module's."""
    after: str | None = None
    """A part that compiles mostly the same packages: built first, so that Go's cache has them."""
    go: str | None = None
    """The Go release that compiles it, where a newer one does not: the `go` command fetches it as a Go module."""
    only_tests: bool = False
    """Whether the lab runs without it: built only where it is asked for by name."""

    @property
    def folder(self) -> Path:
        """Where the part's `go.mod` lies."""
        return FOLDER / self.name


_KUBE_VERSION = (
    ("k8s.io/component-base/version.gitVersion", "v{version}"),
    ("k8s.io/component-base/version.gitMajor", "{major}"),
    ("k8s.io/component-base/version.gitMinor", "{minor}"),
)

PARTS: tuple[Part, ...] = (
    Part(
        name="pulumi",
        module="github.com/pulumi/pulumi/pkg/v3",
        package="github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
        seconds=240,
        variables=(("github.com/pulumi/pulumi/sdk/v3/go/common/version.Version", "v{version}"),),
        ask=("version",),
    ),
    Part(
        name="pulumi-resource-kubernetes",
        module="github.com/pulumi/pulumi-kubernetes/provider/v4",
        package=".",
        seconds=540,
        variables=(("github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version.Version", "{version}"),),
        assets=(
            "cmd/pulumi-resource-kubernetes/schema.json",
            "cmd/pulumi-resource-kubernetes/terraform-mapping.json",
        ),
        version="4.34.2",  # the module is served without release tags, as a pseudo-version only
    ),
    Part(
        name="etcd",
        module="go.etcd.io/etcd/server/v3",
        package="go.etcd.io/etcd/server/v3",
        seconds=60,
        ask=("--version",),
    ),
    Part(
        name="kube-apiserver",
        module="k8s.io/kubernetes",
        package="k8s.io/kubernetes/cmd/kube-apiserver",
        seconds=300,
        variables=_KUBE_VERSION,
        ask=("--version",),
    ),
    Part(
        name="kube-controller-manager",
        module="k8s.io/kubernetes",
        package="k8s.io/kubernetes/cmd/kube-controller-manager",
        seconds=80,
        variables=_KUBE_VERSION,
        ask=("--version",),
        after="kube-apiserver",
    ),
    Part(
        name="chainsaw",
        module="github.com/kyverno/chainsaw",
        package="github.com/kyverno/chainsaw",
        seconds=240,
        variables=(("github.com/kyverno/chainsaw/pkg/version.BuildVersion", "v{version}"),),
        ask=("version",),
        go="go1.25.5",  # its dependencies do not compile with 1.26
        only_tests=True,
    ),
    Part(
        name="actionlint",
        module="github.com/rhysd/actionlint",
        package="github.com/rhysd/actionlint/cmd/actionlint",
        seconds=20,
        variables=(("github.com/rhysd/actionlint.version", "{version}"),),
        ask=("-version",),
        only_tests=True,
    ),
)

LAB = tuple(part for part in PARTS if not part.only_tests)
"""What the lab runs."""


def part(name: str) -> Part:
    """Return the part of that name; `KeyError` names the ones that exist."""
    for each in PARTS:
        if each.name == name:
            return each
    message = f"no lab tool is called {name}; there are {', '.join(each.name for each in PARTS)}"
    raise KeyError(message)
