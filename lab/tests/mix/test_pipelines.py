"""The work of a campaign, drawn from a mix."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace

import numpy as np
import pytest
from pegasus_bb_lab.mix.pipelines import Checkpoint, Pipeline, draw_pipelines
from pegasus_bb_lab.model.mix import Mix, Sizes

from lab.tests.mix.machines import HOUR, MACHINE, MIX

SPREAD = replace(MIX, sizes=Sizes(1.5, 0.4))


def drawn(mix: Mix, seed: int = 0) -> list[Pipeline]:
    return draw_pipelines(mix, MACHINE, np.random.default_rng(seed))


@pytest.mark.parametrize("mix", [MIX, SPREAD, replace(MIX, workflows=12)])
def test_each_application_has_its_share_of_the_machine(mix: Mix) -> None:
    found = drawn(mix)
    for name, share in (("wide", 2 / 3), ("narrow", 1 / 3)):
        work = sum(each.nodes * each.work for each in found if each.name == name)
        assert work == pytest.approx(share * 100 * 96 * HOUR)


def test_sizes_of_the_table() -> None:
    sizes = {each.nodes for each in drawn(MIX)}
    assert sizes == {40, 80, 5, 10}
    # Half of the narrow pipelines are hero runs.
    narrow = [each.nodes for each in drawn(MIX) if each.name == "narrow"]
    assert narrow.count(10) == pytest.approx(len(narrow) / 2, abs=1)


def test_pipelines_compute_for_about_their_wall_time() -> None:
    for each in drawn(MIX):
        assert each.work == pytest.approx(
            {"wide": 30, "narrow": 10}[each.name] * HOUR, 0.4
        )


def test_log_normal_sizes() -> None:
    many = replace(SPREAD, workflows=300)
    logs = [math.log(each.nodes) for each in drawn(many) if each.name == "narrow"]
    assert statistics.fmean(logs) == pytest.approx(math.log(7.5), abs=0.05)
    assert statistics.stdev(logs) == pytest.approx(0.4, abs=0.05)


def test_no_pipeline_is_larger_than_the_machine() -> None:
    found = drawn(replace(SPREAD, sizes=Sizes(2.4, 3.0), workflows=99))
    assert max(each.nodes for each in found) == 100
    assert min(each.nodes for each in found) >= 1


def test_runs_of_the_whole_machine_come_on_top() -> None:
    found = [each for each in drawn(replace(MIX, full_machine=2)) if each.nodes == 100]
    assert [(each.name, each.work) for each in found] == [
        ("full machine", 8 * HOUR)
    ] * 2


def test_the_seed_decides_sizes_and_order() -> None:
    def sizes(seed: int) -> list[tuple[int, float]]:
        return [(each.nodes, each.work) for each in drawn(SPREAD, seed)]

    assert sizes(1) == sizes(1)
    assert sizes(1) != sizes(2)


def test_a_restart_begins_with_the_newest_checkpoint_that_is_anywhere() -> None:
    pipeline = Pipeline("a", 1, 10.0)
    assert pipeline.restart_point() is None
    pipeline.drained = Checkpoint(1, 1.0, 3.0, on_pfs=True)
    pipeline.newest = Checkpoint(1, 1.0, 5.0, on_buffer=True)
    assert pipeline.restart_point() is pipeline.newest
    pipeline.newest.on_buffer = False
    assert pipeline.restart_point() is pipeline.drained
