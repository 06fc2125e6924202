"""The rate of operations on small files: by real processes, in a folder of a test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pegasus_bb.core.errors import NotMeasured
from pegasus_bb.report.bench import small_files as module
from pegasus_bb.report.bench.bench_worker import run
from pegasus_bb.report.bench.built_in_engine import Own
from pegasus_bb.report.bench.measured_tier import Place
from pegasus_bb.report.bench.small_files import (
    Operations,
    operations_of,
    repeat_operations,
)

from .conftest import cell


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SECONDS", 0.001)


@pytest.fixture
def own() -> Iterator[Own]:
    engine = Own(2)
    yield engine
    engine.close()


def test_one_process_and_as_many_as_the_largest_cell_has() -> None:
    counts = [one.processes for one in operations_of([cell(2), cell(8), cell(4)])]
    assert counts == [1, 8]
    assert [one.processes for one in operations_of([cell(1)])] == [1]


def test_each_repetition_adds_a_rate_and_leaves_no_file(
    own: Own, tier_place: Place
) -> None:
    one = Operations(2)
    for _ in range(3):
        repeat_operations(own, tier_place, tier_place.path, one)
    assert one.rate is not None
    assert (one.rate.n, len(one.rates)) == (3, 3)
    assert min(one.rates) > 0


def test_a_cycle_is_five_operations(tmp_path: Path) -> None:
    """At least one round is done, however short the time is."""
    order = {"do": "operate", "path": str(tmp_path / "own"), "seconds": 0.0}
    answer = run(order, bytearray(4096), 0.0)
    assert answer["operations"] > 0 and answer["operations"] % 5 == 0
    assert answer["ended"] > answer["began"]
    assert list((tmp_path / "own").iterdir()) == []


def test_a_failure_names_tier_and_process(own: Own, tier_place: Place) -> None:
    Path(tier_place.path, "files").mkdir()  # as another benchmark could leave it
    with pytest.raises(NotMeasured, match=r"tier bb, operations of 2: .*exists"):
        repeat_operations(own, tier_place, tier_place.path, Operations(2))
    Path(tier_place.path, "files").rmdir()
