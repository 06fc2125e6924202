"""How tests are dealt to the workers of `pytest -n`."""

from __future__ import annotations

from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from pegasus_bb.testbed.flavour import DEFAULT, FLAVOURS


class Dealer(LoadScopeScheduling):  # type: ignore[misc,unused-ignore]
    """Each test by itself; those on one testbed, which take turns, to one worker.

    They are dealt first: mostly they wait. (pytest-xdist's own `loadgroup` does nothing
    with a pytest that keeps node ids to itself.)
    """

    def _split_scope(self, nodeid: str) -> str:
        if "/test_site_" not in nodeid:
            return nodeid
        named = (slurm for slurm in FLAVOURS if f"[{slurm}" in nodeid)
        return f"testbed {next(named, DEFAULT.slurm)}"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Dealer:
    """Called by pytest-xdist, whatever its --dist says."""
    return Dealer(config, log)
