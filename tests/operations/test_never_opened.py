"""What keeps a tenant's code from being executed is opened by nobody."""

from __future__ import annotations

import pytest

from operations.opening import OpeningError, break_glass
from tests.manifests.examples import environment
from tests.operations.fakes import FakeApi


@pytest.mark.parametrize("mode", ["enforce", "audit"])
def test_the_binding_on_tenants_secrets_is_not_opened(mode: str) -> None:
    api = FakeApi()
    with pytest.raises(OpeningError, match="hybrid-tenant-secrets is never opened"):
        break_glass(api, environment({"management.guard": mode}), zone=None, binding="hybrid-tenant-secrets", why="x")
    assert api.asked == []
