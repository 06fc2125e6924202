"""A backend whose calls fail, or whose reservations are late, as its tier asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.core.errors import ReservationFailed, SchedulerUnreachable, UsageError
from pegasus_bb.model.reservation import State
from pegasus_bb.runtime.backends.backend_table import open_backend
from pegasus_bb.runtime.backends.base import Backend
from tests.support.backend_contract import REQUEST


def backend(root: Path, **faults: str) -> Backend:
    return open_backend("directory", {"path": f"{root}/tier", **faults})


def test_a_reservation_is_pending_until_its_delay_is_over(tmp_path: Path) -> None:
    late = backend(tmp_path, delay="1h")
    late.create(REQUEST)
    assert late.status(REQUEST).state is State.PENDING
    [row] = late.list_reservations([]).rows
    assert row.status.state is State.PENDING
    with pytest.raises(ReservationFailed, match="pending"):
        late.path(REQUEST, {})
    at_once = backend(tmp_path, delay="0.000001")
    assert at_once.status(REQUEST).state is State.READY
    assert at_once.path(REQUEST, {}) == f"{tmp_path}/tier/{REQUEST.name}"


def test_a_fault_can_withhold_an_answer_or_lose_the_reservation(tmp_path: Path) -> None:
    settings = {"fail": "status*1: unreachable; status+2: gone; delete*1: unreachable"}
    silent = backend(tmp_path, **settings)
    silent.create(REQUEST)
    states = [backend(tmp_path, **settings).status(REQUEST).state for _ in range(3)]
    assert states == [State.UNKNOWN, State.READY, State.ABSENT]
    with pytest.raises(SchedulerUnreachable):
        silent.delete(REQUEST)


def test_a_request_that_is_held(tmp_path: Path) -> None:
    held = backend(tmp_path, fail="status: held: no space left; delete: busy")
    held.create(REQUEST)
    status = held.status(REQUEST)
    assert (status.state, status.message) == (State.FAILED, "held: no space left")
    with pytest.raises(ReservationFailed, match="busy"):
        held.delete(REQUEST)
    assert (tmp_path / "tier" / REQUEST.name).exists()


@pytest.mark.parametrize("fail", ["explode", "grant: no", "status*x: gone", "create:"])
def test_a_fault_that_cannot_be_read_is_refused(tmp_path: Path, fail: str) -> None:
    with pytest.raises(UsageError, match="write CALL: WORDS"):
        backend(tmp_path, fail=fail)
