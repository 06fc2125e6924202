"""The gate: ready only when it is, not yet while it may be, failed where it cannot."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pegasus_bb.model.reservation import Request, Reservation, State, Status
from pegasus_bb.runtime import reservation_identity
from pegasus_bb.runtime.backends.base import Listing
from pegasus_bb.runtime.backends.folder_tier import Directory
from tests.support.run_programs import NAME, Run, words

CHECKOUT = Path(__file__).parent.parent.parent
Captured = pytest.CaptureFixture[str]


def test_ready_in_one_line(run: Run, capsys: Captured) -> None:
    run.setup()
    words(capsys)
    assert run.gate() == 0
    assert words(capsys) == f"gate: reservation {NAME} is ready; in {run.folder()}\n"
    assert not run.has("gate.json")


def test_before_setup_it_is_not_yet(run: Run, capsys: Captured) -> None:
    assert run.gate() == 75
    assert "bb_setup has not asked yet" in words(capsys)
    assert run.has("gate.json")


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
    real = Directory.list_reservations

    def counted(self: Directory, requests: Sequence[Request]) -> Listing:
        asked.extend(request.name for request in requests)
        return real(self, requests)

    monkeypatch.setattr(Directory, "list_reservations", counted)
    run.gate()
    assert asked == [NAME]


@pytest.mark.parametrize("program", ["create", "status"])
def test_held_fails_at_once(run: Run, capsys: Captured, program: str) -> None:
    run.change(fail=f"{program}: held by Slurm: device busy")
    run.setup()
    words(capsys)
    assert run.gate() == 76
    assert "held by Slurm: device busy" in words(capsys)


# -- the deadline


def test_the_deadline_counts_from_the_first_poll_of_this_wait(
    run: Run, capsys: Captured
) -> None:
    run.change(delay="1h", wait=600)
    run.setup()
    assert [run.gate() for _ in range(3)] == [75, 75, 75]
    assert words(capsys).count("gate: not yet: ") == 3
    run.write("gate.json", {"since": time.time() - 601})
    assert run.gate() == 77
    assert "did not come up within 10 min" in words(capsys)
    assert run.gate() == 75  # a rescue run waits afresh


def test_a_gate_that_was_slow_to_look_still_sees_that_it_is_up(run: Run) -> None:
    run.setup()
    run.write("gate.json", {"since": time.time() - 99999})
    assert run.gate() == 0


def test_the_deadline_holds_before_setup_asked_too(run: Run) -> None:
    run.change(wait=0)
    assert run.gate() == 77


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"since": "x"}'])
def test_a_damaged_note_of_the_wait_begins_it_anew(run: Run, text: str) -> None:
    (run.submit / "bb" / "gate.json").write_text(text)
    assert run.gate() == 75
    assert time.time() - run.read("gate.json")["since"] < 60


# -- no answer is neither up nor gone


def test_unreachable_then_ready(run: Run, capsys: Captured) -> None:
    run.change(fail="status*2: unreachable")
    run.setup()
    assert [run.gate() for _ in range(3)] == [75, 75, 0]
    assert "gave no answer" in words(capsys)


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


def test_absent_after_it_was_up_is_gone_at_once(run: Run, capsys: Captured) -> None:
    run.setup()
    assert run.gate() == 0
    run.vanish()
    assert run.gate() == 76
    assert f"pegasus-bb run --restart {run.submit}" in words(capsys)


def test_absent_before_it_was_ever_up_is_not_yet(run: Run) -> None:
    run.setup()
    run.vanish()
    assert run.gate() == 75


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
    request = replace(run.request, uuid="uuid")
    said = reservation_identity.mismatch(status, request, NOTED)
    assert why in said
    assert bool(why) == bool(said)


def test_a_leftover_that_the_scheduler_shows_as_ready_is_refused(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    run.setup()
    old = Status(State.READY, "allocated", created=time.time() - 9999)
    monkeypatch.setattr(Directory, "status", lambda *_: old)
    assert run.gate() == 76
    assert "left over from another run" in words(capsys)
    assert not run.has("ready.json")


# -- as a program


def test_bb_gate_works_from_a_checkout(run: Run) -> None:
    def bb_gate() -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, CHECKOUT / "pre-scripts" / "bb-gate"]
        return subprocess.run(
            [*argv, "--bb", run.bb.path], capture_output=True, text=True, cwd="/"
        )

    assert os.access(CHECKOUT / "pre-scripts" / "bb-gate", os.X_OK)
    assert bb_gate().returncode == 75
    run.setup()
    done = bb_gate()
    assert done.returncode == 0
    assert (done.stdout, done.stderr.count("\n")) == ("", 1)
