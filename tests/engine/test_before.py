"""What must be true before anything is started: the place, and the reservation."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pegasus_bb.dag.nodes import Script
from pegasus_bb.dag.reader import read_dag
from pegasus_bb.engine.dagman.submit import hand_over
from pegasus_bb.engine.failure_messages import not_done
from pegasus_bb.engine.rescue import read_rescue
from pegasus_bb.engine.submitdir import find_submit_dir
from pegasus_bb.engine.table import Table
from pegasus_bb.errors import ReservationFailed, RunFailed, UsageError
from pegasus_bb.files import write_json
from pegasus_bb.model.reservation import Request, Reservation
from pegasus_bb.reservation.registry import open_backend
from pegasus_bb.runtime.bbdir import BBDir
from tests.engine.requests import reserved

from .conftest import Folder

# --- the place ---


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


def test_by_way_of_a_link_it_is_the_same_place(folder: Folder, tmp_path: Path) -> None:
    folder.job("a")
    (tmp_path / "link").symlink_to(folder.path)
    braindump(folder, tmp_path / "link")
    folder.run()
    assert folder.ran() == ["a"]


def test_scripts_of_another_place_are_refused(folder: Folder, tmp_path: Path) -> None:
    (folder.path / "bb").mkdir()
    folder.job("a", post=Script(str(tmp_path / "other" / "bb" / "bin" / "exitcode")))
    with pytest.raises(
        UsageError, match=r"programs of .*/other/bb/bin; it was planned"
    ):
        folder.run()
    assert folder.ran() == []


# --- the reservation ---


@pytest.fixture
def request_(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Request:
    """A run whose second node on the buffer failed; the reservation stands."""
    monkeypatch.setattr(
        "pegasus_bb.engine.preparation.check_directory", lambda *_: None
    )
    request = reserved(folder.path, "pbbbefore", tmp_path / "tier")
    promise(folder, {})
    on_site = '+pegasus_site = "cluster"'
    folder.job("bb_setup_1")
    folder.job("first", submit=on_site)
    folder.job("second", "exits=1,0", submit=on_site)
    folder.job("bb_delete_2", "exits=1,0")
    folder.chain("bb_setup_1", "first", "second", "bb_delete_2")
    with pytest.raises(RunFailed):
        folder.run()
    return request


def promise(folder: Folder, outputs: dict[str, str]) -> None:
    write_json(
        str(folder.path / "bb" / "placement.json"),
        {"prefix": "/bb/pbbbefore", "files": {}, "outputs": outputs},
    )


def give_back(folder: Folder, request: Request) -> None:
    bb = BBDir(str(folder.path / "bb"))
    noted = bb.reservation()
    assert noted is not None
    open_backend("directory", request.settings).delete(request)
    bb.note_reservation(replace(noted, released_at=1700000000.0))


def refused(folder: Folder) -> str:
    before = folder.noted()
    with pytest.raises(ReservationFailed) as caught:
        folder.run()
    assert folder.noted() == before, "nothing was started"
    assert f"pegasus-bb run --restart {folder.path}" in str(caught.value)
    return str(caught.value)


def test_while_it_stands_the_run_goes_on(folder: Folder, request_: Request) -> None:
    with pytest.raises(RunFailed):
        folder.run()
    assert folder.times()["second"] == 2


def test_given_back_too_early(folder: Folder, request_: Request) -> None:
    give_back(folder, request_)
    assert "was given back at 2023-11-1" in refused(folder)


def test_gone_without_our_doing(folder: Folder, request_: Request) -> None:
    open_backend("directory", request_.settings).delete(request_)
    told = refused(folder)
    assert "is not there any more (no such reservation in" in told
    assert "second, which needs it, is not done" in told


def lose_note(folder: Folder) -> Path:
    note = folder.path / "bb" / "reservation.json"
    note.unlink()
    return note


def test_a_lost_note_is_written_again(folder: Folder, request_: Request) -> None:
    note = lose_note(folder)
    with pytest.raises(RunFailed):
        folder.run()
    found = Reservation.from_json(json.loads(note.read_text()))
    assert (found.name, found.uuid) == (request_.name, request_.uuid)
    assert folder.times()["bb_setup_1"] == 1, "which would not have been run again"


def test_a_lost_note_of_what_is_gone(folder: Folder, request_: Request) -> None:
    lose_note(folder)
    open_backend("directory", request_.settings).delete(request_)
    assert "is not there any more" in refused(folder)


def test_without_an_answer_the_run_finds_out(folder: Folder, request_: Request) -> None:
    data = request_.to_json()
    data["settings"] = {**request_.settings, "fail": "status:unreachable"}
    write_json(str(folder.path / "bb" / "request.json"), data)
    with pytest.raises(RunFailed):
        folder.run()
    assert folder.times()["second"] == 2


def test_not_mounted_is_not_gone(
    folder: Folder, request_: Request, tmp_path: Path
) -> None:
    """The nodes fail, each by itself; nobody is told to start over."""
    (tmp_path / "tier").rename(tmp_path / "away")
    (tmp_path / "tier").mkdir()
    with pytest.raises(RunFailed):
        folder.run()
    assert folder.times()["second"] == 2


def test_killed_while_giving_back_it_goes_on(folder: Folder, request_: Request) -> None:
    with pytest.raises(RunFailed):
        folder.run()
    give_back(folder, request_)
    assert folder.run().done_before == 3
    assert folder.times()["bb_delete_2"] == 2


def test_discarded_although_a_result_never_arrived(
    folder: Folder, request_: Request, tmp_path: Path
) -> None:
    with pytest.raises(RunFailed):
        folder.run()
    promise(folder, {"out.txt": str(tmp_path / "out.txt")})
    give_back(folder, request_)
    assert "out.txt is not safe: stage-out has not noted it" in refused(folder)


# --- what is safe before a watcher is heard ---


def test_a_watcher_that_breaks_at_the_end_costs_no_rescue_file(folder: Folder) -> None:
    class Broken:
        def begin(self, total: int, done: int) -> None: ...
        def running(self, name: str) -> None: ...
        def waiting(self, name: str) -> None: ...
        def ended(self, name: str, how: str, seconds: float) -> None: ...

        def close(self) -> None:
            raise OSError(5, "Input/output error")

    folder.job("a", "exits=1")
    with pytest.raises(OSError, match="Input/output"):
        folder.run(progress=Broken())
    assert folder.rescues() == ["w.dag.rescue001"]


# --- what is done, told to DAGMan ---


def test_dagman_learns_what_is_to_run_again(folder: Folder, request_: Request) -> None:
    place = find_submit_dir(folder.path)
    known = read_rescue(place.rescues()[-1], folder.dag)
    assert hand_over(place, folder.dag, known) is None, "it says so already"
    rescue = hand_over(place, folder.dag, known - {"first"})
    assert rescue is not None and rescue == place.rescues()[-1]
    assert read_rescue(rescue, folder.dag) == known - {"first"}


# --- what a run says at its end ---


def says(folder: Folder) -> str:
    place = find_submit_dir(folder.path)
    return not_done(Table(read_dag(place.dag), ()), place, None, "not done")


def was_up(folder: Folder) -> None:
    noted = BBDir(str(folder.path / "bb")).reservation()
    assert noted is not None
    ready = {"requested_at": noted.requested_at}
    write_json(str(folder.path / "bb" / "ready.json"), ready)


def test_it_says_that_its_reservation_was_taken_away(
    folder: Folder, request_: Request
) -> None:
    was_up(folder)
    assert "kept:        reservation pbbbefore" in says(folder)
    open_backend("directory", request_.settings).delete(request_)
    told = says(folder)
    assert "lost:        reservation pbbbefore is not there any more" in told
    assert f"pegasus-bb run --restart {folder.path}" in told
    assert "to go on:" not in told
    assert "kept:" not in told


def test_it_calls_nothing_lost_where_nobody_answers(
    folder: Folder, request_: Request
) -> None:
    was_up(folder)
    data = request_.to_json()
    data["settings"] = {**request_.settings, "fail": "status:unreachable"}
    write_json(str(folder.path / "bb" / "request.json"), data)
    assert "kept:        reservation pbbbefore" in says(folder)
