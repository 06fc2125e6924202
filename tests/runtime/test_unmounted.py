"""A tier whose folder is away for a while: an empty place says nothing about it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from pegasus_bb.cli.status import reservation_status
from pegasus_bb.core import ledger
from pegasus_bb.core.errors import ReservationFailed, SchedulerUnreachable
from pegasus_bb.runtime.backends.folder_tier import FolderBackend
from pegasus_bb.runtime.programs.delete import give_up, release
from tests.support.backend_contract import OTHER_RUN
from tests.support.run_programs import NAME, Run


@pytest.fixture
def unmounted(run: Run) -> Iterator[Run]:
    run.opens_its_gate()
    (run.folder() / "data").write_text("only here")
    run.tier.rename(run.root / "away")
    run.tier.mkdir()
    yield run
    for path in run.tier.iterdir():
        path.unlink() if path.is_file() else (path / ".pegasus_bb").unlink()
    for path in run.tier.iterdir():
        path.rmdir()
    run.tier.rmdir()
    (run.root / "away").rename(run.tier)
    assert (run.folder() / "data").exists()
    assert run.delete() == 0, "mounted again, it is given back as ever"
    assert not run.stands


@pytest.mark.parametrize("ready", [True, False])
def test_bb_delete_does_not_call_an_unmounted_reservation_released(
    unmounted: Run, ready: bool
) -> None:
    run = unmounted
    if not ready:
        run.lose("ready.json")
    assert run.delete() == 78
    assert "is it mounted?" in run.said
    assert str(run.tier / ".pegasus_bb_root") in run.said
    with pytest.raises(SchedulerUnreachable, match=f"--discard --gone {NAME}"):
        release(run.bb, discard=True)
    assert run.noted().released_at is None
    assert [e["event"] for e in ledger.find(NAME)] == ["requested"]


def test_no_program_calls_it_gone_or_asks_again(unmounted: Run) -> None:
    for program, code in ((unmounted.gate, 75), (unmounted.setup, 78)):
        assert program() == code
        assert "is it mounted?" in unmounted.said
    assert not unmounted.stands
    found = reservation_status(unmounted.submit / "bb")
    assert found is not None
    assert found["state"] == "unknown"
    assert "is it mounted?" in found["message"]


def test_an_empty_mount_point_that_another_run_uses_proves_nothing(
    unmounted: Run,
) -> None:
    run = unmounted
    FolderBackend(run.request.settings).create(OTHER_RUN.__class__(
        **{**OTHER_RUN.to_json(), "name": "pbbother", "capacity": 4096}
    ))  # fmt: skip
    assert run.delete() == 78
    assert run.noted().released_at is None


def test_without_its_notes_an_unmounted_reservation_is_not_called_gone(
    unmounted: Run,
) -> None:
    run = unmounted
    noted = run.submit / "bb" / "reservation.json"
    text = noted.read_text()
    noted.unlink()
    with pytest.raises(SchedulerUnreachable, match="is it mounted"):
        release(run.bb, discard=True)
    assert not noted.exists()
    assert [e["event"] for e in ledger.find(NAME)] == ["requested"]
    noted.write_text(text)


@pytest.mark.parametrize("left", ["an empty folder", "another tier"])
def test_storage_that_is_gone_for_good_can_be_given_up(run: Run, left: str) -> None:
    run.opens_its_gate()
    run.stage_out("safe.txt")
    run.promise({**run.read("placement.json")["outputs"], "lost.txt": "/out/lost.txt"})
    shutil.rmtree(run.tier)
    run.tier.mkdir()
    if left == "another tier":
        (run.tier / ".pegasus_bb_root").write_text("0123456789abcdef\n")
    with pytest.raises(SchedulerUnreachable, match=f"--discard --gone {NAME}"):
        release(run.bb, discard=True)
    said = give_up(run.bb)
    assert "lost with it: 1 promised result\n" in said
    assert "lost.txt" in said and "safe.txt" not in said
    assert run.noted().released_at is not None
    assert [e["event"] for e in ledger.find(NAME)] == ["discarded", "requested"]
    assert "was given back before" in release(run.bb)
    run.lose("reservation.json")  # as the start of a run anew does
    assert (run.setup(), run.gate()) == (0, 0), "on what is there now"


def test_of_a_reservation_that_was_never_up_nothing_is_lost(run: Run) -> None:
    assert run.setup() == 0
    run.promise({"out.txt": "/out/out.txt"})
    shutil.rmtree(run.tier)
    run.tier.mkdir()
    assert "out.txt" not in give_up(run.bb)


def test_what_was_given_back_is_not_called_kept_for_a_result_that_changed(
    run: Run,
) -> None:
    run.opens_its_gate()
    run.stage_out("safe.txt")
    assert run.delete() == 0
    run.promise({"safe.txt": "/out/safe.txt", "lost.txt": "/out/lost.txt"})
    assert "was given back before" in release(run.bb)


def test_what_is_still_there_is_not_given_up(run: Run) -> None:
    run.opens_its_gate()
    with pytest.raises(ReservationFailed, match="nothing says that the storage"):
        give_up(run.bb)
    assert run.noted().released_at is None
