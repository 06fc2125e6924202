"""When staging pays: by how many runs, and by how much data."""

from __future__ import annotations

import pytest

from pegasus_bb.model.stat import Stat
from pegasus_bb.report.breakeven import FOOTPRINT, RUNS, BreakEven, break_even
from pegasus_bb.report.clock import PARTS
from pegasus_bb.report.stats import Pair

GIB = 1 << 30


def pair(pfs: float, bb: float) -> Pair:
    return Pair(Stat(pfs, None, 1), Stat(bb, None, 1))


def found(**seconds: tuple[float, float]) -> BreakEven:
    clock = {part: pair(*seconds.get(part, (0.0, 0.0))) for part in PARTS}
    result = break_even(clock, pair(GIB, GIB))
    assert result is not None
    return result


def test_one_run_that_wins_more_than_it_stages_pays() -> None:
    even = found(compute=(100, 40), stage_in=(0, 20), stage_out=(5, 15))

    assert (even.won, even.staging_in, even.staging_out) == (60, 20, 10)
    assert even.net == 30
    assert even.runs == pytest.approx(0.4)  # 20 / (60 - 10)
    assert even.sentences[0] == f"runs: 0.40: one run pays. {RUNS}"


def test_what_was_staged_in_once_pays_after_some_runs() -> None:
    even = found(
        compute=(100, 80),
        stage_in=(0, 40),
        **{"stage_out": (0, 10), "reserve": (0, 2), "gate_wait": (0, 5)},
        release=(0, 3),
    )

    assert even.reserving == 10
    assert even.net == -40
    assert even.runs == 5.0  # (40 + 10) / (20 - 10)
    assert "it pays with run 5." in even.sentences[0]


def test_a_run_that_stages_out_longer_than_it_wins_never_pays() -> None:
    even = found(compute=(100, 95), stage_in=(0, 1), stage_out=(0, 5))

    assert even.runs is None
    assert even.footprint is None
    assert "never" in even.sentences[0]
    assert even.sentences[1].startswith("footprint: none: staging takes what is won.")


def test_reserving_pays_with_enough_data() -> None:
    even = found(compute=(100, 90), stage_in=(0, 5), gate_wait=(0, 10))

    assert even.footprint == 2 * GIB  # 10 / (10 - 5)
    assert even.sentences[1] == (
        f"footprint: 2.0 GiB; that of these runs is 1.0 GiB. {FOOTPRINT}"
    )


def test_queueing_is_in_the_whole_and_not_in_the_cost() -> None:
    even = found(compute=(100, 90), queue=(10, 30), other=(1, 2), auxiliary=(2, 1))

    assert even.rest == 20
    assert even.net == -10
    assert even.runs == 0.0


def test_without_sizes_there_is_no_footprint() -> None:
    clock = {part: pair(0, 0) for part in PARTS} | {"compute": pair(2, 1)}
    even = break_even(clock, Pair(None, None))

    assert even is not None
    assert even.footprint is None
    assert "unknown" in even.sentences[1]


def test_without_records_there_is_none() -> None:
    clock = {part: Pair(None, None) for part in PARTS}

    assert break_even(clock, Pair(None, None)) is None
