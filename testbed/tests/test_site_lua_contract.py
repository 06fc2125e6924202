"""The slurm-lua backend keeps the promise on a real Slurm and the real service."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pegasus_bb_testbed import site
from pegasus_bb_testbed.home import Home

from testbed.tests.lua_site import ON_LUA, LuaContractBench
from tests.support.backend_contract import Contract

pytestmark = [pytest.mark.site, ON_LUA]


@pytest.fixture
def bench(
    home: Home, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[LuaContractBench]:
    yield LuaContractBench(home, monkeypatch)
    if "without_an_answer" in request.node.name:
        site.start_controller(home)


class TestSlurmLua(Contract):
    """The contract suite."""
