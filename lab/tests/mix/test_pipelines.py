"""The work of a campaign, drawn from a mix."""

from __future__ import annotations

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


def test_a_restart_begins_with_the_newest_checkpoint_that_is_anywhere() -> None:
    pipeline = Pipeline("a", 1, 10.0)
    assert pipeline.restart_point() is None
    pipeline.drained = Checkpoint(1, 1.0, 3.0, on_pfs=True)
    pipeline.newest = Checkpoint(1, 1.0, 5.0, on_buffer=True)
    assert pipeline.restart_point() is pipeline.newest
    pipeline.newest.on_buffer = False
    assert pipeline.restart_point() is pipeline.drained
