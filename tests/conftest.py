"""What all tests share: where the upstream CRDs are, and the lab's tools, built while the fast tests run."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from lab import toolchain

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
CRDS = SHARED / "crds" / "capi-1.10"
REQUIRED = "HYBRID_SHARED_REQUIRED"
SLOW = (
    "tests/ci/",
    "tests/components/test_changes.py",
    "tests/components/test_policy_pack.py",
    "tests/components/test_properties.py",
    "tests/components/test_templates.py",
    "tests/guard/",
    "tests/lab/clouds/test_plugin.py",
    "tests/lab/test_language_host.py",
    "tests/manifests/test_guard_cases.py",
    "tests/manifests/test_guard_offline.py",
    "tests/manifests/test_properties.py",
    "tests/manifests/test_render_guard.py",
    "tests/operations/test_tokens.py",
    "tests/policy/test_differential.py",
    "tests/policy/test_mutation.py",
    "tests/policy/test_unknowns.py",
    "tests/settings/test_properties.py",
)
"""What needs no lab and is too long for `make test-fast`: the whole guard, properties, what starts processes."""

# Two noisy cores: a slow example is no finding, a wrong one is.
settings.register_profile("project", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fast", settings.get_profile("project"), max_examples=20)
settings.load_profile("project")


class Build(threading.Thread):
    """Makes the lab's tools in the background; `wait` gives them, or the reason why not."""

    def __init__(self, *names: str, after: Build | None = None) -> None:
        """Begin with no error; without names with all tools that the lab runs."""
        super().__init__(daemon=True)
        self.error: Exception | None = None
        self._names = names
        self._after = after

    def run(self) -> None:
        """Build, not beside the builds that come before."""
        if self._after:
            self._after.join()
        try:
            toolchain.build(self._names, report=lambda _: None)
        except Exception as error:  # noqa: BLE001 - shown by every test that needs the tools
            self.error = error

    def wait(self) -> None:
        """Wait for the end, and fail the test that needs the tools where there was an error."""
        self.join()
        if self.error is not None:
            pytest.fail(f"the lab's tools could not be built: {self.error}", pytrace=False)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run what needs the lab last, while its tools are built."""
    items.sort(key=lambda item: item.get_closest_marker("lab") is not None)
    for item in items:
        if str(item.path.relative_to(ROOT)).startswith(SLOW):
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("shared") and not CRDS.is_dir():
            if os.environ.get(REQUIRED):
                item.add_marker(pytest.mark.usefixtures("_shared_is_missing"))
            else:
                item.add_marker(pytest.mark.skip("the upstream CRDs are not beside the project"))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Begin to build as soon as it is known that something needs it."""
    if any(item.get_closest_marker("lab") for item in session.items):
        session.config.stash[BUILD] = Build()
        session.config.stash[BUILD].start()
    for name, key, after in (("actionlint", ACTIONLINT, None), ("chainsaw", CHAINSAW, BUILD)):
        if any(name in getattr(item, "fixturenames", ()) for item in session.items):
            session.config.stash[key] = Build(name, after=session.config.stash.get(after, None) if after else None)
            session.config.stash[key].start()


BUILD = pytest.StashKey[Build]()
ACTIONLINT = pytest.StashKey[Build]()
CHAINSAW = pytest.StashKey[Build]()


@pytest.fixture
def _shared_is_missing() -> None:
    pytest.fail(f"{REQUIRED} is set, and the upstream CRDs are not beside the project", pytrace=False)


@pytest.fixture(scope="session")
def tools(pytestconfig: pytest.Config) -> None:
    """Wait until the lab's tools are there."""
    pytestconfig.stash[BUILD].wait()


@pytest.fixture(scope="session")
def chainsaw(pytestconfig: pytest.Config) -> Path:
    """Wait until Chainsaw is there, and give its file; only the tests that ask for it need it."""
    pytestconfig.stash[CHAINSAW].wait()
    return toolchain.tool("chainsaw")


@pytest.fixture(scope="session")
def actionlint(pytestconfig: pytest.Config) -> Path:
    """Wait until actionlint is there (it builds in seconds), and give its file."""
    pytestconfig.stash[ACTIONLINT].wait()
    return toolchain.tool("actionlint")


@pytest.fixture(scope="session")
def crds() -> Path | None:
    """Give the upstream CRDs, or None: then the lab's permissive ones are used."""
    return CRDS if CRDS.is_dir() else None
