"""The rate of operations on small files: by real processes, in a folder of a test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pegasus_bb.report.bench import small_files as module
from pegasus_bb.report.bench.built_in_engine import Own
from pegasus_bb.report.bench.measured_tier import Place
from pegasus_bb.report.bench.small_files import Operations, repeat_operations


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SECONDS", 0.001)


@pytest.fixture
def own() -> Iterator[Own]:
    engine = Own(2)
    yield engine
    engine.close()


def test_each_repetition_adds_a_rate_and_leaves_no_file(
    own: Own, tier_place: Place
) -> None:
    one = Operations(2)
    for _ in range(3):
        repeat_operations(own, tier_place, tier_place.path, one)
    assert one.rate is not None
    assert (one.rate.n, len(one.rates)) == (3, 3)
    assert min(one.rates) > 0
