"""Campaigns of a small machine."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from pegasus_bb_lab.mix.campaign import Campaign, simulate
from pegasus_bb_lab.mix.measures import Outcome
from pegasus_bb_lab.model.machine import (
    LEAST_LOADED,
    LOCAL,
    ROUND_ROBIN,
    SHARED,
    Faults,
    Machine,
)
from pegasus_bb_lab.model.mix import FCFS, YOUNG

from lab.tests.mix.machines import GB, HOUR, MACHINE, MIX, PFS, with_buffer
from pegasus_bb.core.errors import UsageError

BOTH = pytest.mark.parametrize("architecture", [SHARED, LOCAL])
SAFE = replace(MACHINE, faults=None)
STORY = """
from lab.tests.mix.machines import MACHINE, MIX
from pegasus_bb_lab.mix.campaign import simulate
print(*(simulate(MACHINE, MIX, a, 3).to_json() for a in ("shared", "local")))
"""


def parts(found: Outcome) -> float:
    return (
        found.productive_node_hours
        + found.dump_node_hours
        + found.restart_node_hours
        + found.lost_node_hours
    )


@BOTH
@pytest.mark.parametrize("seed", range(3))
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
def test_without_faults_nothing_is_lost(architecture: str) -> None:
    found = simulate(SAFE, MIX, architecture, 0)
    assert found.lost_node_hours == pytest.approx(0, abs=1e-6)
    assert found.node_hours == pytest.approx(parts(found))
    assert found.interrupts == 0
    assert found.dumps > 0  # at the end of each job


@BOTH
@pytest.mark.parametrize("placement", [LEAST_LOADED, ROUND_ROBIN])
def test_the_same_seed_is_the_same_campaign(architecture: str, placement: str) -> None:
    machine = with_buffer(MACHINE, SHARED, placement=placement)
    first = simulate(machine, MIX, architecture, 5)
    assert simulate(machine, MIX, architecture, 5) == first
    assert simulate(machine, MIX, architecture, 6) != first


def test_no_hash_seed_changes_a_campaign() -> None:
    said = {
        subprocess.run(
            [sys.executable, "-c", STORY],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(said) == 1


def test_architectures_have_the_same_jobs() -> None:
    def jobs(architecture: str) -> list[tuple[str, int, float]]:
        found = Campaign(MACHINE, MIX, architecture, 4).pipelines
        return [(each.name, each.nodes, each.work) for each in found]

    assert jobs(SHARED) == jobs(LOCAL)


def test_local_bandwidth_is_proportional_to_the_nodes() -> None:
    found = simulate(MACHINE, MIX, LOCAL, 0)
    assert found.min == pytest.approx(5 * GB)
    assert found.max == pytest.approx(80 * GB)


def test_small_jobs_have_more_bandwidth_on_shared_nodes() -> None:
    shared, local = (simulate(MACHINE, MIX, each, 0) for each in (SHARED, LOCAL))
    assert shared.median is not None
    assert local.median is not None
    assert shared.median > local.median


def test_more_faults_lose_more() -> None:
    often = replace(MACHINE, faults=Faults(1 * HOUR, 60.0))
    few, many = (simulate(each, MIX, SHARED, 0) for each in (MACHINE, often))
    assert many.lost_node_hours > few.lost_node_hours
    assert many.dumps > few.dumps  # Daly's interval is shorter


@pytest.mark.parametrize("other", [{"interval": YOUNG}, {"queue": FCFS}])
def test_other_rules_do_all_work_too(other: dict[str, Any]) -> None:
    found = simulate(MACHINE, replace(MIX, **other), SHARED, 0)
    assert found.productive_node_hours == pytest.approx(9600)


def test_too_many_checkpoints_cost_more_than_dalys() -> None:
    daly, often = (
        simulate(MACHINE, mix, SHARED, 0) for mix in (MIX, replace(MIX, interval=600.0))
    )
    assert often.dumps > 3 * daly.dumps
    assert often.overhead > 1.2 * daly.overhead


@BOTH
def test_what_finds_no_room_goes_to_the_pfs(architecture: str) -> None:
    machine = with_buffer(MACHINE, architecture, capacity=10 * GB)
    found = simulate(machine, MIX, architecture, 0)
    assert found.dumps_on_pfs > 0
    assert found.complete
    assert found.overhead > simulate(MACHINE, MIX, architecture, 0).overhead


def test_a_faster_pfs_helps_a_small_buffer() -> None:
    slow = with_buffer(MACHINE, LOCAL, capacity=10 * GB)
    fast = replace(slow, pfs=replace(PFS, write=80 * GB, job_write=80 * GB))
    assert (
        simulate(fast, MIX, LOCAL, 0).overhead < simulate(slow, MIX, LOCAL, 0).overhead
    )


def test_a_fault_before_the_first_checkpoint_starts_from_the_beginning() -> None:
    """With an interval longer than the campaign there is none but at the job's end."""
    mix = replace(MIX, interval=99 * HOUR)
    found = simulate(MACHINE, mix, SHARED, 0)
    assert found.complete
    assert found.lost_node_hours > 2 * simulate(MACHINE, MIX, SHARED, 0).lost_node_hours


def test_a_checkpoint_that_no_job_could_complete_is_refused() -> None:
    slow = with_buffer(MACHINE, LOCAL, write=1e6)
    with pytest.raises(UsageError, match=r"machine\.yml: a checkpoint of"):
        simulate(slow, MIX, LOCAL, 0)
    often = replace(MACHINE, faults=Faults(1.0, 0.0))
    with pytest.raises(UsageError, match="fails after"):
        simulate(often, MIX, LOCAL, 0)


def crawling() -> Machine:
    """Checkpoints go to a PFS that takes longer than nodes live."""
    machine = with_buffer(MACHINE, LOCAL, capacity=0.0)
    pfs = replace(PFS, write=0.01 * GB, job_write=0.01 * GB)
    return replace(machine, pfs=pfs)


def test_a_campaign_that_makes_no_progress_is_given_up() -> None:
    found = simulate(crawling(), replace(MIX, campaign=24 * HOUR), LOCAL, 0)
    assert not found.complete
    assert found.days == pytest.approx(10)
    assert found.node_hours == pytest.approx(parts(found))
    assert found.productive < 0.5
