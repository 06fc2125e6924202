"""What a planned workflow would take, worked out by hand."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from pathlib import Path

import pytest

from pegasus_bb.forecast.demands.demand import GROWTH, Demand, DemandRange
from pegasus_bb.forecast.workflow.prediction import RATES
from pegasus_bb.forecast.workflow.simulator import demands_of
from pegasus_bb.model.history import History, Past
from pegasus_bb.model.modes import PERSISTENT
from pegasus_bb.model.placement import PlannedPhases
from pegasus_bb.model.speeds import Speed
from tests.support.user_files import job, sized, use

from .planned import BB, MB, PFS, fan, planned, speeds

# One stage-in job copies the only input, as fast as one job may write to the PFS.
IN = 200 / 10
TIMES = History(jobs={"ID0": Past(10.0), "ID1": Past(50.0), "ID2": Past(40.0)})
UNEVEN = [
    job("ID0", use("a", "output", stageOut=False, **sized(0))),
    job("ID1", use("b", "output", stageOut=False, **sized(0))),
    job("ID2", use("a", "input"), use("c", "output", stageOut=False, **sized(0))),
]


def test_on_the_pfs(tmp_path: Path) -> None:
    simulator, placement = planned(tmp_path, fan(2))
    found = simulator.predict(simulator.off(placement))
    first = 60 + 200 / 20 + 100 / 10
    second = 60 + 100 / 20 + 10 / 10
    assert found.stage_in == pytest.approx(IN)
    assert found.compute == pytest.approx(first + second)
    assert found.stage_out == pytest.approx(10 / 10)  # two jobs, one file each
    assert found.byte_hours == 0
    assert not found.is_range


def test_on_the_tier(tmp_path: Path) -> None:
    simulator, placement = planned(tmp_path, fan(2))
    found = simulator.predict(simulator.shared(placement, PERSISTENT))
    assert found.stage_in == pytest.approx(200 / 20)  # as fast as the PFS gives it
    assert found.compute == pytest.approx((60 + 300 / 200) + (60 + 110 / 200))
    assert found.stage_out == pytest.approx(10 / 10)
    assert found.byte_hours == pytest.approx(1000 * MB * found.makespan / 3600)


def test_a_file_is_staged_by_one_thread(tmp_path: Path) -> None:
    """The other thread of its node copies what else there is."""
    jobs = [
        job(
            "ID0",
            use("large", "input", **sized(160 * MB)),
            use("small", "input", **sized(20 * MB)),
            use("less", "input", **sized(20 * MB)),
        )
    ]
    simulator, placement = planned(tmp_path, jobs)
    found = simulator.predict(simulator.off(placement))
    assert found.stage_in == pytest.approx(160 / 10)


def test_inputs_of_other_sites_come_at_their_own_rate(tmp_path: Path) -> None:
    far = Speed(read=5 * MB, write=5 * MB, job_read=5 * MB, job_write=5 * MB)
    wanted = {"remote": frozenset({"in"}), "fast": speeds(remote=far)}
    simulator, placement = planned(tmp_path, fan(2), **wanted)
    found = simulator.predict(simulator.shared(placement, PERSISTENT))
    assert found.stage_in == pytest.approx(200 / 5)


@pytest.mark.parametrize("on_tier", range(3))
def test_each_file_takes_its_share_of_the_calls_to_the_tier(
    tmp_path: Path, on_tier: int
) -> None:
    """One file more there is a step of its share, and no step of all calls."""
    rated = {"read": 1e15, "write": 1e15, "job_read": 1e15, "job_write": 1e15}
    pfs = Speed(**rated, ops=100.0, job_ops=100.0)
    bb = Speed(**rated, ops=1e9, job_ops=1e9)
    files = [use(f"out{n}", "output", stageOut=False, **sized(MB)) for n in range(2)]
    simulator, placement = planned(
        tmp_path, [job("ID0", *files)], speeds(pfs=pfs, bb=bb)
    )
    demand = DemandRange(Demand(0.0, 1000.0), Demand(0.0, 1000.0))
    (load,) = simulator.planned.work.loads
    work = replace(simulator.planned.work, loads=(replace(load, demand=demand),))
    simulator = simulator.with_planned(replace(simulator.planned, work=work))
    placed = {
        lfn: replace(file, tier="bb" if at < on_tier else "pfs")
        for at, (lfn, file) in enumerate(placement.files.items())
    }
    mode = simulator.shared(replace(placement, files=placed), PERSISTENT)
    slow = (2 - on_tier) * (1 / 3 + 1 / 2) / 2 if on_tier else 1.0
    assert simulator.predict(mode).makespan == pytest.approx(slow * 10.0, abs=1e-3)


def test_a_reservation_has_the_bandwidth_of_its_granules(tmp_path: Path) -> None:
    fast = speeds(bb=replace(BB, per_granule=5.0 * MB))
    simulator, placement = planned(
        tmp_path, fan(2), fast=fast, tier={"granularity": "100MB"}
    )
    mode = simulator.shared(replace(placement, capacity=400 * MB), PERSISTENT)
    found = simulator.predict(mode)
    assert found.compute == pytest.approx(120 + 300 / 20 + 2 * 110 / 20)


def test_a_job_on_more_nodes_reads_and_writes_as_much_faster(tmp_path: Path) -> None:
    jobs = fan(1)
    jobs[0]["profiles"] = {"pegasus": {"nodes": 4}}
    fast = speeds(bb=replace(BB, per_node=True))
    simulator, placement = planned(tmp_path, jobs, fast=fast)
    found = simulator.predict(simulator.shared(placement, PERSISTENT))
    assert found.compute == pytest.approx(120 + 300 / 800 + 110 / 200)


def test_levels_overlap_as_the_edges_allow(tmp_path: Path) -> None:
    """The child of the short job does not wait for the long one beside its parent."""
    simulator, placement = planned(tmp_path, UNEVEN, history=TIMES)
    assert simulator.predict(simulator.off(placement)).makespan == pytest.approx(50)


def test_phases_do_not_run_side_by_side(tmp_path: Path) -> None:
    simulator, placement = planned(tmp_path, UNEVEN, history=TIMES)
    phases = PlannedPhases(limit=1, ends=(1, 2), peak=1)
    cut = simulator.shared(replace(placement, phases=phases), PERSISTENT)
    assert simulator.predict(cut).makespan == pytest.approx(50 + 40)


def test_each_job_for_itself(tmp_path: Path) -> None:
    """A transient reservation lives as long as its job, and moves each file again."""
    simulator, placement = planned(tmp_path, fan(2), tier={"granularity": "1MB"})
    mode = simulator.transient(placement, capacity=lambda need: need)
    found = simulator.predict(mode)
    # The batch system moves the files, before and after the job has its slot.
    first = 60 + 300 / 200 + 200 / 20 + 100 / 10
    second = 60 + 110 / 200 + 100 / 20 + 10 / 10
    assert found.makespan == pytest.approx(IN + first + second + 10 / 10)
    assert found.compute == pytest.approx(120 + 410 / 200)
    reserved = 300 * MB * first + 2 * 110 * MB * second
    assert found.byte_hours == pytest.approx(reserved / 3600)


def test_a_run_that_has_ended_needs_no_garbage_collection(tmp_path: Path) -> None:
    """Planning collects none: runs of large workflows would pile up."""
    simulator, placement = planned(tmp_path, fan(2))
    demands = demands_of(simulator.planned.work, 0)
    gc.disable()
    try:
        gone = weakref.ref(simulator.execute(simulator.off(placement), demands))
        assert gone() is None
    finally:
        gc.enable()


def test_where_computing_is_unknown_jobs_run_one_by_one_as_well(tmp_path: Path) -> None:
    simulator, placement = planned(tmp_path, fan(2), history=History())
    found = simulator.predict(simulator.off(placement))
    jobs = 200 / 20 + 100 / 10 + 2 * (100 / 20 + 10 / 10)
    assert found.one_by_one == pytest.approx(IN + jobs + 2 * 10 / 10)
    assert found.makespan < found.one_by_one
    simulator, placement = planned(tmp_path, UNEVEN, history=TIMES)
    assert simulator.predict(simulator.off(placement)).one_by_one is None


def test_a_prediction_says_why_it_is_a_range(tmp_path: Path) -> None:
    missed = speeds(pfs=replace(PFS, error=0.2))
    run = History(jobs={"ID0": Past(30.0)}, planned_sizes={"in": 100 * MB})
    jobs = [job("ID0", use("in", "input", **sized(200 * MB)))]
    simulator, placement = planned(tmp_path, jobs, missed, run)
    found = simulator.predict(simulator.off(placement))
    assert found.causes == (GROWTH, RATES)
