"""A workflow whose files do not fit at once runs in phases, and never fills the tier.

What is on the tier is counted while nodes start and end in a random order that the
sealed DAG allows: by hand, from what nodes do, and not from any formula of ours.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.core.errors import NotSealed
from pegasus_bb.decide.decision import Ending, PlacementDecision, PlanningInput
from pegasus_bb.decide.liveness import lives_of
from pegasus_bb.decide.sizing import fit_into_capacity
from pegasus_bb.model.document import Document
from pegasus_bb.model.graph import build_graph
from pegasus_bb.model.placement import PlacedFile, Placement, PlannedPhases
from pegasus_bb.model.settings import Settings
from pegasus_bb.model.workflow import read_workflow
from pegasus_bb.planner.builtin.executable import BuiltInExecutable
from pegasus_bb.planner.seal.live_bytes import check_phases, live_bytes
from pegasus_bb.planner.seal.phases import SealedPhases
from tests.planner.conftest import new_job
from tests.planner.orders import any_order
from tests.planner.test_cleanup_order import QUIET, any_runner

Data = dict[str, Any]
__all__ = ["any_runner"]


def of_ten(lfn: str) -> int:
    """The program takes no room, so that sums are easy."""
    return 0 if lfn == "count" else 10


def sized(runner: Any, sizes: Callable[[str], int | None], **changes: Any) -> Placement:
    """Every file on the tier, a staged program as well; each with its size."""
    runner.persistent()
    placement: Placement = runner.context.placement
    placement = replace(placement, tier=replace(placement.tier, granularity=1))
    files = dict(placement.files)
    files["count"] = PlacedFile("count", "input", "bb", "copy", 0, "a test")
    files = {lfn: replace(f, size=sizes(lfn)) for lfn, f in files.items()}
    placement = replace(placement, files=files, **changes)
    runner.change(placement=placement)
    return placement


def fit(runner: Any, limit: int, cleanup: str = "inplace") -> Placement:
    """What deciding makes of a capacity of ``limit``; the runner plans with it."""
    data = {"pegasus": "5.0", "name": "demo", "jobs": runner.jobs}
    workflow = read_workflow(Document(runner.context.submit_dir, data))
    _, catalogs = runner.read()
    catalogs.tiers["cori"] = [runner.context.placement.tier]
    given = PlanningInput(
        workflow=workflow,
        graph=build_graph(workflow),
        catalogs=catalogs,
        settings=Settings(capacity=limit),
        site=catalogs.sites.site("cori"),
        ending=Ending(cleanup),
    )
    placement = with_lives(given, runner.context.placement)
    decision, _ = fit_into_capacity(given, PlacementDecision(placement))
    placement = decision.placement
    runner.change(placement=placement, cleanup=cleanup)
    return placement


def with_lives(given: PlanningInput, placement: Placement) -> Placement:
    """As placing by rules has it."""
    lives = lives_of(given, "cori", placement.files)
    files = {
        lfn: replace(file, lifetime=last - first + 1, cohort=last)
        for lfn, file in placement.files.items()
        for first, last in [lives[lfn]]
    }
    return replace(placement, files=files)


def moved(
    planned: BuiltInExecutable, placement: Placement, starts: bool
) -> dict[str, int]:
    """Node -> bytes that it brings to the tier as it starts, or removes as it ends."""
    found = {}
    for job in planned.jobs.values():
        lfns = [use.lfn for use in job.job.outputs()] if job.job and starts else []
        for entry in job.entries or []:
            if starts and entry.get("linkage") == "input":
                lfns.append(entry["lfn"])
            elif entry["type"] == "remove" and not starts:
                url = entry["target"]["url"]
                lfns.append(url.removeprefix(f"file://{planned.scratch}/"))
        here = (placement.files[n] for n in lfns if n in placement.files)
        found[job.name] = sum(f.size or 0 for f in here if placement.on_tier(f.lfn))
    return found


def most(planned: BuiltInExecutable, placement: Placement, random: Random) -> int:
    """The most bytes that are ever on the tier in one run."""
    more, less = (moved(planned, placement, starts) for starts in (True, False))
    held = highest = 0
    for name, starts in any_order(planned.dag, random):
        held += more[name] if starts else -less[name]
        highest = max(highest, held)
    return highest


def ladder(runner: Any, rungs: int, width: int) -> None:
    """``width`` chains of ``rungs`` jobs, each with a file for the next."""
    runner.jobs = [
        new_job(
            f"J{n}-{m}",
            "split",
            [f"f{n - 1}-{m}"] if n else ["in.txt"],
            [f"f{n}-{m}" if n < rungs - 1 else f"!out-{m}"],
        )
        for n in range(rungs)
        for m in range(width)
    ]


def tight(runner: Any) -> tuple[BuiltInExecutable, SealedPhases]:
    """Six rungs of three jobs, planned for 70 of their 190 bytes."""
    ladder(runner, 6, 3)
    sized(runner, of_ten)
    fit(runner, 70)
    planned: BuiltInExecutable = runner.plan()
    assert planned.phases is not None
    return planned, planned.phases


def test_one_byte_too_many_is_refused_with_the_largest_files(runner: Any) -> None:
    planned, phases = tight(runner)
    held = max(live_bytes(planned.dag, phases))
    check_phases(planned.dag, replace(phases, limit=held))
    with pytest.raises(NotSealed, match=rf"there could be {held} B .*files are f\d-"):
        check_phases(planned.dag, replace(phases, limit=held - 1))


def test_phases_that_the_executable_dag_does_not_allow_are_refused(runner: Any) -> None:
    ladder(runner, 4, 1)
    sized(runner, lambda lfn: 10, phases=PlannedPhases(limit=19, ends=(1, 2), peak=19))
    with pytest.raises(NotSealed, match="do not fit into 19 B") as told:
        runner.plan()
    assert "--cleanup leaf" in str(told.value)


@QUIET
@given(seed=st.integers(0, 1 << 30))
def test_with_an_edge_taken_out_it_is_refused_or_still_never_full(
    any_runner: Any, seed: int
) -> None:
    runner = deepcopy(any_runner)
    random = Random(seed)
    runner.replicas["replicas"].append(
        {"lfn": "in.txt", "pfns": [{"site": "cori", "pfn": "/lus/inputs/in.txt"}]}
    )
    ladder(runner, 5, 3)
    sized(runner, lambda lfn: random.randrange(5, 10) * (lfn != "count"))
    placement = fit(runner, 60)
    planned = runner.plan()
    assert planned.phases is not None
    dag = deepcopy(planned.dag)
    parent = random.choice([name for name, below in dag.children.items() if below])
    dag.children[parent].remove(random.choice(dag.children[parent]))
    try:
        check_phases(dag, planned.phases)
    except NotSealed:
        return
    assert most(replace(planned, dag=dag), placement, random) <= 60
