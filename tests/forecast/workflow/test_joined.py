"""A chain is one task of a forecast, which brings and saves what leaves its node."""

from __future__ import annotations

from pathlib import Path

from pegasus_bb.decide.job_reservations import reservation_maker
from pegasus_bb.forecast.demands.demand import Demand, DemandRange
from pegasus_bb.forecast.workflow.workload import Workload, joined, workload
from pegasus_bb.model.history import History
from pegasus_bb.model.placement import Chain
from pegasus_bb.model.speeds import Speed, Speeds
from tests.support.user_files import User, job, own_profile, sized, use

MB = 1_000_000
RATE = Speed(100 * MB, 100 * MB, 100 * MB, 100 * MB)
SPEEDS = Speeds(4, {"pfs": RATE, "bb": RATE}, "sites.yml:9")


def diamond(folder: Path) -> Workload:
    """a feeds b and c, these feed d; a, b and c are a chain. Each computes for 5 s."""
    jobs = [
        job("a", use("in", "input", **sized(MB)), made("a.out")),
        job("b", use("a.out", "input"), made("b.out")),
        job("c", use("a.out", "input"), use("in", "input", **sized(MB)), made("c.out")),
        job("d", use("b.out", "input"), use("c.out", "input"), made("d.out")),
    ]
    defines = ["pegasus.bb.mode=transient", "pegasus.bb.chains=on"]
    tier = {"backend": "node-local", "path": "/nvme"}
    user = User(folder, jobs=jobs, tier=tier, defines=defines)
    given, placement = user.given(), user.decision().placement
    known = History()
    work = workload(
        given.workflow, given.graph, placement.files, SPEEDS, known, profile=own_profile
    )
    five = DemandRange(Demand(5.0, 10.0), Demand(5.0, 10.0))
    for load in work.loads:
        load.demand = five
    ids = ("a", "b", "c")
    own = reservation_maker(given, placement)([given.workflow.jobs[x] for x in ids])
    return joined(work, [Chain(ids, own, 0)])


def made(lfn: str) -> dict[str, object]:
    return use(lfn, "output", stageOut=lfn == "d.out", **sized(2 * MB))


def test_a_chain_is_one_task_with_the_work_of_all_of_its_jobs(tmp_path: Path) -> None:
    work = diamond(tmp_path)
    chain, last = work.loads
    assert chain.demand.pessimistic == Demand(15.0, 30.0)
    assert (chain.level, last.level) == (1, 2)
    assert work.graph.children == {"a": ["d"], "d": []}
    assert work.graph.consumers["b.out"] == ["d"]


def test_a_file_comes_and_goes_once_and_each_task_reads_it(tmp_path: Path) -> None:
    chain, _ = diamond(tmp_path).loads
    assert [lfn for lfn, _ in chain.reads] == ["in", "a.out"]
    assert (chain.read, chain.written) == ((1 + 2 + 2 + 1) * MB, 6 * MB)
    assert chain.own is not None
    assert (chain.own.stage_in, chain.own.stay) == (("in",), ("a.out",))
    assert chain.own.stage_out == ("b.out", "c.out")
