"""The collector neither interrupts planning nor begins with all that it made."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from pegasus_bb.planner.reading import no_collection


@pytest.fixture
def looks() -> Iterator[list[str]]:
    """A word for each time that the collector starts or stops."""
    seen: list[str] = []

    def note(phase: str, info: dict[str, int]) -> None:
        seen.append(phase)

    gc.callbacks.append(note)
    yield seen
    gc.callbacks.remove(note)


def test_the_collector_does_not_begin_with_all_that_planning_made(
    looks: list[str],
) -> None:
    gc.enable()  # a command that was tested before may have left it off
    gc.collect()
    looks.clear()
    with no_collection():
        made: list[list[int]] = [[] for _ in range(50_000)]
    later: list[list[int]] = [[] for _ in range(100)]
    assert looks == []
    assert gc.isenabled()
    assert (len(made), len(later)) == (50_000, 100)


def test_where_it_was_off_it_stays_off() -> None:
    gc.disable()
    try:
        with pytest.raises(KeyError), no_collection():
            raise KeyError
        assert not gc.isenabled()
    finally:
        gc.enable()
