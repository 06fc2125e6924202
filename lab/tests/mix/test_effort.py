"""A campaign that would take hours to simulate is refused before it begins, with the
key that makes it so long."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pegasus_bb_lab.mix.campaign import Campaign, simulate
from pegasus_bb_lab.mix.effort import Effort, effort
from pegasus_bb_lab.model.machine import LEAST_LOADED, LOCAL, SHARED, Faults, Machine
from pegasus_bb_lab.model.mix import Mix

from lab.tests.mix.machines import GB, HOUR, MACHINE, MIX, with_buffer
from pegasus_bb.core.errors import CatalogError

YEARS = 3650 * 24 * HOUR
FAST = with_buffer(MACHINE, LOCAL, write=500 * GB)


def of(machine: Machine, mix: Mix, architecture: str) -> Effort:
    found = Campaign(machine, mix, architecture, 0)
    shared = machine.buffers[SHARED] if architecture == SHARED else None
    return effort(machine, mix, shared, found.pipelines, found._seconds)


@pytest.mark.parametrize("architecture", [SHARED, LOCAL])
@pytest.mark.parametrize("changed", [{}, {"interval": 600.0}, {"walltime": 2 * HOUR}])
def test_checkpoints_and_faults_are_about_as_many_as_there_will_be(
    architecture: str, changed: dict[str, Any]
) -> None:
    mix = replace(MIX, **changed)
    found, done = (
        of(MACHINE, mix, architecture),
        simulate(MACHINE, mix, architecture, 0),
    )
    assert 0.5 <= found.checkpoints / done.dumps <= 2
    assert 0.5 <= found.faults / done.interrupts <= 2


@pytest.mark.parametrize(
    ("machine", "mix", "architecture", "key"),
    [
        (FAST, replace(MIX, interval=1.0, campaign=YEARS), LOCAL, "interval"),
        (
            replace(FAST, faults=Faults(1.0, 60.0)),
            replace(MIX, campaign=YEARS, workflows=4, interval=8 * HOUR),
            LOCAL,
            "faults.mtti",
        ),
        (
            replace(MACHINE, nodes=1_000_000),
            replace(MIX, campaign=24 * HOUR, workflows=1_000_000),
            LOCAL,
            "applications",
        ),
        (
            with_buffer(
                replace(MACHINE, nodes=1_000_000, nic=1e6 * GB),
                SHARED,
                write=1e4 * GB,
                stripes=1000,
                placement=LEAST_LOADED,
            ),
            replace(MIX, full_machine=1, workflows=4),
            SHARED,
            "buffers.shared.stripes",
        ),
    ],
)
def test_what_would_take_hours_names_its_key(
    machine: Machine, mix: Mix, architecture: str, key: str
) -> None:
    with pytest.raises(CatalogError, match="one campaign would ") as error:
        simulate(machine, mix, architecture, 0)
    assert error.value.key == key
    assert error.value.would_do


def test_more_pipelines_than_fit_into_the_memory() -> None:
    """Of a second each, for ten years."""
    short = replace(MIX.applications[1], walltime=1.0, routine=1, hero=1)
    mix = replace(MIX, applications=(MIX.applications[0], short), campaign=YEARS)
    with pytest.raises(CatalogError, match="pipelines") as error:
        simulate(MACHINE, mix, LOCAL, 0)
    assert error.value.key == "applications.1"
