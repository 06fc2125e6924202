"""Bytes per second from the tier to the PFS, by the segments that transfers noted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.report.drained import Cumulative, drained

MIB = 1 << 20


def note(folder: Path, node: str, *segments: object) -> Path:
    log = folder / "bb" / "drain" / f"{node}.jsonl"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("".join(json.dumps(segment) + "\n" for segment in segments))
    return folder


def test_segments_of_all_nodes_are_added_up(tmp_path: Path) -> None:
    note(tmp_path, "one", [100.0, 101.0, 8 * MIB], [102.0, 103.0, 8 * MIB])
    note(tmp_path, "two", [100.0, 101.0, 4 * MIB])
    found = drained(tmp_path)
    assert found is not None
    assert (found.since, found.until, found.size) == (100.0, 103.0, 20 * MIB)
    assert found.peak == pytest.approx(12 * MIB)
    assert found.mean == pytest.approx(20 * MIB / 3)
    assert [at for at, _ in found.steps] == [100, 101, 102, 103]
    rates = [rate / MIB for _, rate in found.steps]
    assert rates == pytest.approx([12, 0, 8, 0])


times = st.floats(0, 1000)
segment = st.tuples(times, st.floats(0.01, 50), st.integers(1, 10**9))


@given(rows=st.lists(segment, min_size=1, max_size=20))
def test_no_window_has_more_than_the_peak_and_steps_add_up(
    rows: list[tuple[float, float, int]],
) -> None:
    curve = Cumulative([(begin, begin + length, size) for begin, length, size in rows])
    peak = curve.peak(1.0)
    total = sum(size for _, _, size in rows)
    for quarter in range(0, 4300):
        at = quarter / 4
        assert curve.at(at + 1) - curve.at(at) <= peak * (1 + 1e-6) + 1e-3
    steps = list(curve.steps())
    length = steps[1][0] - steps[0][0] if len(steps) > 2 else 1.0
    assert sum(rate * length for _, rate in steps) == pytest.approx(total, rel=1e-6)
