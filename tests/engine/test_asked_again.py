"""A reservation that no job has had is asked for again by the run that goes on."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pegasus_bb.errors import RunFailed
from pegasus_bb.files import write_json
from pegasus_bb.model.reservation import Request, Reservation
from pegasus_bb.reservation.registry import open_backend
from pegasus_bb.runtime.bbdir import BBDir
from tests.engine.requests import reserved

from .conftest import Folder


@pytest.fixture
def asked(folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Request:
    """A run that asked in the middle and got nowhere: the job that needs it failed."""
    monkeypatch.setattr(
        "pegasus_bb.engine.preparation.check_directory", lambda *_: None
    )
    request = reserved(folder.path, "pbbagain", tmp_path / "tier")
    on_site = '+pegasus_site = "cluster"'
    folder.job("before")
    folder.job("bb_setup_1")
    folder.job("first", "exits=1,0", submit=on_site)
    folder.chain("before", "bb_setup_1", "first")
    with pytest.raises(RunFailed):
        folder.run()
    return request


def noted(folder: Folder) -> Reservation:
    found = BBDir(str(folder.path / "bb")).reservation()
    assert found is not None
    return found


def how_often(folder: Folder) -> list[int]:
    return [folder.times()[name] for name in ("before", "bb_setup_1", "first")]


def test_one_that_may_still_come_is_waited_for(folder: Folder, asked: Request) -> None:
    folder.run()
    assert how_often(folder) == [1, 1, 2]


def test_one_that_is_not_there_is_asked_for(folder: Folder, asked: Request) -> None:
    open_backend("directory", asked.settings).delete(asked)
    outcome = folder.run()
    assert how_often(folder) == [1, 2, 2]
    assert (outcome.done_before, outcome.done) == (1, 3)


def test_one_that_was_given_back_too_and_its_note_is_kept(
    folder: Folder, asked: Request
) -> None:
    open_backend("directory", asked.settings).delete(asked)
    bb = BBDir(str(folder.path / "bb"))
    bb.note_reservation(replace(noted(folder), released_at=1700000000.0))
    outcome = folder.run()
    assert how_often(folder) == [1, 2, 2]
    (kept,) = outcome.aside
    assert json.loads(kept.read_text())["released_at"] == 1700000000.0


def test_one_that_was_up_is_not_asked_for_again(folder: Folder, asked: Request) -> None:
    """What was on it is on no other."""
    ready = {"requested_at": noted(folder).requested_at}
    write_json(str(folder.path / "bb" / "ready.json"), ready)
    open_backend("directory", asked.settings).delete(asked)
    folder.run()  # its programs would say that it is gone
    assert how_often(folder) == [1, 1, 2]


def test_nothing_is_asked_where_nobody_answers(folder: Folder, asked: Request) -> None:
    settings = {**asked.settings, "fail": "status:unreachable"}
    data = {**asked.to_json(), "settings": settings}
    write_json(str(folder.path / "bb" / "request.json"), data)
    folder.run()
    assert how_often(folder) == [1, 1, 2]
