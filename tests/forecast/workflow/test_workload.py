"""What jobs ask of storage: from their files, and from an earlier run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.forecast.workflow.workload import Workload, workload
from pegasus_bb.model.graph import build_graph
from pegasus_bb.model.history import History, Past
from pegasus_bb.model.speeds import Speed, Speeds
from tests.support.user_files import User, job, own_profile, sized, use

MB = 1_000_000
PFS = Speed(100 * MB, 100 * MB, 10 * MB, 10 * MB, ops=1000.0, job_ops=100.0)
BB = Speed(read=1000 * MB, write=1000 * MB, job_read=100 * MB, job_write=100 * MB)
SPEEDS = Speeds(4, {"pfs": PFS, "bb": BB}, "sites.yml:9")


def loads(folder: Path, history: History, **more: Any) -> Workload:
    reader = job(
        "ID1",
        use("in", "input", **sized(20 * MB)),
        use("out", "output", **sized(10 * MB)),
        **more,
    )
    workflow, _, _ = User(folder, jobs=[reader]).read()
    placement = User(folder, jobs=[reader], tier={"capacity": "1TiB"}).decide()
    graph = build_graph(workflow)
    return workload(
        workflow, graph, placement.files, SPEEDS, history, profile=own_profile
    )


def test_of_an_unknown_job_only_the_files_count(tmp_path: Path) -> None:
    work = loads(tmp_path, History())
    (load,) = work.loads
    assert load.demand.is_known and load.demand.pessimistic.compute == 0
    assert (load.reads, load.writes) == ((("in", 20 * MB),), (("out", 10 * MB),))
    assert (load.read, load.written) == (20 * MB, 10 * MB)
    assert work.unknown_times == 1


@pytest.mark.parametrize(
    ("place", "past", "compute", "is_guess"),
    [
        (
            "pfs",
            Past(5.0, user=1.0),
            2.0,
            True,
        ),  # 3 s were 30 MB at the 10 MB/s of one job
        ("bb", Past(5.0), 5.0 - 0.3, False),  # at the speed of the tier
        (
            "pfs",
            Past(2.5, user=1.5),
            0.0,
            False,
        ),  # the bytes explain more than all of it
    ],
)
def test_an_earlier_run_computed_for_as_long_as_it_did_not_move_bytes(
    tmp_path: Path, place: str, past: Past, compute: float, is_guess: bool
) -> None:
    (load,) = loads(tmp_path, History(place=place, jobs={"ID1": past})).loads
    assert load.demand.pessimistic.compute == pytest.approx(compute)
    assert load.demand.is_guess == is_guess


@pytest.mark.parametrize(("declared", "is_said"), [("1", True), ("60", False)])
def test_a_declared_time_that_is_too_short_for_its_bytes_is_said(
    tmp_path: Path, declared: str, is_said: bool
) -> None:
    times = {"profiles": {"pegasus": {"runtime": declared}}}
    notes = " ".join(loads(tmp_path, History(), **times).notes)
    assert ("shorter than reads and writes take" in notes) == is_said
