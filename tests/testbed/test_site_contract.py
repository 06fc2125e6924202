"""The datawarp backend keeps the promise on a real Slurm with its own plugin."""

from __future__ import annotations

import types
from collections.abc import Iterator

import pytest

from pegasus_bb.testbed.home import Home
from tests.reservation import contract
from tests.reservation.contract import Contract
from tests.testbed.site_hands import EACH, SlurmBench

pytestmark = [pytest.mark.site, pytest.mark.parametrize(**EACH)]


@pytest.fixture
def bench(home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[SlurmBench]:
    import time

    # A real scheduler takes seconds where the fake one takes none.
    patient = types.SimpleNamespace(time=time.time, sleep=lambda _: time.sleep(0.2))
    monkeypatch.setattr(contract, "time", patient)
    bench = SlurmBench(home)
    yield bench
    bench.close()


class TestDataWarpOnSlurm(Contract):
    """The contract suite."""
