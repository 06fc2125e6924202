"""What is measured, and what is refused before anything is."""

from __future__ import annotations

import pytest

from pegasus_bb.bench.plan import FULL, QUICK, Layout, Plan, smaller
from pegasus_bb.errors import UsageError
from pegasus_bb.units import GIB, KIB, MIB

from .conftest import cell


def test_the_full_plan_has_every_scenario_of_the_paper() -> None:
    """Blocks of 64 MB to 1 GB, by 4 to 128 processes."""
    scenarios = {(c.block // MIB, c.processes) for c in FULL.cells()}
    assert {(64 << b, 4 << p) for b in range(5) for p in range(6)} < scenarios
    assert len(list(FULL.cells())) == 5 * 7 * 2 * 3
    assert FULL.most == 128 * GIB


def test_a_job_that_is_alone_is_in_either_plan() -> None:
    assert all(1 in plan.processes for plan in (FULL, QUICK))


@pytest.mark.parametrize(
    ("said", "option"),
    [
        ({"blocks": (5000,)}, "--blocks"),
        ({"blocks": (0,)}, "--blocks"),
        ({"transfer": 100}, "--transfer"),
        ({"processes": (0, 4)}, "--processes"),
        ({"processes": (5000,)}, "--processes"),
    ],
)
def test_what_direct_io_or_a_machine_cannot_do_is_refused(
    said: dict[str, object], option: str
) -> None:
    with pytest.raises(UsageError, match=option):
        Plan(**{"blocks": (MIB,), "processes": (1,), **said})


def test_a_call_is_no_larger_than_a_block() -> None:
    (small, *_) = Plan((8 * KIB,), (1,)).cells()
    assert small.transfer == 8 * KIB


def test_parts_of_a_shared_file_lie_side_by_side() -> None:
    shared, own = cell(layout=Layout.SHARED), cell()
    assert [shared.path("/t", n) for n in (0, 1)] == ["/t/data"] * 2
    assert [shared.offset(n) for n in (0, 1)] == [0, 64 * KIB]
    assert [own.path("/t", n) for n in (0, 1)] == [
        "/t/data.00000000",
        "/t/data.00000001",
    ]
    assert own.offset(1) == 0


@pytest.mark.parametrize(
    ("room", "words"),
    [
        (8 * GIB, "--processes 1,4,8, or --blocks 64MiB, or a folder with more room"),
        (GIB, "--processes 1, or a folder with more room"),
        (600 * MIB, "--quick, or a folder with more room"),
        (MIB, "a folder with more room"),
    ],
)
def test_what_would_fit_is_said(room: int, words: str) -> None:
    assert smaller(FULL, room) == words
