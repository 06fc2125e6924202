"""One job of all 100 nodes, hour by hour: what faults cost is computed by hand.

A checkpoint of 5000 GB takes 50 s on either buffer, 500 s to or from the PFS, and
41.67 s to read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from pegasus_bb_lab.mix.campaign import Campaign
from pegasus_bb_lab.mix.measures import Outcome
from pegasus_bb_lab.model.machine import LOCAL, ROUND_ROBIN, SHARED
from pegasus_bb_lab.model.mix import DALY, Application, Cores, Mix

from lab.tests.mix.machines import GB, HOUR, MACHINE, MIX, with_buffer
from pegasus_bb.forecast.simulated_clock import Steps

SAFE = replace(with_buffer(MACHINE, SHARED, placement=ROUND_ROBIN), faults=None)
ONE = replace(
    MIX,
    applications=(Application("all", 100, HOUR, Cores(1000, 1000), 1),),
    workflows=1,
    interval=HOUR,
    walltime=99 * HOUR,
    campaign=4 * HOUR,
)
READ = {SHARED: 5000 / 120, LOCAL: 500.0}  # after a fault of a compute node
BOTH = pytest.mark.parametrize("architecture", [SHARED, LOCAL])


def run(
    architecture: str,
    *faults: tuple[float, Callable[[Campaign], None]],
    mix: Mix = ONE,
    first: float = 1.0,
    **of_machine: Any,
) -> tuple[Outcome, Campaign]:
    campaign = Campaign(replace(SAFE, **of_machine), mix, architecture, 0)
    campaign.pipelines[0].first = first

    def fault(time: float, act: Callable[[Campaign], None]) -> Steps:
        yield time
        act(campaign)

    for time, act in faults:
        campaign.simulation.start(fault(time, act))
    return campaign.run(), campaign


def compute_node(campaign: Campaign) -> None:
    campaign.compute_node_fails(7, 60.0)


def seconds(found: Outcome) -> float:
    return found.days * 24 * HOUR


@BOTH
def test_without_faults(architecture: str) -> None:
    found, _ = run(architecture)
    assert seconds(found) == pytest.approx(4 * HOUR + 3 * 50)
    assert found.dumps == 3
    assert found.median == pytest.approx(100 * GB)
    assert found.lost_node_hours == pytest.approx(0, abs=1e-9)


@BOTH
def test_what_was_computed_since_the_checkpoint_is_done_again(
    architecture: str,
) -> None:
    """The second checkpoint is complete at 7300 s, and on the PFS at 7800 s."""
    found, _ = run(architecture, (9000, compute_node))
    read = READ[architecture]
    assert seconds(found) == pytest.approx(9060 + read + HOUR + 50 + HOUR)
    assert found.lost_node_hours == pytest.approx(100 * (9000 - 7300) / HOUR)
    assert found.restart_node_hours == pytest.approx(100 * read / HOUR)
    assert found.productive_node_hours == pytest.approx(400)
    assert (found.dumps, found.interrupts) == (3, 1)


@BOTH
@pytest.mark.parametrize(("first", "jobs"), [(1.0, 2), (0.5, 3)])
def test_each_job_of_a_pipeline_ends_with_a_checkpoint(
    architecture: str, first: float, jobs: int
) -> None:
    """The wall time is 8 hours, the first job may have less. The last has none."""
    mix = replace(ONE, interval=DALY, walltime=8 * HOUR, campaign=20 * HOUR)
    found, campaign = run(architecture, mix=mix, first=first)
    assert found.dumps == jobs
    newest = campaign.pipelines[0].newest
    assert newest is not None
    read = {SHARED: 5000 / 120, LOCAL: 50 / 1.2}[architecture]
    wall = (first + jobs - 1) * 8 * HOUR
    assert newest.progress == pytest.approx(wall - jobs * 50 - (jobs - 1) * read)
