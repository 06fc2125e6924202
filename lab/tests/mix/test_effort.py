"""A campaign that would take hours to simulate is refused before it begins, with the
key that makes it so long."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pegasus_bb_lab.mix.campaign import simulate
from pegasus_bb_lab.model.machine import LEAST_LOADED, LOCAL, SHARED, Faults, Machine
from pegasus_bb_lab.model.mix import Mix

from lab.tests.mix.machines import GB, HOUR, MACHINE, MIX, with_buffer
from pegasus_bb.core.errors import CatalogError

YEARS = 3650 * 24 * HOUR
FAST = with_buffer(MACHINE, LOCAL, write=500 * GB)


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
            replace(MIX, campaign=24 * HOUR, workflows=100_000),
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
