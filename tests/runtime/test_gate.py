"""The gate: ready only when it is, not yet while it may be, failed where it cannot."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

from pegasus_bb.model.reservation import Request, Reservation, State, Status
from pegasus_bb.runtime import reservation_identity
from pegasus_bb.runtime.backends.base import Listing
from pegasus_bb.runtime.backends.folder_tier import FolderBackend
from tests.support.run_programs import NAME, Run


def test_polling_changes_nothing(run: Run) -> None:
    run.setup()
    run.gate()
    before = {p: p.read_bytes() for p in run.root.rglob("*") if p.is_file()}
    run.gate()
    assert {p: p.read_bytes() for p in run.root.rglob("*") if p.is_file()} == before


def test_one_question_to_the_scheduler_per_poll(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run.change(delay="1h")
    run.setup()
    asked: list[str] = []
    real = FolderBackend.list_reservations

    def counted(self: FolderBackend, requests: Sequence[Request]) -> Listing:
        asked.extend(request.name for request in requests)
        return real(self, requests)

    monkeypatch.setattr(FolderBackend, "list_reservations", counted)
    run.gate()
    assert asked == [NAME]


@pytest.mark.parametrize("program", ["create", "status"])
def test_held_fails_at_once(run: Run, program: str) -> None:
    run.change(fail=f"{program}: held by Slurm: device busy")
    run.setup()
    assert run.gate() == 76
    assert "held by Slurm: device busy" in run.said


# -- the deadline


def test_the_deadline_counts_from_the_first_poll_of_this_wait(run: Run) -> None:
    run.change(delay="1h", wait=600)
    run.setup()
    for _ in range(3):
        assert run.gate() == 75
        assert run.said.startswith("gate: not yet: ")
    run.write("gate.json", {"since": time.time() - 601})
    assert run.gate() == 77
    assert "did not come up within 10 min" in run.said
    assert run.gate() == 75  # a rescue run waits afresh


def test_the_deadline_holds_before_setup_asked_too(run: Run) -> None:
    run.change(wait=0)
    assert run.gate() == 77


# -- no answer is neither up nor gone


def test_unreachable_until_the_deadline_is_78(run: Run) -> None:
    run.change(fail="status: unreachable", wait=600)
    run.setup()
    assert run.gate() == 75
    run.write("gate.json", {"since": time.time() - 601})
    assert run.gate() == 78
    assert not run.has("gate.json")


def test_unreachable_after_it_was_up_is_not_gone(run: Run) -> None:
    run.setup()
    run.gate()
    run.change(fail="status: unreachable")
    assert run.gate() == 75


# -- gone


def test_absent_after_it_was_up_is_gone_at_once(run: Run) -> None:
    run.setup()
    assert run.gate() == 0
    run.vanish()
    assert run.gate() == 76
    assert f"pegasus-bb run --restart {run.submit}" in run.said


# -- up, but not what was asked for


NOTED = Reservation(NAME, "datawarp", "uuid", requested_at=10_000.0, owner="wfuser")


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (Status(State.READY, uuid="other"), "run other"),
        (Status(State.READY, owner="otheruser"), "otheruser"),
        (Status(State.READY, size=5), "less than"),
        (Status(State.READY, created=9_000.0), "left over"),
        (Status(State.READY, owner="wfuser", size=1 << 30, created=9_999.0), ""),
        (Status(State.READY), ""),
    ],
)
def test_owner_size_and_age_are_compared_with_what_was_asked(
    run: Run, status: Status, why: str
) -> None:
    request = run.request._replace(uuid="uuid")
    said = reservation_identity.mismatch(status, request, NOTED)
    assert why in said
    assert bool(why) == bool(said)
