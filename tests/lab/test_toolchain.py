"""Pins, keys, version matching, and building with a stand-in for the `go` command."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from lab import toolchain
from lab.toolchain import builder, golang, locate, parts, pins

ROOT = Path(__file__).parents[2]
GO_MOD = """module lab/example

go 1.26.6

tool example.org/tool/cmd/tool

require example.org/single v0.2.0

replace (
\texample.org/other => example.org/fork v9.9.9
)

require (
\texample.org/tool v1.2.3 // indirect
\texample.org/tool/sub v1.0.0-20260115033456-f47bc2d6f199 // indirect
)
"""
FAKE_GO = """#!/bin/sh
echo "$1" >> "{calls}"
case "$1" in
  env) echo {release}; echo local ;;
  mod) echo '{{"Dir": "{module}"}}' ;;
  build)
    sleep {seconds}
    while [ "$1" != -o ]; do shift; done
    echo built > "$2"
    echo "line of the compiler" >&2
    exit {code} ;;
esac
"""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a machine without tools: PATH is `bin` and the shell's own, caches are empty."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PULUMI_HOME", str(tmp_path / "pulumi"))
    return tmp_path


def program(file: Path, text: str) -> Path:
    file.write_text(text)
    file.chmod(0o755)
    return file


def go(machine: Path, *, release: str = "go1.26.8", code: int = 0, seconds: float = 0) -> Path:
    """Put a `go` on the machine's PATH that writes a file instead of compiling; return the list of its calls."""
    calls, module = machine / "calls", machine / "module"
    for asset in parts.part("pulumi-resource-kubernetes").assets:
        (module / asset).parent.mkdir(parents=True, exist_ok=True)
        (module / asset).write_text("{}")
    values = {"calls": calls, "release": release, "module": module, "seconds": seconds, "code": code}
    program(machine / "bin" / "go", FAKE_GO.format(**values))
    calls.touch()
    return calls


@pytest.mark.parametrize(
    ("module", "version"),
    [
        ("example.org/single", "v0.2.0"),
        ("example.org/tool", "v1.2.3"),
        ("example.org/tool/sub", "v1.0.0-20260115033456-f47bc2d6f199"),
    ],
)
def test_a_version_is_read_from_single_and_grouped_requirements(module: str, version: str) -> None:
    assert pins.required_version(GO_MOD, module) == version


@pytest.mark.parametrize("module", ["example.org/fork", "example.org/other", "example.org/too"])
def test_replacements_and_parts_of_names_are_no_requirements(module: str) -> None:
    with pytest.raises(ValueError, match=f"does not require {module}"):
        pins.required_version(GO_MOD, module)


def test_the_lowest_go_release_is_the_go_line() -> None:
    assert pins.go_release(GO_MOD) == (1, 26, 6)
    with pytest.raises(ValueError, match="no go line"):
        pins.go_release("module lab/example\n")


def test_the_pinned_versions_are_the_ones_that_the_lab_was_tried_with() -> None:
    assert {part.name: pins.version(part) for part in toolchain.PARTS} == {
        "pulumi": "3.274.1",
        "pulumi-resource-kubernetes": "4.34.2",
        "etcd": "3.6.16",
        "kube-apiserver": "1.36.3",
        "kube-controller-manager": "1.36.3",
        "chainsaw": "0.2.12",
        "actionlint": "1.7.12",
    }


def test_the_kubernetes_plugin_reports_the_version_of_the_installed_sdk() -> None:
    pinned = re.search(r"^pulumi-kubernetes==(\S+)$", (ROOT / "requirements.in").read_text(), re.MULTILINE)
    assert pinned is not None
    assert pins.version(parts.part("pulumi-resource-kubernetes")) == pinned[1]


@pytest.mark.parametrize("part", toolchain.PARTS, ids=lambda part: part.name)
def test_every_part_has_the_checksums_of_its_module(part: parts.Part) -> None:
    pinned = pins.required_version((part.folder / "go.mod").read_text(), part.module)
    assert f"{part.module} {pinned} h1:" in (part.folder / "go.sum").read_text()
    assert (part.package == ".") == (part.folder / "main.go").exists()


def test_the_linker_flags_carry_version_major_and_minor() -> None:
    flags = pins.linker_flags(parts.part("kube-apiserver"))
    assert flags.startswith("-s -w ")
    assert "-X k8s.io/component-base/version.gitVersion=v1.36.3" in flags
    assert "-X k8s.io/component-base/version.gitMajor=1 " in flags
    assert flags.endswith("-X k8s.io/component-base/version.gitMinor=36")


