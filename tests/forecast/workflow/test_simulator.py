"""What a planned workflow would take, worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pegasus_bb.forecast.workflow.prediction import Prediction
from pegasus_bb.forecast.workflow.simulator import Simulator
from pegasus_bb.model.history import History, Past
from pegasus_bb.model.placement import JobReservation, PlannedPhases
from pegasus_bb.model.start_overhead import Startup
from tests.decide.user_files import job, sized, use
from tests.support.counting import calls

from .planned import MB, PFS, fan, planned, speeds

# One stage-in job copies the only input, as fast as one job may write to the PFS.
IN = 200 / 10


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
    found = simulator.predict(simulator.shared(placement, "persistent"))
    assert found.stage_in == pytest.approx(200 / 20)  # as fast as the PFS gives it
    assert found.compute == pytest.approx((60 + 300 / 200) + (60 + 110 / 200))
    assert found.stage_out == pytest.approx(10 / 10)
    assert found.byte_hours == pytest.approx(1000 * MB * found.makespan / 3600)


def test_an_input_that_mode_off_links_is_not_copied(tmp_path: Path) -> None:
    simulator, placement = planned(tmp_path, fan(2), linked=frozenset(["in"]))
    assert simulator.predict(simulator.off(placement)).stage_in == 0
    shared = simulator.shared(placement, "persistent")
    assert simulator.predict(shared).stage_in == pytest.approx(10)


def test_many_jobs_share_the_slots(tmp_path: Path) -> None:
    def seconds(slots: int) -> float:
        simulator, placement = planned(tmp_path, fan(8), speeds(slots), delivered=False)
        return simulator.predict(simulator.off(placement)).compute

    assert seconds(2) - seconds(4) == pytest.approx(2 * (60 + 100 / 20 + 10 / 10))


def test_many_jobs_share_the_bandwidth(tmp_path: Path) -> None:
    """100 jobs read 100 MB each of a PFS that gives 100 MB/s to all."""
    simulator, placement = planned(tmp_path, fan(100))
    found = simulator.predict(simulator.off(placement))
    first = 60 + 10 + 10
    assert found.compute == pytest.approx(first + 100 * 100 / 100 + 60 + 100 * 10 / 50)


def test_readers_and_writers_share_a_server(tmp_path: Path) -> None:
    """Together they take the seconds of both, on a place that one job can fill."""
    full = replace(PFS, job_read=PFS.read, job_write=PFS.write)
    reader = job("ID0", use("in", "input", **sized(1000 * MB)))
    writer = job("ID1", use("out", "output", stageOut=False, **sized(500 * MB)))
    for together in ([reader], [writer], [reader, writer]):
        simulator, placement = planned(
            tmp_path,
            together,
            speeds(pfs=full),
            History(),
            linked=frozenset(["in"]),
        )
        found = simulator.predict(simulator.off(placement))
        assert found.makespan == pytest.approx(10 * len(together))


def test_levels_overlap_as_the_edges_allow(tmp_path: Path) -> None:
    """The child of the short job does not wait for the long one beside its parent."""
    past = {"ID0": Past(10.0), "ID1": Past(50.0), "ID2": Past(40.0)}
    chain = [
        job("ID0", use("a", "output", stageOut=False, **sized(0))),
        job("ID1", use("b", "output", stageOut=False, **sized(0))),
        job("ID2", use("a", "input"), use("c", "output", stageOut=False, **sized(0))),
    ]
    simulator, placement = planned(tmp_path, chain, history=History(jobs=past))
    assert simulator.predict(simulator.off(placement)).makespan == pytest.approx(50)


def test_phases_do_not_run_side_by_side(tmp_path: Path) -> None:
    past = {"ID0": Past(10.0), "ID1": Past(50.0), "ID2": Past(40.0)}
    jobs = [
        job("ID0", use("a", "output", stageOut=False, **sized(0))),
        job("ID1", use("b", "output", stageOut=False, **sized(0))),
        job("ID2", use("a", "input"), use("c", "output", stageOut=False, **sized(0))),
    ]
    simulator, placement = planned(tmp_path, jobs, history=History(jobs=past))
    phases = PlannedPhases(limit=1, ends=(1, 2), peak=1)
    cut = simulator.shared(replace(placement, phases=phases), "persistent")
    assert simulator.predict(cut).makespan == pytest.approx(50 + 40)


def test_opening_files_takes_its_time(tmp_path: Path) -> None:
    def compute(latency: float) -> float:
        slow = replace(PFS, latency=latency)
        simulator, placement = planned(tmp_path, fan(2), speeds(pfs=slow))
        return simulator.predict(simulator.off(placement)).compute

    assert compute(0.5) - compute(0.0) == pytest.approx(2 * 2 * 0.5)


def test_starting_jobs_takes_its_time(tmp_path: Path) -> None:
    """create_dir, stage-in, two levels of jobs, stage-out, and the folder's removal."""

    def makespan(startup: Startup) -> float:
        simulator, placement = planned(
            tmp_path, fan(2), startup=startup, cleanup="leaf"
        )
        return simulator.predict(simulator.off(placement)).makespan

    plain = makespan(Startup(0.0, 0.0, 0.0))
    assert makespan(Startup(0.0, 1.0, 0.0)) - plain == pytest.approx(2)
    assert makespan(Startup(0.0, 0.0, 1.0)) - plain == pytest.approx(4)
    assert makespan(Startup(1.0, 0.0, 0.0)) - plain == pytest.approx(6)


def test_a_file_that_stays_on_the_pfs_is_read_there(tmp_path: Path) -> None:
    simulator, placement = planned(tmp_path, fan(2), tier={"intermediate": "pfs"})
    found = simulator.predict(simulator.shared(placement, "persistent"))
    expected = (60 + 200 / 200 + 100 / 10) + (60 + 100 / 20 + 10 / 200)
    assert found.compute == pytest.approx(expected)


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


