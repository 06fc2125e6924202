"""Deciding as a whole: cheap, and the same each time."""

from __future__ import annotations

import time

import pytest

from pegasus_bb.model.graph import build_graph
from pegasus_bb.placement import decide
from tests.placement.world import World, job, sized, use


def test_the_same_in_gives_the_same_out(world: World) -> None:
    assert world.decide() == world.decide()


def test_need_counts_what_is_on_the_tier_and_nothing_else(world: World) -> None:
    world.placement = "in.txt: pfs\nout.txt: pfs\n"
    placement = world.decide()
    there = [file for file in placement.files.values() if placement.on_tier(file.lfn)]
    assert {file.lfn for file in there} == {"mid.txt", "keep.txt", "ref.txt"}
    assert placement.need == sum(file.size or 0 for file in there) == 230


@pytest.mark.slow
def test_thousands_of_jobs_and_hundreds_of_patterns_are_decided_in_a_moment(
    world: World,
) -> None:
    world.jobs = [
        job(f"J{n}", use("in", "input", **sized(1)), use(f"f{n}", "output", **sized(1)))
        for n in range(4_000)
    ]
    exact = [f"f{n}: pfs" for n in range(0, 4_000, 10)]
    globs = [f"'f{n}[13579]': pfs" for n in range(100, 200)]
    world.placement = "\n".join(exact + globs)
    workflow, catalogs, settings = world.read()
    graph = build_graph(workflow)
    start = time.process_time()
    placement = decide(
        workflow, graph, catalogs, catalogs.tiers["cluster"][0], settings
    )
    assert time.process_time() - start < 2
    assert placement.files["f1005"].tier == "pfs"
    assert placement.files["f1006"].tier == "bb"
