"""The datawarp backend keeps the promise on a real Slurm with its own plugin."""

from __future__ import annotations

import types
from collections.abc import Iterator

import pytest

from pegasus_bb.testbed.home import Home
from tests.reservation import contract
from tests.reservation.contract import Contract
from tests.testbed.slurm_site import ContractBench, on_slurm

pytestmark = [pytest.mark.site, on_slurm("22.05", "24.11")]


@pytest.fixture
def bench(home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[ContractBench]:
    import time

    # A real scheduler takes seconds where the fake one takes none.
    patient = types.SimpleNamespace(time=time.time, sleep=lambda _: time.sleep(0.2))
    monkeypatch.setattr(contract, "time", patient)
    bench = ContractBench(home)
    yield bench
    bench.close()


class TestDataWarpOnSlurm(Contract):
    """The contract suite."""
