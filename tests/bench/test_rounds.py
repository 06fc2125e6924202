"""Repetitions: as many as it takes, as many as there is time for, and fairly."""

from __future__ import annotations

from itertools import cycle

import pytest

from pegasus_bb.bench.cache import Cache
from pegasus_bb.bench.engine import TimeIsUp
from pegasus_bb.bench.measuring import Limits
from pegasus_bb.bench.place import Place
from pegasus_bb.bench.plan import Cell, Mode
from pegasus_bb.errors import NotMeasured
from pegasus_bb.units import KIB

from .conftest import Player, Stage, cell

SMALL, LARGE = cell(1), cell(4)


def test_a_quiet_tier_is_measured_three_times(stage: Stage) -> None:
    (one,) = stage.measurings(SMALL)
    stage.play(Player(lambda _: 2.0), [one], Limits())
    assert one.writes == one.reads == [32 * KIB] * 3
    assert one.sure(Limits())


def test_a_noisy_cell_is_repeated_and_the_others_are_not(stage: Stage) -> None:
    noise = cycle([1.0, 1.0, 3.0, 3.0])
    noisy, quiet = stage.measurings(LARGE, SMALL)
    player = Player(lambda cell: next(noise) if cell is LARGE else 1.0)
    stage.play(player, [noisy, quiet], Limits(most=12))
    assert len(noisy.writes) == 12 and not noisy.sure(Limits())
    assert len(quiet.writes) == 3


def test_more_repetitions_make_it_sure(stage: Stage) -> None:
    """Then there are no more of them."""
    noise = cycle([1.0, 1.0, 1.2, 1.2])
    (one,) = stage.measurings(SMALL)
    stage.play(Player(lambda _: next(noise)), [one], Limits(most=100))
    assert one.sure(Limits()) and 3 < len(one.writes) < 100


def test_every_cell_has_its_turn_before_any_has_another(stage: Stage) -> None:
    player = Player(lambda _: 1.0)
    stage.play(player, stage.measurings(SMALL, LARGE), Limits())
    assert player.done == [SMALL, LARGE] * 3


def test_nothing_is_begun_that_would_end_too_late(stage: Stage) -> None:
    """A large cell is foretold by small ones: four times 2 s are too much here."""
    small, large = stage.measurings(SMALL, LARGE)
    player = Player(lambda cell: float(cell.processes))
    stage.play(player, [small, large], Limits(until=9.0))
    assert LARGE not in player.done and large.writes == []
    assert len(small.writes) == 3
    assert player.now <= 9.0


def test_what_has_begun_has_some_time_more(stage: Stage) -> None:
    player = Player(lambda _: 1.0)
    stage.play(player, stage.measurings(SMALL), Limits(until=100.0, grace=5.0))
    assert player.until == 105.0


def test_two_that_agree_may_do_so_by_chance(stage: Stage) -> None:
    (one,) = stage.measurings(SMALL)
    stage.play(Player(lambda _: 1.0), [one], Limits(most=2))
    assert len(one.writes) == 2 and not one.sure(Limits())


def test_where_the_time_ends_each_has_had_its_share(stage: Stage) -> None:
    noise = cycle([1.0, 2.0, 3.0])
    two = stage.measurings(cell(1), cell(1, mode=Mode.DIRECT))
    stage.play(Player(lambda _: next(noise)), two, Limits(most=1000, until=60.0))
    assert abs(len(two[0].writes) - len(two[1].writes)) <= 1


def test_what_is_not_at_its_end_in_time_is_not_measured(stage: Stage) -> None:
    class Late(Player):
        def read(self, cell: Cell, folder: str, until: float) -> float:
            raise TimeIsUp

    (one,) = stage.measurings(SMALL)
    stage.play(Late(lambda _: 1.0), [one], Limits())
    assert one.writes == one.reads == []


def test_a_failure_says_tier_and_cell(stage: Stage) -> None:
    def fail(_: Cell) -> float:
        raise NotMeasured("process 1 of 4: no")

    said = "tier bb, fsync, file-per-process, 4 x 64.0 KiB: process 1 of 4: no"
    with pytest.raises(NotMeasured, match=said):
        stage.play(Player(fail), stage.measurings(LARGE), Limits())


def test_a_tier_that_others_fill_is_left_alone(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    player = Player(lambda _: 1.0)
    monkeypatch.setattr(Place, "room", lambda _: 1000)
    with pytest.raises(NotMeasured, match="room for 1000 B only by now"):
        stage.play(player, stage.measurings(SMALL), Limits())
    assert player.done == []


def test_direct_reads_are_past_any_cache(stage: Stage) -> None:
    (one,) = stage.measurings(cell(mode=Mode.DIRECT))
    stage.play(Player(lambda _: 1.0), [one], Limits())
    assert one.cache is Cache.PAST


def test_what_lives_in_memory_is_read_from_there(stage: Stage) -> None:
    (one,) = stage.measurings(SMALL)
    one.place = Place("bb", one.place.path, "tmpfs", 1)
    stage.play(Player(lambda _: 1.0), [one], Limits())
    assert one.cache is Cache.MEMORY
