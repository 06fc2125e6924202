"""A backend whose calls fail, or whose reservations are late, as its tier asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.core.errors import SchedulerUnreachable
from pegasus_bb.model.reservation import State
from pegasus_bb.runtime.backends.backend_table import open_backend
from pegasus_bb.runtime.backends.base import Backend
from tests.support.backend_contract import REQUEST


def backend(root: Path, **faults: str) -> Backend:
    return open_backend("directory", {"path": f"{root}/tier", **faults})


def test_a_fault_can_withhold_an_answer_or_lose_the_reservation(tmp_path: Path) -> None:
    settings = {"fail": "status*1: unreachable; status+2: gone; delete*1: unreachable"}
    silent = backend(tmp_path, **settings)
    silent.create(REQUEST)
    states = [backend(tmp_path, **settings).status(REQUEST).state for _ in range(3)]
    assert states == [State.UNKNOWN, State.READY, State.ABSENT]
    with pytest.raises(SchedulerUnreachable):
        silent.delete(REQUEST)
