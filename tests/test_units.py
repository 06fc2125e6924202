"""Sizes and durations: read strictly, written for people."""

from __future__ import annotations

import pytest

from pegasus_bb.errors import UsageError
from pegasus_bb.units import (
    format_duration,
    format_size,
    parse_duration,
    parse_size,
    round_up,
)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("17", 17),
        (17, 17),
        ("4K", 4096),
        ("4KiB", 4096),
        ("4KB", 4000),
        ("700 GiB", 700 << 30),
        ("3TB", 3 * 10**12),
    ],
)
def test_a_size_is_what_slurm_reads(text: str | int, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text", ["3.5TB", "-1", "", "GiB", "1 Gib", "1e9", "12 34", "1GiB;", "9" * 400]
)
def test_what_slurm_would_misread_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_size(text)


def test_a_decimal_is_refused_for_itself_whatever_the_backend() -> None:
    with pytest.raises(UsageError, match=r"'3.5TB': decimal sizes are not taken") as e:
        parse_size("3.5TB")
    assert "Slurm" not in str(e.value)


def test_durations() -> None:
    assert [parse_duration(t) for t in ("90", "90s", "15m", "2h", "1d")] == [
        90,
        90,
        900,
        7200,
        86400,
    ]
    with pytest.raises(UsageError, match="not a duration"):
        parse_duration("1.5h")


def test_for_people() -> None:
    assert format_size(512) == "512 B"
    assert format_size(3 << 30) == "3.0 GiB"
    assert format_duration(0.42) == "0.4 s"
    assert format_duration(185) == "3 min 05 s"
    assert format_duration(7800) == "2 h 10 min"


def test_rounding_up_to_a_granule() -> None:
    assert [round_up(n, 4) for n in (0, 1, 4, 5)] == [0, 4, 4, 8]
