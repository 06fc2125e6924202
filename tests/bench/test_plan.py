"""What is measured, and what is refused before that."""

from __future__ import annotations

import pytest

from pegasus_bb.bench.plan import Cell, Plan
from pegasus_bb.errors import UsageError
from pegasus_bb.units import GIB, KIB, MIB

from .conftest import cell


def test_every_block_is_measured_with_every_number_of_processes() -> None:
    """The paper has blocks of 64 MB to 1 GB and 4 to 128 processes."""
    blocks = tuple(64 * MIB << n for n in range(5))
    counts = tuple(4 << n for n in range(6))
    plan = Plan(blocks, counts)
    assert [(c.block, c.processes) for c in plan.cells()] == [
        (block, count) for block in blocks for count in counts
    ]
    assert plan.largest.total == 128 * GIB


@pytest.mark.parametrize(
    ("given", "option"),
    [
        ({"blocks": (3 * MIB // 2,)}, "--blocks"),
        ({"blocks": (0,)}, "--blocks"),
        ({"processes": (0, 4)}, "--processes"),
        ({"processes": (5000,)}, "--processes"),
    ],
)
def test_an_impossible_plan_is_refused(given: dict[str, object], option: str) -> None:
    with pytest.raises(UsageError, match=option):
        Plan(**given)


def test_a_call_is_no_larger_than_a_block() -> None:
    assert Cell(8 * KIB, 1).transfer == 8 * KIB
    assert Cell(64 * MIB, 1).transfer == MIB


def test_each_process_has_a_file_named_as_ior_names_it() -> None:
    assert [cell().path("/t", n) for n in (0, 1)] == [
        "/t/data.00000000",
        "/t/data.00000001",
    ]
