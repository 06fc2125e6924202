"""Darshan's layers: split times, slowest process, by transformation and by file."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pytest import approx

from pegasus_bb.model.run import FileUse, Layer, Run
from pegasus_bb.report.columns import LAYER_METRICS
from pegasus_bb.report.compare import compare
from pegasus_bb.report.layers import Spent, times
from tests.report.sample_runs import a_run, a_task

MIB = 1 << 20
POSIX = Layer("POSIX", 8 * MIB, 4 * MIB, 4, 4.0, 2.0, 2.0, 5.0, 2.0, 1.0)


def number(key: str, layer: Layer) -> float | None:
    (metric,) = (metric for metric in LAYER_METRICS if metric.key == key)
    return metric.of(layer)


@pytest.mark.parametrize(
    ("run_time", "left"),
    [(40.0, 8.0), (8.0, 0.0), (7.9, 0.0), (7.0, None), (None, None)],
)
def test_what_is_left_of_the_run_time_is_other(
    run_time: float | None, left: float | None
) -> None:
    """Four processes were 8 s in calls. Threads may be in calls at once; clocks are
    rounded; a single file is not checked."""
    layer = replace(POSIX, run_time=run_time)
    assert number("other_time", layer) == (None if left is None else approx(left))


def test_the_slowest_process_is_the_slowest_over_all_files() -> None:
    found = times(
        [
            Spent(0, 1.0, 0.0, 0.5, 0.0),
            Spent(0, 1.0, 0.0, 0.0, 0.0),
            Spent(1, 0.5, 3.0, 0.0, 0.0),
        ],
        processes=8,
    )
    assert found.processes == 2  # those that have a record of their own
    assert (found.read_time, found.write_time, found.meta_time) == (2.5, 3.0, 0.5)
    assert (found.seconds, found.slowest_read, found.slowest_write) == (3.5, 2.0, 3.0)


def test_a_file_is_found_again_by_its_name() -> None:
    def run(folder: str, seconds: float) -> Run:
        layer = replace(POSIX, read_time=seconds)
        file = FileUse("fx.sgt", f"{folder}/fx.sgt", layers=(layer,))
        return a_run(a_task("synth", files=(file,)))

    (row,) = compare([run("/lus", 8.0)], [run("/bb", 4.0)]).files
    assert (row.name, row.file, row.layer) == ("synth", "fx.sgt", "POSIX")
    assert row.cells["read_time"].ratio == 2.0