def test_a_key_changes_with_every_file_and_flag_and_with_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "etcd"
    folder.mkdir()
    for name in ("go.mod", "go.sum"):
        (folder / name).write_bytes((parts.part("etcd").folder / name).read_bytes())
    part = parts.part("etcd")
    committed = pins.key(part)
    monkeypatch.setattr(parts, "FOLDER", tmp_path)
    assert pins.key(part) == committed
    (folder / "README").write_text("not a pin")
    assert pins.key(part) == committed
    assert re.fullmatch(r"etcd-[0-9a-f]{16}", committed)
    changed = (replace(part, variables=(("a.B", "v{version}"),)), replace(part, package="."))
    seen = {committed, *(pins.key(each) for each in changed)}
    for name in ("go.mod", "go.sum", "main.go"):
        with (folder / name).open("a") as file:
            file.write("// more\n")
        seen.add(pins.key(part))
    assert len(seen) == 6


@pytest.mark.parametrize(
    ("output", "pinned", "same"),
    [
        ("v3.274.1\n", "3.274.1", True),
        ("etcd Version: 3.6.16\nGit SHA: abc\n", "3.6.16", True),
        ("Kubernetes v1.36.3\n", "1.36.3", True),
        ("Kubernetes v1.36.31\n", "1.36.3", False),
        ("Kubernetes v11.36.3\n", "1.36.3", False),
        ("Kubernetes v1.36.3.1\n", "1.36.3", False),
        ("Kubernetes v1.36.3-rc.1\n", "1.36.3", False),
        ("Kubernetes v1.36.3+dirty\n", "1.36.3", False),
        ("Kubernetes v1x36x3\n", "1.36.3", False),
        ("", "1.36.3", False),
    ],
)
def test_only_exactly_the_pinned_version_counts(output: str, pinned: str, *, same: bool) -> None:
    assert pins.says(output, pinned) is same


def test_a_tool_on_path_is_used_in_its_pinned_version_only(machine: Path) -> None:
    installed = program(machine / "bin" / "etcd", "#!/bin/sh\necho etcd Version: 3.6.16\n")
    assert toolchain.tool("etcd") == installed
    assert toolchain.search_path(["etcd"]) == ""
    program(installed, "#!/bin/sh\necho etcd Version: 3.6.15\n")
    with pytest.raises(toolchain.ToolMissingError, match=r"etcd 3\.6\.16 is not there yet: run"):
        toolchain.tool("etcd")


def test_a_broken_tool_on_path_counts_as_absent(machine: Path) -> None:
    program(machine / "bin" / "etcd", "#!/bin/sh\necho etcd Version: 3.6.16\nexit 1\n")
    assert toolchain.find("etcd") is None
    program(machine / "bin" / "etcd", "not a program")
    assert toolchain.find("etcd") is None


def test_the_kubernetes_plugin_is_taken_from_pulumis_own_cache(machine: Path) -> None:
    assert toolchain.find("pulumi-resource-kubernetes") is None
    folder = machine / "pulumi" / "plugins" / "resource-kubernetes-v4.34.2"
    folder.mkdir(parents=True)
    plugin = program(folder / "pulumi-resource-kubernetes", "")
    found = toolchain.find("pulumi-resource-kubernetes")
    assert found is not None
    assert (found.file, found.origin) == (plugin, "plugin cache")


def test_an_unknown_tool_is_named_with_the_ones_that_exist() -> None:
    with pytest.raises(KeyError, match="no lab tool is called kubectl; there are pulumi, "):
        toolchain.find("kubectl")


def test_a_missing_go_is_named_with_the_release_that_is_needed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(toolchain.GoError, match=r"Go 1\.26\.0 or newer is needed to build etcd, and no `go`"):
        golang.check([parts.part("etcd")])


@pytest.mark.parametrize(("release", "enough"), [("go1.25.9", False), ("go1.26rc1", False), ("go1.26.0", True)])
def test_a_go_that_is_too_old_is_refused_before_anything_is_built(machine: Path, release: str, *, enough: bool) -> None:
    calls = go(machine, release=release)
    if enough:
        toolchain.build(["etcd"])
        return
    with pytest.raises(toolchain.GoError, match=f"is {release} and GOTOOLCHAIN=local"):
        toolchain.build(["etcd"])
    assert calls.read_text() == "env\n"


