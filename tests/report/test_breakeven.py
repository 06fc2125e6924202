"""Whether the whole run gains, and from how much data on."""

from __future__ import annotations

import math

import pytest

from pegasus_bb.model.mean_and_error import Pair, Stat, stat
from pegasus_bb.report.breakeven import BreakEven, break_even
from pegasus_bb.report.run_clock import PARTS

GIB = 1 << 30


def pair(pfs: float, bb: float) -> Pair:
    return Pair(Stat(pfs, None, 1), Stat(bb, None, 1))


def clocks(**seconds: tuple[float, ...]) -> list[dict[str, float]]:
    """A clock for each run."""
    runs = range(max(map(len, seconds.values()), default=1))
    nothing = (0.0,) * len(runs)
    return [{p: seconds.get(p, nothing)[run] for p in PARTS} for run in runs]


def found(**seconds: tuple[float, float]) -> BreakEven:
    sides = (clocks(**{p: (s[n],) for p, s in seconds.items()}) for n in (0, 1))
    result = break_even(*sides, pair(GIB, GIB), Pair(None, None))
    assert result is not None
    return result


def test_a_run_that_gains_breaks_even_within_itself() -> None:
    even = found(compute=(100, 40), stage_in=(0, 20), stage_out=(5, 15))
    assert (even.won, even.staging_in, even.staging_out) == (60, 20, 10)
    assert even.net == 30
    assert even.runs == pytest.approx(0.4)  # 20 / (60 - 10)
    assert even.sentences[:2] == (
        "The burst buffer made the run 30.0 s shorter.",
        "It saved 1 min 00 s in jobs; it cost 20.0 s in staging in, 10.0 s in staging "
        "out (each second counts once).",
    )
    assert even.sentences[2] == (
        "Staging in and the reservation cost 40 % of what the run saves otherwise."
    )


@pytest.mark.parametrize("part", [part for part in PARTS if part != "compute"])
def test_whatever_takes_the_gain_takes_the_break_even(part: str) -> None:
    assert found(compute=(100, 90), **{part: (0, 9)}).runs is not None
    even = found(compute=(100, 90), **{part: (0, 11)})
    assert (even.net, even.runs, even.footprint) == (-1, None, None)


def test_the_least_data_has_the_error_of_its_parts() -> None:
    even = break_even(
        clocks(compute=(100.0, 102.0)),
        clocks(compute=(80.0, 82.0), gate_wait=(5.5, 6.5)),
        Pair(stat([GIB]), stat([GIB])),
        Pair(stat([100.5, 101.5]), stat([86.9, 87.1])),
    )
    assert even is not None and even.footprint == pytest.approx(0.3 * GIB)
    # 6 +- 0.5 s of 20 +- 1.41 s
    expected = 0.3 * GIB * math.hypot(0.5 / 6, math.sqrt(2) / 20)
    assert even.footprint_error == pytest.approx(expected)
    assert "from 307.2 MiB \u00b1 33.6 MiB of files on" in even.sentences[-1]
