"""Jobs that Slurm cannot stage out, and that HTCondor would have for ever."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.errors import SchedulerUnreachable
from pegasus_bb.model.dag.nodes import Dag, Node
from pegasus_bb.run.engine.dagman import watch as module
from pegasus_bb.run.engine.dagman.watch import StageOutWatch
from pegasus_bb.run.engine.node_table import NodeTable
from pegasus_bb.run.engine.submitdir import SubmitDir
from pegasus_bb.runtime.backends.scontrol import SpaceJob, parse_jobs

# As Slurm 24.11 shows one whose stage-out fails, in short.
STUCK = """\
JobId=3 JobName=mixA
   UserId=wfuser(1000) GroupId=wfuser(1000) MCS_label=N/A
   Priority=1 Nice=0 Account=(null) QOS=(null)
   JobState=STAGE_OUT Reason=burst_buffer/datawarp:_dws_data_out:_dwsd:_no_route_ Dependency=(null)
   SystemComment=11/22/26 03:58:36 burst_buffer/datawarp: data_out: dwsd: no route
   BurstBufferState=staging-out
"""  # noqa: E501
AT_IT = STUCK.replace("burst_buffer/datawarp:_dws_data_out:_dwsd:_no_route_", "None")
AT_IT = "".join(line for line in AT_IT.splitlines(True) if "SystemComment" not in line)


class SubmitDirFixture:
    """mix_A has noted its end a while ago; Slurm answers as it is told."""

    def __init__(self, place: SubmitDir, monkeypatch: pytest.MonkeyPatch) -> None:
        self.notes = place.bb / "stage_out"
        self.notes.mkdir(parents=True)
        request = {"name": "pbb1", "backend": "datawarp", "capacity": 1, "prefix": "/r"}
        request.update(uuid="u", tier="bb", site="c", poll=10, wait=3600)  # type: ignore[call-overload]
        (place.bb / "transient.json").write_text(json.dumps(request))
        self.table = NodeTable(Dag({"mix_A": Node("mix_A", "mix_A.sub")}), ())
        self.watch = StageOutWatch(place, self.table)
        self.answer: str | None = STUCK
        self.asked: list[str] = []
        self.removed: list[int] = []
        self.note()
        monkeypatch.setattr(module, "Slurm", lambda _: self)
        monkeypatch.setattr(module.queue, "remove", self.removed.append)

    def note(self, age: float = 600.0, **more: Any) -> None:
        note = {"node": "mix_A", "job": "61.0", "status": 0, "slurm": "3"}
        note.update(source="/dw/3/results/61.0", time=time.time() - age, **more)
        (self.notes / "mix_A.json").write_text(json.dumps(note))

    def job(self, number: str) -> SpaceJob | None:
        self.asked.append(number)
        if self.answer is None:
            raise SchedulerUnreachable("no answer")
        return next(iter(parse_jobs(self.answer)), None)


@pytest.fixture
def fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SubmitDirFixture:
    return SubmitDirFixture(SubmitDir(tmp_path, tmp_path / "w.dag"), monkeypatch)


def test_a_job_whose_stage_out_fails_is_removed_from_the_queue(
    fixture: SubmitDirFixture,
) -> None:
    (words,) = fixture.watch.remove_failed()
    assert "data_out: dwsd: no route" in words
    assert "/dw/3/results/61.0 of job 3" in words
    assert "scancel --hurry 3" in words
    assert fixture.removed == [61]
    assert (fixture.notes / "mix_A.err").read_text() == f"{words}\n"


@pytest.mark.parametrize(
    "answer",
    [AT_IT, None, "", STUCK.replace("STAGE_OUT", "COMPLETED")],
    ids=["takes its time", "no answer", "no such job", "is back"],
)
def test_a_job_whose_stage_out_goes_on_stays_in_the_queue(
    fixture: SubmitDirFixture, answer: str | None
) -> None:
    fixture.answer = answer
    assert fixture.watch.remove_failed() == []
    assert (fixture.asked, fixture.removed) == (["3"], [])
