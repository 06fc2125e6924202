"""What must be true before anything is started: the place, and the reservation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pegasus_bb.core.errors import ReservationFailed, SchedulerUnreachable, UsageError
from pegasus_bb.core.files import write_json
from pegasus_bb.model.reservation import Request, Reservation
from pegasus_bb.run.engine.submitdir import find_submit_dir

from .conftest import Folder, give_back, reserved, vanish, was_up, without_answer

ON_SITE = '+pegasus_site = "cluster"'
ENDS = [give_back, lambda _, request: vanish(request)]


def braindump(folder: Folder, submit_dir: Path) -> None:
    text = f"user: me\nsubmit_dir: {json.dumps(str(submit_dir))}\n"
    (folder.path / "braindump.yml").write_text(text)


@pytest.mark.parametrize("restart", [False, True])
def test_a_directory_that_was_moved_is_refused(folder: Folder, restart: bool) -> None:
    folder.job("a")
    braindump(folder, folder.path.with_name("run0001"))
    (folder.path / "jobstate.log").touch()
    with pytest.raises(UsageError, match=r"planned as .*/run0001 and moved"):
        folder.run(restart=restart)
    assert folder.ran() == []
    assert not (folder.path / "jobstate.log.000").exists()
    status = folder.command("status", str(folder.path)).stdout
    assert "run0001: move it back, or plan it again" in status
    assert "continues it" not in status


@pytest.mark.parametrize("gone", ["nodes", "edges"])
def test_a_dag_file_that_was_cut_off_is_neither_run_nor_done(
    folder: Folder, gone: str
) -> None:
    folder.steps("a", "b")
    folder.write()
    (folder.path / "bb").mkdir()
    plan = {
        "version": 2,
        "dag": "w.dag",
        "dag_size": find_submit_dir(folder.path).read_dag().size,
    }
    write_json(str(folder.path / "bb" / "plan.json"), plan)
    whole = (folder.path / "w.dag").read_text()
    (folder.path / "w.dag").write_text(
        whole.replace("PARENT", "#") if gone == "edges" else ""
    )
    for command in ("status", "run"):
        done = folder.command(command, str(folder.path))
        assert done.returncode == 2
        assert f"w.dag: a part of it is gone: {gone} are missing" in done.stderr
    assert folder.ran() == []


@pytest.mark.parametrize("plan", ["null", "[]", '{"dag": "w.dag", "dag_size": 3}'])
def test_a_damaged_plan_is_one_sentence(folder: Folder, plan: str) -> None:
    folder.job("a")
    folder.write()
    (folder.path / "bb").mkdir()
    (folder.path / "bb" / "plan.json").write_text(plan)
    with pytest.raises(UsageError, match=r"plan\.json: does not name a DAG file"):
        find_submit_dir(folder.path)


# --- the reservation ---


@pytest.fixture
def request_(folder: Folder, tmp_path: Path, any_dag_will_do: None) -> Request:
    """A run whose second node on the buffer failed; the reservation stands."""
    request = reserved(folder.path, "pbbbefore", tmp_path / "tier")
    folder.job("bb_setup_1")
    folder.job("first", submit=ON_SITE)
    folder.job("second", "exits=1,0", submit=ON_SITE)
    folder.job("bb_delete_2", "exits=1,0")
    folder.chain("bb_setup_1", "first", "second", "bb_delete_2")
    folder.fails()
    return request


def refused(folder: Folder) -> str:
    before = folder.noted()
    with pytest.raises(ReservationFailed) as caught:
        folder.run()
    assert folder.noted() == before, "nothing was started"
    assert f"pegasus-bb run --restart {folder.path}" in str(caught.value)
    return str(caught.value)


def unmount(tmp_path: Path) -> None:
    (tmp_path / "tier").rename(tmp_path / "away")
    (tmp_path / "tier").mkdir()


def test_run_refuses_to_go_on_after_an_early_release(
    folder: Folder, request_: Request
) -> None:
    give_back(folder.path, request_)
    assert "was given back at 2023-11-1" in refused(folder)


@pytest.mark.parametrize("with_note", [True, False])
def test_run_refuses_to_go_on_after_the_reservation_vanished(
    folder: Folder, request_: Request, with_note: bool
) -> None:
    vanish(request_)
    if not with_note:
        (folder.path / "bb" / "reservation.json").unlink()
    message = refused(folder)
    assert "is not there any more (no such reservation in" in message
    assert "second, which needs it, is not done" in message


def test_a_lost_note_is_written_again(folder: Folder, request_: Request) -> None:
    note = folder.path / "bb" / "reservation.json"
    note.unlink()
    folder.fails()
    found = Reservation.from_json(json.loads(note.read_text()))
    assert (found.name, found.uuid) == (request_.name, request_.uuid)
    assert folder.times()["bb_setup_1"] == 1, "which would not have been run again"


@pytest.mark.parametrize("why", ["it stands", "no answer", "not mounted"])
def test_what_is_not_known_to_be_gone_lets_the_run_go_on(
    folder: Folder, request_: Request, tmp_path: Path, why: str
) -> None:
    if why == "no answer":
        without_answer(folder.path, request_)
    elif why == "not mounted":
        unmount(tmp_path)
    folder.fails()
    assert folder.times()["second"] == 2


# --- a reservation that no job has had is asked for again ---


@pytest.fixture
def asked(folder: Folder, tmp_path: Path, any_dag_will_do: None) -> Request:
    """A run that asked in the middle and got nowhere: the job that needs it failed."""
    request = reserved(folder.path, "pbbagain", tmp_path / "tier")
    folder.job("before")
    folder.job("bb_setup_1")
    folder.job("first", "exits=1,0", submit=ON_SITE)
    folder.chain("before", "bb_setup_1", "first")
    folder.fails()
    return request


def how_often(folder: Folder) -> list[int]:
    return [folder.times()[name] for name in ("before", "bb_setup_1", "first")]


@pytest.mark.parametrize("why", ["may still come", "was up and is gone", "no answer"])
def test_run_does_not_request_a_reservation_that_may_still_come(
    folder: Folder, asked: Request, why: str
) -> None:
    """What was on one that was up is on no other: its programs say that it is gone."""
    if why == "no answer":
        without_answer(folder.path, asked)
    elif why == "was up and is gone":
        was_up(folder.path)
        vanish(asked)
    folder.run()
    assert how_often(folder) == [1, 1, 2]


@pytest.mark.parametrize("end", ENDS)
def test_run_requests_a_reservation_that_is_gone_before_use(
    folder: Folder, asked: Request, end
) -> None:
    end(folder.path, asked)
    outcome = folder.run()
    assert how_often(folder) == [1, 2, 2]
    assert (outcome.done_before, outcome.done) == (1, 3)
    kept = [json.loads(note.read_text())["released_at"] for note in outcome.moved]
    assert kept == ([1700000000.0] if end is give_back else [])


# --- --restart forgets nothing that may hold unsaved data ---


def test_restart_is_refused_while_it_stands(folder: Folder, request_: Request) -> None:
    with pytest.raises(ReservationFailed) as caught:
        folder.run(restart=True)
    assert "pegasus-bb release pbbbefore; then --restart" in str(caught.value)
    assert f"pegasus-bb run {folder.path}" in str(caught.value)
    assert folder.rescues() == ["w.dag.rescue001"], "nothing was moved"
    assert folder.times()["second"] == 1


@pytest.mark.parametrize("end", ENDS)
def test_once_it_is_gone_restart_works(folder: Folder, request_: Request, end) -> None:
    (folder.path / "bb/manifest.jsonl").write_text('{"lfn": "out.txt"}\n')
    end(folder.path, request_)
    folder.fails(restart=True)
    names = {file.name for file in (folder.path / "bb").iterdir()}
    assert {"reservation.json.000", "manifest.jsonl.000", "request.json"} <= names
    assert not names & {"reservation.json", "manifest.jsonl"}
    assert folder.times()["second"] == 2


@pytest.mark.parametrize(
    ("mounted", "says"), [(True, "try again later"), (False, "is it mounted")]
)
def test_without_an_answer_restart_moves_nothing(
    folder: Folder, request_: Request, tmp_path: Path, mounted: bool, says: str
) -> None:
    if mounted:
        without_answer(folder.path, request_)
    else:
        unmount(tmp_path)
    with pytest.raises(SchedulerUnreachable, match=says):
        folder.run(restart=True)
    assert folder.rescues() == ["w.dag.rescue001"]


def test_a_folder_above_submit_directories_is_told_of_them(tmp_path: Path) -> None:
    runs = [tmp_path / "user/pegasus/cybershake" / f"run000{n}" for n in (1, 2, 3)]
    for run in runs:
        run.mkdir(parents=True)
        (run / "cybershake-0.dag").touch()
    with pytest.raises(UsageError, match=f"found: none; .* {runs[0]} or {runs[1]}$"):
        find_submit_dir(tmp_path)
