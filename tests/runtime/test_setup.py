"""bb_setup asks once, however often it runs, and never leaks what it asked for."""

from __future__ import annotations

import socket

import pytest

from pegasus_bb.core import ledger
from pegasus_bb.model.reservation import Request, State
from pegasus_bb.runtime.backends.folder_tier import FolderBackend
from pegasus_bb.runtime.bbdir import BBDir
from tests.support.run_programs import NAME, UUID, Run


def test_setup_requests_the_reservation_and_notes_it(run: Run) -> None:
    assert run.setup() == 0
    assert run.folder().is_dir()
    noted = run.noted()
    assert (noted.name, noted.uuid, noted.failure) == (NAME, UUID, "")
    [line] = ledger.entries()
    assert (line["event"], line["name"], line["uuid"]) == ("requested", NAME, UUID)
    assert line["submit_dir"] == str(run.submit)
    assert Request.from_json(line["request"]) == run.request
    assert line["host"] == socket.gethostname()
    assert "100.0 MiB" in run.said


def test_setup_run_again_changes_nothing(run: Run) -> None:
    run.setup()
    before = run.noted()
    (run.folder() / "data").write_text("precious")
    assert run.setup() == 0
    assert "already" in run.said
    assert run.noted() == before
    assert (run.folder() / "data").read_text() == "precious"
    assert len(ledger.entries()) == 1


@pytest.mark.parametrize("noted", [False, True])
def test_killed_before_it_asked_where_the_tier_has_no_folder_yet(
    run: Run, noted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first reservation of a tier makes its folder. Without it nothing tells
    whether there is a reservation; yet the run must not wait for ever."""
    run.tier.rmdir()
    with monkeypatch.context() as patched:
        patched.setattr(FolderBackend, "create", _killed)
        if not noted:
            patched.setattr(BBDir, "note_reservation", _killed)
        with pytest.raises(Killed):
            run.setup()
    assert len(ledger.entries()) == 1 and not run.tier.exists()
    assert run.setup() == 0
    assert run.backend().status(run.request).state is State.READY


class Killed(BaseException):
    """Nothing of ours goes on after this."""


def _killed(*_: object) -> None:
    raise Killed


def test_a_refusal_is_noted_with_the_message_of_the_scheduler(run: Run) -> None:
    run.change(fail="create: no space left on any server")
    assert run.setup() == 76
    assert "no space left on any server" in run.said
    assert "no space left on any server" in run.noted().failure
    run.change(fail="")
    assert run.setup() == 0
    assert run.noted().failure == ""


def test_an_unreachable_scheduler_is_78_and_says_nothing_of_the_reservation(
    run: Run,
) -> None:
    run.change(fail="create: unreachable")
    assert run.setup() == 78
    assert run.noted().failure == ""
    run.change(fail="status: unreachable")
    assert run.setup() == 78
    run.change(fail="")
    assert run.setup() == 0


def test_after_it_was_given_back_it_refuses(run: Run) -> None:
    run.setup()
    run.delete()
    assert run.setup() == 76
    said = run.said
    assert "given back" in said
    assert f"pegasus-bb run --restart {run.submit}" in said
    assert "given back" in run.noted().failure
    assert run.gate() == 76
    assert not run.stands


def test_vanished_before_anything_ran_it_asks_anew(run: Run) -> None:
    run.setup()
    run.vanish()
    assert run.setup() == 0
    assert run.folder().is_dir()


@pytest.mark.parametrize("after", ["it was up", "results were saved"])
def test_vanished_after_it_was_up_it_refuses(run: Run, after: str) -> None:
    run.setup()
    if after == "it was up":
        run.gate()
    else:
        run.stage_out("out.txt")
    run.vanish()
    assert run.setup() == 76
    assert "lost" in run.said
    assert not run.stands
    assert run.gate() == 76


def test_started_over_it_asks_anew(run: Run) -> None:
    run.setup()
    run.gate()
    run.delete()
    run.lose("reservation.json")  # what run --restart does
    assert run.setup() == 0
    run.vanish()
    assert run.gate() == 75  # that it was up before the restart counts no more


def test_notes_of_another_run_are_left_alone(run: Run) -> None:
    run.setup()
    run.write("reservation.json", {**run.noted().to_json(), "uuid": "other"})
    assert run.setup() == 76
    assert "pegasus-bb release" in run.said
    assert run.noted().uuid == "other"
