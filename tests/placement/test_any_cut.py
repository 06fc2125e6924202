"""Whatever the workflow: the figures of every cut, counted file by file."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pegasus_bb.errors import UsageError
from pegasus_bb.model.graph import Graph, build_graph
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.workflow import Workflow
from pegasus_bb.placement.cuts import Cut, Cuts, lives_of
from tests.placement.world import World, job, sized, use


@st.composite
def workflows(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Each job makes a file, and reads some of what came before and some inputs."""
    number = draw(st.integers(2, 7))
    jobs = []
    for at in range(number):
        older = st.sampled_from([f"made{n}" for n in range(at)] or ["in0"])
        inputs = st.sampled_from(["in0", "in1", "in2"])
        reads = draw(st.lists(older, max_size=2)) + draw(st.lists(inputs, max_size=2))
        size = sized(1 << at)
        uses = [use(lfn, "input", **_size(lfn)) for lfn in dict.fromkeys(reads)]
        jobs.append(job(f"j{at}", *uses, use(f"made{at}", "output", **size)))
    return jobs


def _size(lfn: str) -> dict[str, Any]:
    return sized(1000 * (1 + int(lfn[2:]))) if lfn.startswith("in") else {}


def by_hand(
    workflow: Workflow, graph: Graph, placement: Placement, ends: tuple[int, int]
) -> Cut:
    need = carried = moved = 0
    for lfn, file in placement.files.items():
        users = [
            graph.level[job.id]
            for job in workflow.jobs.values()
            for each in job.uses
            if each.lfn == lfn
        ]
        size, after = file.size or 0, sum(user > ends[1] for user in users)
        early, inside = min(users) <= ends[0], min(users) <= ends[1]
        if early or not inside or (file.role == "input" and after):
            moved += size * len(users)  # all of it on the PFS
        else:
            need += size
            moved += size * after
        carried += size * (inside and not early and after > 0)
    return Cut(*ends, need, carried, moved, is_free=True)


@settings(max_examples=40, deadline=None)
@given(workflows())
def test_each_cut_is_what_counting_gives(jobs: list[dict[str, Any]]) -> None:
    with TemporaryDirectory() as folder:
        world = World(Path(folder), jobs=jobs)
        workflow, catalogs, _ = world.read()
        graph, placement = build_graph(workflow), world.decide()
    cuts = Cuts(graph, placement, lives_of(workflow, graph, catalogs, world.site))
    levels = range(cuts.levels + 1)
    known = {
        (opens, closes): by_hand(workflow, graph, placement, (opens, closes))
        for opens, closes in combinations(levels, 2)
    }
    assert {each[:2]: each for each in cuts.rows()} == known
    for end in levels:
        row = {each[:2]: each for each in cuts.row(end)}
        column = {each[:2]: each for each in cuts.column(end)}
        assert row == {ends: cut for ends, cut in known.items() if ends[0] == end}
        assert column == {ends: cut for ends, cut in known.items() if ends[1] == end}


@settings(max_examples=40, deadline=None)
@given(workflows())
def test_no_job_looks_for_a_file_where_it_is_not(jobs: list[dict[str, Any]]) -> None:
    """With the best cut at both ends, or the one end that can be."""
    with TemporaryDirectory() as folder:
        world = World(Path(folder), jobs=jobs, tier={"granularity": "1KiB"})
        world.defines = ["pegasus.bb.mode=persistent", "pegasus.bb.headroom=0"]
        world.defines += ["pegasus.bb.open=late", "pegasus.bb.close=end"]
        workflow, _, _ = world.read()
        placement = cut_somehow(world)
    if placement is None:
        return  # one level, or nothing saved
    opening, closing = placement.opening, placement.closing
    assert opening is not None
    for ident, each in workflow.jobs.items():
        for lfn in (one.lfn for one in each.uses):
            on_tier = placement.on_tier(lfn)
            if placement.is_before(ident):
                assert not on_tier
            elif not placement.is_after(ident):
                assert on_tier or lfn not in opening.used or lfn in opening.files
            elif on_tier:
                assert closing is not None
                assert lfn in closing.files
    here = [f.size or 0 for f in placement.files.values() if f.tier == "bb"]
    assert sum(here) <= placement.capacity  # in whatever order they come to be


def cut_somehow(world: World) -> Placement | None:
    for close in ("early", "end"):
        world.defines[-1] = f"pegasus.bb.close={close}"
        try:
            return world.decide()
        except UsageError:
            continue
    return None
