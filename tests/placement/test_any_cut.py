"""Whatever the workflow: the figures of every cut, counted file by file."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pegasus_bb.model.graph import Graph, build_graph
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.workflow import Workflow
from pegasus_bb.placement.cuts import Cut, cuts, lives_of
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


def by_hand(workflow: Workflow, graph: Graph, placement: Placement, level: int) -> Cut:
    need = carried = moved = 0
    for lfn, file in placement.files.items():
        users = [
            graph.level[job.id]
            for job in workflow.jobs.values()
            for each in job.uses
            if each.lfn == lfn
        ]
        size, after = file.size or 0, sum(user > level for user in users)
        before = len(users) - after
        if file.role == "input":
            need += size * (before > 0 and not after)
            moved += size * len(users) * (after > 0)
        else:
            need += size * (before > 0)
            moved += size * after
        carried += size * (before > 0 and after > 0)
    return Cut(level, need, carried, moved, is_free=True)


@settings(max_examples=40, deadline=None)
@given(workflows())
def test_each_cut_is_what_counting_gives(jobs: list[dict[str, Any]]) -> None:
    with TemporaryDirectory() as folder:
        world = World(Path(folder), jobs=jobs)
        workflow, catalogs, _ = world.read()
        graph, placement = build_graph(workflow), world.decide()
    lives = lives_of(workflow, graph, catalogs, world.site)
    _, found = cuts(graph, placement, lives)
    levels = max(graph.level.values())
    assert found == [
        by_hand(workflow, graph, placement, level) for level in range(1, levels)
    ]