def test_a_job_reservation_beside_the_shared_one(tmp_path: Path) -> None:
    """Its result is written there, comes back to the PFS, and is staged out from it."""
    simulator, placement = planned(tmp_path, fan(2))
    lfn, size = "out1", 10 * MB
    own = JobReservation((), (lfn,), ("mid",), (), need=size, capacity=20 * MB)
    files = {**placement.files, lfn: replace(placement.files[lfn], tier="pfs")}
    parted = replace(placement, files=files, job_reservations={"ID1": own})
    found = simulator.predict(simulator.shared(parted, "hybrid"))
    # Written at the speed of the tier, copied at that of the PFS, then staged out.
    seconds = 60 + 110 / 200 + 10 / 10
    whole = 200 / 20 + (60 + 300 / 200) + seconds + 10 / 10
    assert found.makespan == pytest.approx(whole)
    hours = (1000 * MB * found.makespan + 20 * MB * seconds) / 3600
    assert found.byte_hours == pytest.approx(hours)


def test_what_a_job_reservation_shares_is_copied_on_the_tier(tmp_path: Path) -> None:
    simulator, placement = planned(tmp_path, fan(2))
    own = JobReservation((), (), ("in",), (), need=100 * MB, capacity=1, share=("mid",))
    shares = replace(placement, job_reservations={"ID0": own})
    plain, found = (
        simulator.predict(simulator.shared(each, "hybrid")).makespan
        for each in (placement, shares)
    )
    assert found - plain == pytest.approx(100 / 200)


def test_the_wait_for_the_reservation_is_in_the_modes_with_a_gate(
    tmp_path: Path,
) -> None:
    """Nothing is reserved meanwhile."""
    simulator, placement = planned(tmp_path, fan(2), wait=3600.0)
    shared = simulator.predict(simulator.shared(placement, "persistent"))
    assert shared.wait == 3600
    lasts = shared.makespan - 3600
    assert shared.byte_hours == pytest.approx(1000 * MB * lasts / 3600)
    assert simulator.predict(simulator.off(placement)).wait == 0


def many_small_files(folder: Path, of_pfs: float, of_tier: float) -> list[Prediction]:
    """A task of 60 s on the PFS, of which the kernel had 40 s; off and persistent."""
    places = {
        name: replace(speed, ops=ops, job_ops=ops)
        for (name, speed), ops in zip(
            speeds().places.items(), (of_pfs, of_tier), strict=True
        )
    }
    past = History(transformations={"work": Past(60.0, user=10.0, kernel=40.0)})
    alone = [job("ID0", use("out", "output", stageOut=False, **sized(0)))]
    simulator, placement = planned(folder, alone, speeds(**places), past)
    modes = simulator.off(placement), simulator.shared(placement, "persistent")
    return [simulator.predict(mode) for mode in modes]


def test_what_the_kernel_did_may_have_been_operations(tmp_path: Path) -> None:
    """A bound: at best a tier with ten times the rate takes a tenth of it."""
    off, found = many_small_files(tmp_path, 1000.0, 10_000.0)
    assert off.range == "1 min 00 s"
    assert (found.pessimistic, found.optimistic) == pytest.approx((60, 24))
    assert found.range == "24.0 s to 1 min 00 s"


def test_a_tier_may_do_fewer_operations_than_the_pfs(tmp_path: Path) -> None:
    _, found = many_small_files(tmp_path, 1000.0, 500.0)
    assert (found.low, found.high) == pytest.approx((60, 100))


def test_jobs_share_the_operations_of_a_place(tmp_path: Path) -> None:
    """Four jobs of 1000 operations on a place that does 100 a second."""
    small = replace(PFS, ops=100.0, job_ops=50.0)
    past = History(transformations={"work": Past(20.0, kernel=20.0)})
    jobs = [
        job(f"ID{n}", use(f"out{n}", "output", stageOut=False, **sized(0)))
        for n in range(4)
    ]
    simulator, placement = planned(tmp_path, jobs, speeds(pfs=small), past)
    found = simulator.predict(simulator.off(placement))
    assert (found.low, found.high) == pytest.approx((20, 40))


@pytest.mark.parametrize("mode", ["off", "transient"])
def test_twice_the_jobs_cost_twice_as_much(tmp_path: Path, mode: str) -> None:
    def run(simulator: Simulator, placement: object) -> None:
        made = (
            simulator.off(placement)  # type: ignore[arg-type]
            if mode == "off"
            else simulator.transient(placement, lambda need: need)  # type: ignore[arg-type]
        )
        simulator.predict(made)

    def cost(width: int) -> int:
        past = {f"ID{n}": Past(10.0 + n % 17) for n in range(width + 1)}
        simulator, placement = planned(
            tmp_path, fan(width), speeds(8), History(jobs=past), cleanup="inplace"
        )
        return calls(lambda: run(simulator, placement))

    assert cost(400) < 2.3 * cost(200)


def test_a_mode_by_another_name_is_told(tmp_path: Path) -> None:
    """Reasons do not matter, places do."""
    simulator, placement = planned(tmp_path, fan(2))
    persistent = simulator.shared(placement, "persistent")
    files = {lfn: replace(f, reason="x") for lfn, f in placement.files.items()}
    same = simulator.shared(replace(placement, files=files), "hybrid")
    moved = {**files, "mid": replace(files["mid"], tier="pfs")}
    other = simulator.shared(replace(placement, files=moved), "hybrid")
    assert persistent.does_the_same(same)
    assert not persistent.does_the_same(other)
    assert not persistent.does_the_same(simulator.off(placement))
