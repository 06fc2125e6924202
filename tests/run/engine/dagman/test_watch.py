"""A reservation that vanishes while jobs need it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pegasus_bb.core.errors import SchedulerUnreachable
from pegasus_bb.model.dag.nodes import Dag, Node
from pegasus_bb.model.reservation import Request, Reservation, Status
from pegasus_bb.model.reservation import State as Reserved
from pegasus_bb.run.engine.dagman import watch as module
from pegasus_bb.run.engine.dagman.watch import ReservationWatch
from pegasus_bb.run.engine.node_table import NodeState, NodeTable
from pegasus_bb.run.engine.submitdir import SubmitDir
from pegasus_bb.runtime import reservation_identity
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.storage_decision import StorageDecision, decide_storage

UP = Status(Reserved.READY, size=1)
GONE = Status(Reserved.ABSENT)
REQUEST = Request("pbbone", "datawarp", 1, "/bb/pbbone", "u", "bb", "cluster", poll=10)


class SubmitDirFixture:
    """A run whose reservation was up; the backend answers as it is told."""

    def __init__(self, place: SubmitDir, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bb, self.now, self.answers = BBDir(str(place.bb)), 0.0, [UP]
        place.bb.mkdir()
        Path(self.bb.file("request.json")).write_text(json.dumps(REQUEST.to_json()))
        self.bb.note_reservation(Reservation("pbbone", "datawarp", "u", 1.0))
        names = ("mix_A", "bb_delete_BB0000002")
        dag = Dag({name: Node(name, f"{name}.sub") for name in names})
        dag.children["mix_A"] = ["bb_delete_BB0000002"]
        self.table = NodeTable(dag, ())
        monkeypatch.setattr(module.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(reservation_identity, "backend_of", lambda *_: self)
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
        said = []
        for _ in range(times):
            self.now += 10
            said.append(self.watch.gone())
        return said


@pytest.fixture
def fixture(place: SubmitDir, monkeypatch: pytest.MonkeyPatch) -> SubmitDirFixture:
    return SubmitDirFixture(place, monkeypatch)


def test_three_times_missing_it_is_called_gone(fixture: SubmitDirFixture) -> None:
    fixture.was_up()
    fixture.answers = [GONE, GONE, UP, GONE, None, GONE, GONE]
    said = fixture.looks(6 * 6)
    assert not any(said)
    assert any(fixture.looks(12))
    assert "pbbone was up and is not there any more" in "".join(fixture.looks(6))


def no_gate_has_answered(fixture: SubmitDirFixture) -> None:
    Path(fixture.bb.file("ready.json")).unlink()


def bb_delete_gives_it_back(fixture: SubmitDirFixture) -> None:
    fixture.table.done(fixture.table.items["mix_A"])
    fixture.table.move(fixture.table.items["bb_delete_BB0000002"], NodeState.RUNNING)


def the_mode_has_no_reservation(fixture: SubmitDirFixture) -> None:
    Path(fixture.bb.file("request.json")).unlink()


def its_state_is_not_known(fixture: SubmitDirFixture) -> None:
    unknown = Status(Reserved.UNKNOWN, "no row accounts for it")
    fixture.answers = [GONE, GONE, unknown]


def the_run_is_on_the_pfs(fixture: SubmitDirFixture) -> None:
    with_fallback(fixture)
    decision = StorageDecision("pfs", "was up and is gone", 76, "/lus/scratch")
    decide_storage(fixture.bb, decision)


@pytest.mark.parametrize(
    "happens",
    [
        no_gate_has_answered,
        bb_delete_gives_it_back,
        the_mode_has_no_reservation,
        its_state_is_not_known,
        the_run_is_on_the_pfs,
    ],
)
def test_a_reservation_is_not_called_gone_where(
    fixture: SubmitDirFixture, happens: Callable[[SubmitDirFixture], None]
) -> None:
    fixture.was_up()
    fixture.answers = [GONE]
    happens(fixture)
    assert not any(fixture.looks(54))


def with_fallback(fixture: SubmitDirFixture) -> None:
    asked = REQUEST._replace(fallback="pfs").to_json()
    Path(fixture.bb.file("request.json")).write_text(json.dumps(asked))
    fixture.was_up()
    fixture.answers = [GONE]


def test_before_any_job_had_it_the_pfs_takes_over(fixture: SubmitDirFixture) -> None:
    with_fallback(fixture)
    assert "the next run is on the PFS" in "".join(fixture.looks(40))
    decide_storage(fixture.bb, StorageDecision("bb"))
    said = "".join(fixture.looks(6))
    assert "is not there any more" in said and "PFS" not in said
