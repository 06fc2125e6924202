"""One job of all 100 nodes, hour by hour: what faults cost is computed by hand.

A checkpoint of 5000 GB takes 50 s on either buffer, 500 s to or from the PFS, and
41.67 s to read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from pegasus_bb_lab.mix.burst_buffers import SharedBuffer
from pegasus_bb_lab.mix.campaign import Campaign
from pegasus_bb_lab.mix.measures import Outcome
from pegasus_bb_lab.model.machine import LOCAL, ROUND_ROBIN, SHARED, Faults
from pegasus_bb_lab.model.mix import DALY, Application, Mix

from lab.tests.mix.machines import GB, HOUR, MACHINE, MIX, with_buffer
from pegasus_bb.forecast.kernel import Steps

SAFE = replace(with_buffer(MACHINE, SHARED, placement=ROUND_ROBIN), faults=None)
ONE = replace(
    MIX,
    applications=(Application("all", 100, HOUR, 1000, 1000, 1),),
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


def buffer_node(campaign: Campaign) -> None:
    campaign.buffer_node_fails(3, 60.0)


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


def test_a_local_checkpoint_that_the_pfs_has_not_yet_is_gone() -> None:
    """It starts from the first, an hour earlier."""
    found, _ = run(LOCAL, (7500, compute_node))
    assert seconds(found) == pytest.approx(7560 + 500 + 2 * (HOUR + 50) + HOUR)
    assert found.lost_node_hours == pytest.approx(100 * (HOUR + 200) / HOUR)


def test_parity_keeps_it() -> None:
    """Checkpoints take 100 s, the second is complete at 7400 s."""
    found, _ = run(LOCAL, (7500, compute_node), parity=0.5)
    assert found.lost_node_hours == pytest.approx(100 * 100 / HOUR)


@BOTH
def test_a_fault_before_the_first_checkpoint(architecture: str) -> None:
    found, _ = run(architecture, (3000, compute_node))
    assert seconds(found) == pytest.approx(3060 + 4 * HOUR + 3 * 50)
    assert found.restart_node_hours == 0


def test_a_buffer_node_that_fails_costs_a_checkpoint_and_no_job() -> None:
    found, _ = run(SHARED, (3620, buffer_node))
    assert (found.dumps, found.dumps_lost, found.interrupts) == (2, 1, 0)
    assert seconds(found) == pytest.approx(3620 + 2 * (HOUR + 50) + HOUR)
    assert found.lost_node_hours == pytest.approx(100 * 20 / HOUR)


def test_what_a_buffer_node_took_is_read_from_the_pfs() -> None:
    found, _ = run(SHARED, (8000, buffer_node), (9000, compute_node))
    assert found.restart_node_hours == pytest.approx(100 * 500 / HOUR)


def test_a_buffer_node_that_fails_while_a_job_restarts() -> None:
    """20 s of reading are lost, then it reads from the PFS."""
    found, _ = run(SHARED, (9000, compute_node), (9080, buffer_node))
    assert found.restart_node_hours == pytest.approx(100 * 500 / HOUR)
    assert found.lost_node_hours == pytest.approx(100 * (1700 + 20) / HOUR)


def test_without_a_buffer_node_a_checkpoint_goes_to_the_pfs() -> None:
    """The first does, until 4100 s. The second, until 7750 s, is lost; so the job
    restarts from the first."""
    all_of_them = [
        (3500.0, lambda campaign, node=node: campaign.buffer_node_fails(node, 500.0))
        for node in range(10)
    ]
    found, _ = run(SHARED, *all_of_them, (7800, buffer_node), (9000, compute_node))
    assert found.dumps_on_pfs == 1
    assert found.restart_node_hours == pytest.approx(100 * 500 / HOUR)
    assert found.lost_node_hours == pytest.approx(100 * (HOUR + 1250) / HOUR)


@pytest.mark.parametrize("pfs", [10 * GB, 0.5 * GB])
def test_at_the_end_the_buffer_is_empty(pfs: float) -> None:
    """Also if the PFS takes longer for a checkpoint than its job computes."""
    slow = replace(SAFE.pfs, write=pfs, job_write=pfs)
    _, campaign = run(SHARED, pfs=slow)
    assert isinstance(campaign.buffer, SharedBuffer)
    assert campaign.buffer.used == 0


def test_a_slow_pfs_gets_every_few_checkpoints() -> None:
    """One takes 2 hours and 47 minutes: the second is written meanwhile, and kept."""
    slow = replace(SAFE.pfs, write=0.5 * GB, job_write=0.5 * GB)
    found, campaign = run(SHARED, (12000, compute_node), pfs=slow)
    assert found.lost_node_hours == pytest.approx(100 * (12000 - 10950) / HOUR)
    assert found.complete
    assert campaign.pipelines[0].is_complete


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


@pytest.mark.sweep
def test_compute_and_buffer_nodes_fail_at_the_same_rate() -> None:
    """In 5000 hours, with a fault of a compute node in 2 hours."""
    machine = replace(SAFE, faults=Faults(2 * HOUR, 0.0))
    mix = replace(ONE, interval=DALY, walltime=8 * HOUR, campaign=5_000 * HOUR)
    campaign = Campaign(machine, mix, SHARED, 0)
    failed: dict[str, list[int]] = {"compute": [], "buffer": []}
    campaign.compute_node_fails = (  # type: ignore[method-assign]
        lambda node, repair: failed["compute"].append(node)
    )
    campaign.buffer_node_fails = (  # type: ignore[method-assign]
        lambda node, repair: failed["buffer"].append(node)
    )
    campaign.run()
    assert len(failed["compute"]) == pytest.approx(2500, rel=0.1)
    assert len(failed["buffer"]) == pytest.approx(250, rel=0.2)
    assert set(failed["buffer"]) == set(range(10))
    assert len(set(failed["compute"])) == 100
