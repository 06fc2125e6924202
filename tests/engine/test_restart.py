"""--restart and the reservation: nothing that may hold unsaved data is forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.errors import ReservationFailed, RunFailed, SchedulerUnreachable
from pegasus_bb.files import write_json
from pegasus_bb.model.reservation import Request, Reservation
from pegasus_bb.reservation.registry import open_backend
from pegasus_bb.runtime.bbdir import BBDir
from tests.engine.requests import reserved

from .conftest import Folder

MIB = 1 << 20


@pytest.fixture(autouse=True)
def any_dag_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """The DAGs here stand in for sealed ones; the seal has stories of its own."""
    monkeypatch.setattr(
        "pegasus_bb.engine.preparation.check_directory", lambda *_: None
    )


@pytest.fixture
def request_(folder: Folder, tmp_path: Path) -> Request:
    """The folder belongs to a run whose reservation is up and noted."""
    request = reserved(folder.path, "pbbfirst", tmp_path / "tier")
    (folder.path / "bb/manifest.jsonl").write_text('{"lfn": "out.txt"}\n')
    folder.job("a", "exits=1")
    with pytest.raises(RunFailed):
        folder.run()
    return request


def test_it_is_refused_while_the_reservation_stands(
    folder: Folder, request_: Request
) -> None:
    with pytest.raises(ReservationFailed) as caught:
        folder.run(restart=True)
    assert "pegasus-bb release pbbfirst --discard" in str(caught.value)
    assert f"pegasus-bb run {folder.path}" in str(caught.value)
    assert folder.rescues() == ["w.dag.rescue001"], "nothing was moved"
    assert folder.times()["a"] == 1


def test_once_it_was_given_back_the_run_starts_over(
    folder: Folder, request_: Request
) -> None:
    bb = BBDir(str(folder.path / "bb"))
    open_backend("directory", request_.settings).delete(request_)
    noted = bb.reservation()
    assert noted is not None
    bb.note_reservation(
        Reservation.from_json({**noted.to_json(), "released_at": 1700000000.0})
    )
    with pytest.raises(RunFailed):
        folder.run(restart=True)
    names = {file.name for file in (folder.path / "bb").iterdir()}
    assert {"reservation.json.000", "manifest.jsonl.000", "request.json"} <= names
    assert not names & {"reservation.json", "manifest.jsonl"}
    assert folder.times()["a"] == 2


def test_a_reservation_that_is_gone_is_no_hindrance(
    folder: Folder, request_: Request
) -> None:
    open_backend("directory", request_.settings).delete(request_)
    with pytest.raises(RunFailed):
        folder.run(restart=True)
    assert (folder.path / "bb" / "reservation.json.000").exists()


def test_without_an_answer_nothing_is_moved(
    folder: Folder, request_: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = {**request_.to_json(), "settings": {**request_.settings}}
    data["settings"]["fail"] = "status:unreachable"
    write_json(str(folder.path / "bb" / "request.json"), data)
    with pytest.raises(SchedulerUnreachable, match="try again later"):
        folder.run(restart=True)
    assert folder.rescues() == ["w.dag.rescue001"]


def test_not_mounted_is_not_gone(
    folder: Folder, request_: Request, tmp_path: Path
) -> None:
    (tmp_path / "tier").rename(tmp_path / "away")
    (tmp_path / "tier").mkdir()
    with pytest.raises(SchedulerUnreachable, match="is it mounted"):
        folder.run(restart=True)
    assert folder.rescues() == ["w.dag.rescue001"]
