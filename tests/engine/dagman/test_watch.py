"""A reservation that vanishes while jobs need it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pegasus_bb.dag.nodes import Dag, Node
from pegasus_bb.engine.dagman import watch as module
from pegasus_bb.engine.dagman.watch import ReservationWatch
from pegasus_bb.engine.submitdir import SubmitDir
from pegasus_bb.engine.table import State, Table
from pegasus_bb.errors import SchedulerUnreachable
from pegasus_bb.model.reservation import Request, Reservation, Status
from pegasus_bb.model.reservation import State as Reserved
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.storage_decision import StorageDecision, decide_storage

UP = Status(Reserved.READY, size=1)
GONE = Status(Reserved.ABSENT)
REQUEST = Request(
    *("pbbone", "datawarp", 1, "/bb/pbbone", "u", "bb", "cluster"), poll=10
)


class Desk:
    """A run whose reservation was up; the backend answers as it is told."""

    def __init__(self, place: SubmitDir, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bb, self.now, self.answers = BBDir(str(place.bb)), 0.0, [UP]
        place.bb.mkdir()
        Path(self.bb.file("request.json")).write_text(json.dumps(REQUEST.to_json()))
        self.bb.note_reservation(Reservation("pbbone", "datawarp", "u", 1.0))
        names = ("mix_A", "bb_delete_BB0000002")
        dag = Dag({name: Node(name, f"{name}.sub") for name in names})
        dag.children["mix_A"] = ["bb_delete_BB0000002"]
        self.table = Table(dag, ())
        monkeypatch.setattr(module.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(module, "open_backend", lambda *_: self)
        self.watch = ReservationWatch(place, self.table)

    def status(self, request: Request) -> Status:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer is None:
            raise SchedulerUnreachable("no answer")
        return answer

    def was_up(self) -> None:
        ready = {"requested_at": 1.0, "size": 1, "place": ""}  # as the gate notes it
        Path(self.bb.file("ready.json")).write_text(json.dumps(ready))

    def looks(self, times: int) -> list[str]:
        """What is said, a look every ten seconds."""
        said = []
        for _ in range(times):
            self.now += 10
            said.append(self.watch.gone())
        return said


@pytest.fixture
def desk(place: SubmitDir, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(place, monkeypatch)


def test_it_is_called_gone_when_it_was_missing_three_times(desk: Desk) -> None:
    desk.was_up()
    desk.answers = [GONE, GONE, UP, GONE, None, GONE, GONE]
    said = desk.looks(6 * 6)
    assert not any(said)
    assert any(desk.looks(12))
    assert "pbbone was up and is not there any more" in "".join(desk.looks(6))


def test_before_the_gate_has_answered_it_is_the_gates_to_judge(desk: Desk) -> None:
    desk.answers = [GONE]
    assert not any(desk.looks(40))


def test_while_bb_delete_gives_it_back_it_may_be_missing(desk: Desk) -> None:
    desk.was_up()
    desk.answers = [GONE]
    desk.table.done(desk.table.items["mix_A"])
    desk.table.move(desk.table.items["bb_delete_BB0000002"], State.RUNNING)
    assert not any(desk.looks(40))


def test_a_mode_without_a_reservation_has_nothing_to_lose(
    place: SubmitDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(place, monkeypatch)
    Path(desk.bb.file("request.json")).unlink()
    assert not any(desk.looks(40))


def test_where_it_is_not_known_nothing_is_called_gone(desk: Desk) -> None:
    desk.was_up()
    desk.answers = [GONE, GONE, Status(Reserved.UNKNOWN, "no row accounts for it")]
    assert not any(desk.looks(6 * 9))


def with_fallback(desk: Desk) -> None:
    asked = replace(REQUEST, fallback="pfs").to_json()
    Path(desk.bb.file("request.json")).write_text(json.dumps(asked))
    desk.was_up()
    desk.answers = [GONE]


def test_a_run_on_the_pfs_does_not_need_it(desk: Desk) -> None:
    with_fallback(desk)
    decide_storage(
        desk.bb, StorageDecision("pfs", "was up and is gone", 76, "/lus/scratch")
    )
    assert not any(desk.looks(40))


def test_gone_before_any_job_had_it_the_next_run_is_told_to_go_on(desk: Desk) -> None:
    with_fallback(desk)
    assert "the next run goes on on the PFS" in "".join(desk.looks(40))
    decide_storage(desk.bb, StorageDecision("bb"))
    said = "".join(desk.looks(6))
    assert "is not there any more" in said and "PFS" not in said