def test_the_controller_manager_is_built_after_the_api_server_that_shares_its_packages() -> None:
    lanes = [[part.name for part in lane] for lane in builder.plan(toolchain.LAB)]
    assert lanes == [
        ["pulumi-resource-kubernetes"],
        ["kube-apiserver", "kube-controller-manager"],
        ["pulumi"],
        ["etcd"],
    ]
    assert builder.plan([parts.part("kube-controller-manager")]) == [[parts.part("kube-controller-manager")]]


def test_builds_run_side_by_side_as_cores_and_memory_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    monkeypatch.setattr(builder, "_memory", lambda: 11 * 1024**3)
    assert builder.parallel(4) == 2
    monkeypatch.setattr(builder, "_memory", lambda: 3 * 1024**3)
    assert builder.parallel(4) == 1
    monkeypatch.setattr(builder, "_memory", lambda: 64 * 1024**3)
    assert builder.parallel(4) == 4


def test_what_is_missing_is_built_once_and_then_found(machine: Path) -> None:
    calls = go(machine)
    lines: list[str] = []
    toolchain.build(report=lines.append)
    for part in toolchain.LAB:
        built = machine / "cache" / "hybrid-lab" / pins.key(part) / "bin" / part.name
        assert toolchain.tool(part.name) == built
        assert f"building {part.name} {pins.version(part)} (about " in "\n".join(lines)
        assert re.search(rf"^{part.name} built in \d+ s \(\d+ MB\)$", "\n".join(lines), re.MULTILINE)
    assert toolchain.search_path().count(":") == len(toolchain.LAB) - 1
    before = calls.read_text()
    toolchain.build(report=lines.append)
    assert calls.read_text() == before
    assert {file.name.partition(".")[2] for file in (machine / "cache" / "hybrid-lab").iterdir()} == {"", "lock"}


def test_a_build_that_fails_shows_the_compilers_words_and_leaves_nothing(machine: Path) -> None:
    go(machine, code=1)
    with pytest.raises(toolchain.BuildError, match="etcd: `go build` failed:\n  line of the compiler"):
        toolchain.build(["etcd"])
    assert [file.suffix for file in (machine / "cache" / "hybrid-lab").iterdir()] == [".lock"]
    assert toolchain.find("etcd") is None


def test_the_rest_of_a_killed_build_is_no_obstacle_and_no_tool(machine: Path) -> None:
    work = locate.cache() / f"{pins.key(parts.part('etcd'))}.building"
    (work / "bin").mkdir(parents=True)
    (work / "bin" / "etcd").write_text("half")
    assert toolchain.find("etcd") is None
    go(machine)
    toolchain.build(["etcd"])
    assert toolchain.tool("etcd").read_text() == "built\n"
    assert not work.exists()


def test_two_runs_at_the_same_time_build_once(machine: Path) -> None:
    calls = go(machine, seconds=0.5)
    lines: list[str] = []
    with ThreadPoolExecutor() as pool:
        for run in [pool.submit(toolchain.build, ["etcd"], report=lines.append) for _ in range(2)]:
            run.result()
    assert calls.read_text().split().count("build") == 1
    assert "etcd: another run is building it, waiting ..." in lines
    assert "etcd: another run has built it" in lines


def test_a_tool_that_only_tests_need_is_built_where_it_is_named_with_the_go_that_compiles_it(machine: Path) -> None:
    go(machine, release="go1.26.8")
    toolchain.build()
    with pytest.raises(toolchain.ToolMissingError, match=r"run `python -m lab\.toolchain build chainsaw`"):
        toolchain.tool("chainsaw")
    program(machine / "bin" / "go", (machine / "bin" / "go").read_text().replace("echo built", "echo $GOTOOLCHAIN"))
    toolchain.build(["chainsaw"])
    assert toolchain.tool("chainsaw").read_text() == "go1.25.5\n"


def test_a_part_with_a_go_of_its_own_has_another_key_and_the_others_keep_theirs() -> None:
    chainsaw, etcd = parts.part("chainsaw"), parts.part("etcd")
    assert pins.key(chainsaw) != pins.key(replace(chainsaw, go=None))
    assert pins.key(etcd) == pins.key(replace(etcd, go=None, only_tests=True))
