"""The datawarp backend keeps the promise on a real Slurm with its own plugin."""

from __future__ import annotations

import time
import types

import pytest
from pegasus_bb_testbed.home import Home

from testbed.tests.slurm_site import ContractBench, on_slurm
from tests.support import backend_contract
from tests.support.backend_contract import Contract

pytestmark = [pytest.mark.site, on_slurm("22.05")]  # the stories are on 24.11


@pytest.fixture
def bench(home: Home, monkeypatch: pytest.MonkeyPatch) -> ContractBench:
    # A real scheduler takes seconds where the fake one takes none.
    patient = types.SimpleNamespace(time=time.time, sleep=lambda _: time.sleep(0.2))
    monkeypatch.setattr(backend_contract, "time", patient)
    return ContractBench(home, monkeypatch)


class TestDataWarpOnSlurm(Contract):
    """The contract suite."""
