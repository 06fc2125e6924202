"""Which mode to take, and how a range reads."""

from __future__ import annotations

import pytest

from pegasus_bb.forecast.workflow.mode_choice import Compared, choose
from pegasus_bb.forecast.workflow.prediction import (
    End,
    Prediction,
    format_range,
    predicted,
)

Range = tuple[float, float]  # the pessimistic end, the optimistic one
GIB = 1 << 30


def prediction(mode: str, ends: Range, byte_hours: float = 0.0) -> Prediction:
    return predicted(mode, [End((0, end, 0, 0, 0), byte_hours) for end in ends])


@pytest.mark.parametrize(
    ("off", "buffer", "mode"),
    [
        ((100, 100), (60, 60), "persistent"),
        ((62, 62), (60, 60), "off"),  # about as long, and it reserves nothing
        ((35, 35), (36, 20), "persistent"),  # loses 3 % at worst, wins 43 % at best
        ((35, 35), (37, 20), "off"),  # may lose 6 %
        ((35, 35), (34, 34), "off"),  # never wins more than 5 %
        (
            (36, 60),
            (35, 35),
            "persistent",
        ),  # learned on the tier
        ((35, 35), (50, 40), "off"),
    ],
)
def test_a_buffer_is_taken_if_it_can_win_and_cannot_lose(
    off: Range, buffer: Range, mode: str
) -> None:
    modes = [prediction("off", off), prediction("persistent", buffer, 5 * GIB)]
    assert choose(modes).mode == mode


@pytest.mark.parametrize(
    ("off", "buffer", "reason"),
    [
        ((100, 100), (60, 60), "1 min 00 s is the shortest, 40% less than on the PFS"),
        (
            (62, 62),
            (60, 60),
            "1 min 02 s: persistent (1 min 00 s) does not surely win more than 5%, and "
            "it reserves 5.00 GiB hours",
        ),
        (
            (35, 35),
            (36, 20),
            "20 to 36 s: at best 43% less than on the PFS alone, at worst 3% more",
        ),
        (
            (35, 35),
            (50, 40),
            "35.0 s is the shortest, and persistent would take 40 to 50 s",
        ),
        (
            (35, 35),
            (35.01, 35.01),
            "35.0 s, and persistent is no shorter",
        ),
    ],
)
def test_the_reason_says_what_is_won(off: Range, buffer: Range, reason: str) -> None:
    modes = [prediction("off", off), prediction("persistent", buffer, 5 * GIB)]
    assert choose(modes).reason.startswith(reason)


def test_a_range_that_does_not_tell_says_what_would() -> None:
    """As of CyberShake, from its run on the tier alone."""
    from_tier = [prediction("off", (8.1, 12.3)), prediction("persistent", (9, 9), GIB)]
    assert choose(from_tier).reason.endswith(
        "reserves 1.00 GiB hours; --bb-history of a run on each side tells "
        "(docs/demands.md)"
    )
    known = [prediction("off", (62, 62)), prediction("persistent", (60, 60), GIB)]
    assert "--bb-history" not in choose(known).reason


def test_of_buffers_that_take_as_long_the_one_that_reserves_least() -> None:
    chosen = choose(
        [
            prediction("off", (100, 100)),
            prediction("persistent", (50, 50), 5 * GIB),
            prediction("transient", (51, 51), GIB),
        ]
    )
    assert chosen.mode == "transient"
    assert chosen.reason == (
        "51.0 s is within 5% of persistent (50.0 s) and reserves 4.00 GiB hours less"
    )


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (20.0, 35.0, "20 to 35 s"),
        (2.0, 3.5, "2.0 to 3.5 s"),
        (34.9, 35.0, "35.0 s"),
        (21.6, 22.4, "21.6 to 22.4 s"),
        (50.0, 90.0, "50.0 s to 1 min 30 s"),
        (0.0, 0.0, "0.0 s"),
    ],
)
def test_how_a_range_reads(low: float, high: float, text: str) -> None:
    assert format_range(low, high) == text


def test_json_has_both_ends_and_the_parts_of_the_middle() -> None:
    found = prediction("persistent", (30, 20), 7.0).to_json()
    assert (found["low"], found["high"], found["makespan"]) == (20, 30, 25)
    assert found["compute"] == 25


def test_a_tier_that_is_slower_than_the_pfs_is_said_to_be() -> None:
    modes = prediction("off", (35, 35)), prediction("persistent", (50, 40))
    found = Compared(modes, "", "", (), 0, {}, choose(modes), {})
    assert found.slower == (
        "persistent is slower than the PFS alone: 40 to 50 s against 35.0 s",
    )
