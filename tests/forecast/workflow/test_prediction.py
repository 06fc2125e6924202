"""Which mode to take, and how a range reads."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pegasus_bb.forecast.demands.demand import CALLS
from pegasus_bb.forecast.workflow.mode_choice import Basis, Compared, choose
from pegasus_bb.forecast.workflow.prediction import (
    SCATTER,
    Prediction,
    SimulatedEnd,
    predicted,
)
from pegasus_bb.forecast.workflow.prediction_text import shown

Range = tuple[float, float]  # the pessimistic end, the optimistic one
GIB = 1 << 30


def end(seconds: float) -> SimulatedEnd:
    return SimulatedEnd((0, seconds, 0, 0, 0), 0)


def prediction(mode: str, ends: Range, byte_hours: float = 0.0) -> Prediction:
    return predicted(
        mode, [SimulatedEnd((0, end, 0, 0, 0), byte_hours) for end in ends]
    )


def test_a_guess_takes_no_buffer_and_names_the_run_that_settles_it() -> None:
    guess = predicted("persistent", [end(100), end(50)], is_guess=True)
    choice = choose([prediction("off", (100, 100)), guess])
    assert choice.mode == "off"
    assert "one run settles it: plan it with --bb-mode persistent, all" in choice.reason


def measured(mode: str, *makespans: float) -> Prediction:
    return prediction(mode, (100, 50)).as_measured(makespans, 1.2)


def test_one_odd_run_does_not_decide_against_what_is_faster_in_the_mean() -> None:
    off = measured("off", 100, 101, 102)
    assert choose([off, measured("persistent", 50, 51, 160)]).mode == "persistent"
    assert choose([off, measured("persistent", 97, 99)]).mode == "off"


@pytest.mark.parametrize(
    ("off", "buffer", "settles"),
    [
        (measured("off", 100, 90), prediction("bb", (99, 50)), "--bb-mode bb, all"),
        (prediction("off", (99, 90)), measured("bb", 96), "--bb-mode off, all"),
        (prediction("off", (99, 90)), prediction("bb", (110, 50)), "on each side"),
        (measured("off", 100, 90), measured("bb", 96, 97), "more runs of both"),
    ],
)
def test_where_it_is_not_known_the_run_is_named_that_would_settle_it(
    off: Prediction, buffer: Prediction, settles: str
) -> None:
    off, buffer = replace(off, mode="off"), replace(buffer, pessimistic=130.0)
    choice = choose([off, buffer])
    assert choice.mode == "off"
    assert settles in choice.reason


def test_a_refused_mode_that_has_run_makes_the_choice_as_it_makes_the_rows() -> None:
    """It took half of its simulation, so the PFS may, too."""
    rows = [prediction("off", (20, 20)), measured("hybrid", 25)]
    found = Compared(
        tuple(rows), Basis("", "", (), 0, {}, {}), choose(rows, {"hybrid"}), {}
    )
    assert found.choice.mode == "off"
    assert found.choice.reason.startswith(found.rows[0].range)
    assert found.rows[0].low < 20


@pytest.mark.parametrize(
    ("ends", "word"), [((200, 150), "is slower"), ((120, 90), "is probably slower")]
)
def test_a_mode_is_said_to_be_slower_for_sure_only_where_no_end_is_shorter(
    ends: Range, word: str
) -> None:
    rows = (prediction("off", (100, 80)), prediction("transient", ends))
    basis = Basis("speeds.yml", "", (), 0, {}, {})
    (said,) = Compared(rows, basis, choose(rows), {}).slower
    assert said.startswith(f"transient {word} than the PFS alone")


@pytest.mark.parametrize("makespan", [40, 160])
def test_a_measured_mode_takes_what_it_took(makespan: float) -> None:
    ends = [SimulatedEnd((5, 70, 10, 10, 10), 0), SimulatedEnd((5, 50, 10, 10, 10), 0)]
    found = predicted("off", ends).as_measured([makespan])
    assert found.low == found.high == makespan + 5, "one number, without rounding"
    assert found.makespan == pytest.approx(makespan + 5)
    assert found.wait == 5


@pytest.mark.parametrize("slower", [False, True])
def test_scatter_widens_every_range_and_leaves_the_wait(slower: bool) -> None:
    ends = [SimulatedEnd((20, 70, 0, 0, 0), 0), SimulatedEnd((20, 50, 0, 0, 0), 0)]
    found = predicted("off", ends[::-1] if slower else ends).with_scatter(2.0)
    assert (found.low, found.makespan, found.high) == (45, 80, 160)
    assert (found.pessimistic < found.optimistic) == slower


def test_a_mode_that_was_measured_twice_is_a_range() -> None:
    ends = [SimulatedEnd((5, 70, 10, 10, 10), 0)]
    found = predicted("off", ends).as_measured([90, 110])
    assert (found.low, found.makespan, found.high) == (95, 105, 115)
    wider = predicted("off", ends).as_measured([90, 110], scatter=1.25)
    assert (wider.low, wider.makespan, wider.high) == (85, 105, 130)


@pytest.mark.parametrize(
    ("off", "buffer", "mode", "reason"),
    [
        (
            (100, 100),
            (60, 60),
            "persistent",
            "1 min 00 s is the shortest, 40% less than on the PFS",
        ),
        (  # about as long, and it reserves nothing
            (62, 62),
            (60, 60),
            "off",
            "1 min 02 s, and persistent (1 min 00 s) is not more than 5% shorter, and "
            "it reserves 5.00 GiB hours",
        ),
        (
            (35, 35),
            (36, 20),
            "persistent",
            "20 to 36 s, at best 43% less than on the PFS alone, at worst 3% more",
        ),
        ((35, 35), (37, 20), "off", ""),  # may lose 6 %
        ((35, 35), (34, 34), "off", ""),  # never wins more than 5 %
        ((36, 60), (35, 35), "persistent", ""),  # learned on the tier
        (
            (35, 35),
            (50, 40),
            "off",
            "35.0 s is the shortest, and persistent would take 40 to 50 s",
        ),
        ((35, 35), (35.01, 35.01), "off", "35.0 s, and persistent is no shorter"),
    ],
)
def test_a_buffer_is_taken_if_it_can_win_and_cannot_lose(
    off: Range, buffer: Range, mode: str, reason: str
) -> None:
    modes = [prediction("off", off), prediction("persistent", buffer, 5 * GIB)]
    choice = choose(modes)
    assert choice.mode == mode
    assert choice.reason.startswith(reason)


@pytest.mark.parametrize(
    ("byte_hours", "said"), [(0.0, "reserves no more"), (GIB, "reserves 4.00 GiB")]
)
def test_a_mode_about_as_long_reserves_less_or_no_more(
    byte_hours: float, said: str
) -> None:
    """Nothing is reserved on the disk of a node."""
    modes = [
        prediction("off", (100, 100)),
        prediction("persistent", (61, 61), byte_hours),
        prediction("hybrid", (60, 60), 5 * byte_hours),
    ]
    choice = choose(modes)
    assert choice.mode == "persistent"
    assert said in choice.reason


def test_what_reserves_nothing_is_not_said_to_reserve() -> None:
    choice = choose([prediction("off", (62, 62)), prediction("transient", (60, 60))])
    assert choice.reason.endswith("is not more than 5% shorter")


def test_the_best_is_no_less_than_the_worst() -> None:
    """A faster tier may gain least where it was said to gain most."""
    found = choose([prediction("off", (300, 100)), prediction("bb", (99, 34))])
    assert "at best 67% less than on the PFS alone, at worst 66% less" in found.reason


def without_times(mode: str, seconds: float, one_by_one: float) -> Prediction:
    return replace(prediction(mode, (seconds, seconds)), one_by_one=one_by_one)


def test_where_computing_is_unknown_no_part_of_a_makespan_is_told() -> None:
    found = choose([without_times("off", 100, 90), without_times("bb", 50, 60)])
    assert found.mode == "bb"
    assert found.reason == (
        "50.0 s, and 1 min 40 s on the PFS alone, without the computing that is not "
        "known: it comes on top of both, and changes nothing"
    )


@pytest.mark.parametrize(
    "off", [without_times("off", 100, 55), measured("off", 100, 101)]
)
def test_where_computing_decides_the_pfs_is_kept(off: Prediction) -> None:
    """Jobs that compute for long do not meet on the PFS."""
    found = choose([replace(off, mode="off"), without_times("bb", 50, 60)])
    assert found.mode == "off"
    assert "on that depends which is faster" in found.reason
    assert "%" not in found.reason


def text(*modes: Prediction, **notes: int) -> str:
    basis = Basis("speeds.yml", "run1", (), 0, {}, notes)
    return "\n".join(shown(Compared(modes, basis, choose(modes), {})))


def test_a_range_is_for_what_makes_it_one() -> None:
    exact = prediction("off", (100, 100))
    assert "ranges: " not in text(exact)
    assert f"ranges: it is not known {SCATTER}; the other" in text(
        exact.with_scatter(1.2)
    )
    calls = replace(prediction("bb", (99, 50)), causes=(CALLS,))
    assert f"ranges: it is not known {CALLS}; the other" in text(exact, calls)
    both = calls.with_scatter(1.2)
    assert f"ranges: it is not known {CALLS}, and {SCATTER}; " in text(exact, both)


def test_notes_that_differ_in_a_percentage_are_one_line() -> None:
    notes = {f"missed by up to {n}%": n for n in (7, 12, 9)}
    found = text(prediction("off", (9, 9)), **notes, **{"unknown": 3})
    assert "28 jobs: missed by up to 12%\n3 jobs: unknown\n" in found + "\n"
