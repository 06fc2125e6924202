"""Repetitions: as many as needed, as many as there is time for, in turns."""

from __future__ import annotations

from itertools import cycle

import pytest

from pegasus_bb.bench.cache import Cache
from pegasus_bb.bench.engine import TimeIsUp
from pegasus_bb.bench.measurement import MOST, certain
from pegasus_bb.bench.place import Place
from pegasus_bb.bench.plan import Cell
from pegasus_bb.errors import NotMeasured
from pegasus_bb.units import KIB

from .conftest import Player, Stage, cell

SMALL, LARGE = cell(1), cell(4)


def test_a_quiet_tier_is_measured_three_times(stage: Stage) -> None:
    (one,) = stage.measurements(SMALL)
    stage.play(Player(lambda _: 2.0), [one])
    assert one.writes == one.reads == [32 * KIB] * 3
    assert certain(one.write) and certain(one.read)


def test_a_noisy_cell_is_repeated_and_the_others_are_not(stage: Stage) -> None:
    noise = cycle([1.0, 1.0, 3.0, 3.0])
    noisy, quiet = stage.measurements(LARGE, SMALL)
    player = Player(lambda cell: next(noise) if cell is LARGE else 1.0)
    stage.play(player, [noisy, quiet])
    assert len(noisy.writes) == MOST and not certain(noisy.write)
    assert len(quiet.writes) == 3


def test_repetitions_end_when_the_mean_is_certain(stage: Stage) -> None:
    noise = cycle([1.0, 1.0, 1.2, 1.2])
    (one,) = stage.measurements(SMALL)
    stage.play(Player(lambda _: next(noise)), [one])
    assert certain(one.write) and 3 < len(one.writes) < MOST


def test_every_cell_has_its_turn_before_any_has_another(stage: Stage) -> None:
    player = Player(lambda _: 1.0)
    stage.play(player, stage.measurements(SMALL, LARGE))
    assert player.done == [SMALL, LARGE] * 3


def test_nothing_begins_that_would_end_too_late(stage: Stage) -> None:
    """A small cell predicts a large one: four times 2 s are too much here."""
    small, large = stage.measurements(SMALL, LARGE)
    player = Player(lambda cell: float(cell.processes))
    stage.play(player, [small, large], until=9.0)
    assert LARGE not in player.done and large.writes == []
    assert len(small.writes) == 3
    assert player.now <= 9.0


def test_a_phase_that_has_begun_has_some_more_time(stage: Stage) -> None:
    player = Player(lambda _: 1.0)
    stage.play(player, stage.measurements(SMALL), until=100.0)
    assert player.until == 110.0


def test_if_the_time_is_up_each_has_had_its_share(stage: Stage) -> None:
    noise = cycle([1.0, 2.0, 3.0])
    two = stage.measurements(cell(1), cell(1, 128 * KIB))
    stage.play(Player(lambda _: next(noise)), two, until=60.0)
    assert abs(len(two[0].writes) - len(two[1].writes)) <= 1


def test_a_phase_that_ends_late_gives_no_figure(stage: Stage) -> None:
    class Late(Player):
        def read(self, cell: Cell, folder: str, until: float) -> float:
            raise TimeIsUp

    (one,) = stage.measurements(SMALL)
    stage.play(Late(lambda _: 1.0), [one])
    assert one.writes == one.reads == []


def test_a_failure_names_tier_and_cell(stage: Stage) -> None:
    def fail(_: Cell) -> float:
        raise NotMeasured("process 1 of 4: no")

    said = "tier bb, 4 x 64.0 KiB: process 1 of 4: no"
    with pytest.raises(NotMeasured, match=said):
        stage.play(Player(fail), stage.measurements(LARGE))


def test_nothing_is_written_to_a_tier_that_others_fill(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    player = Player(lambda _: 1.0)
    monkeypatch.setattr(Place, "room", lambda _: 1000)
    with pytest.raises(NotMeasured, match="only 1000 B are left"):
        stage.play(player, stage.measurements(SMALL))
    assert player.done == []


def test_a_file_system_in_memory_is_read_from_memory(stage: Stage) -> None:
    (one,) = stage.measurements(SMALL)
    one.place = Place("bb", one.place.path, "tmpfs", 1)
    stage.play(Player(lambda _: 1.0), [one])
    assert one.cache is Cache.MEMORY
