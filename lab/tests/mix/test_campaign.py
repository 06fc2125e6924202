"""Campaigns of a small machine."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pegasus_bb_lab.mix.campaign import simulate
from pegasus_bb_lab.mix.measures import Outcome
from pegasus_bb_lab.model.machine import LEAST_LOADED, LOCAL, SHARED, Faults

from lab.tests.mix.machines import MACHINE, MIX, with_buffer
from pegasus_bb.core.errors import UsageError

BOTH = pytest.mark.parametrize("architecture", [SHARED, LOCAL])


def parts(found: Outcome) -> float:
    return (
        found.productive_node_hours
        + found.dump_node_hours
        + found.restart_node_hours
        + found.lost_node_hours
    )


@BOTH
@pytest.mark.parametrize("seed", range(2))
def test_all_work_is_done_and_every_node_hour_accounted_for(
    architecture: str, seed: int
) -> None:
    found = simulate(MACHINE, MIX, architecture, seed)
    assert found.complete
    assert found.productive_node_hours == pytest.approx(100 * 96)
    assert found.node_hours == pytest.approx(parts(found))
    assert found.interrupts > 0
    assert found.lost_node_hours > 0


@BOTH
def test_the_same_seed_is_the_same_campaign(architecture: str) -> None:
    machine = with_buffer(MACHINE, SHARED, placement=LEAST_LOADED)
    first = simulate(machine, MIX, architecture, 5)
    assert simulate(machine, MIX, architecture, 5) == first
    assert simulate(machine, MIX, architecture, 6) != first


def test_a_checkpoint_that_no_job_could_complete_is_refused() -> None:
    slow = with_buffer(MACHINE, LOCAL, write=1e6)
    with pytest.raises(UsageError, match=r"machine\.yml: a checkpoint of"):
        simulate(slow, MIX, LOCAL, 0)
    often = replace(MACHINE, faults=Faults(1.0, 0.0))
    with pytest.raises(UsageError, match="fails after"):
        simulate(often, MIX, LOCAL, 0)
