"""Sizes and durations: any text is one, or is refused in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.units import format_size, parse_duration, parse_size, round_up

BINARY = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50}
UNITS = {
    "": 1,
    "B": 1,
    **BINARY,
    **{f"{unit}iB": factor for unit, factor in BINARY.items()},
    **{f"{unit}B": 1000**n for n, unit in enumerate("KMGTP", 1)},
}
SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
AMOUNTS = st.integers(0, 10**18 - 1)
TEXTS = st.text() | st.from_regex(r"[0-9]{1,22}[ .,]?[A-Za-z]{0,3}", fullmatch=True)


@given(AMOUNTS, st.sampled_from(sorted(UNITS)), st.sampled_from(["", " "]))
def test_a_size_is_its_number_times_its_unit(number: int, unit: str, gap: str) -> None:
    assert parse_size(f"{number}{gap}{unit}") == number * UNITS[unit]
    assert parse_size(number) == number


@given(TEXTS)
def test_any_other_text_is_no_size(text: str) -> None:
    """What is taken is ASCII digits and a unit: Slurm reads no others."""
    try:
        size = parse_size(text)
    except UsageError as error:
        assert "\n" not in str(error)
        return
    digits = text.strip().rstrip("KMGTPiB ")
    assert digits.isascii() and digits.isdigit()
    assert size == int(digits) * UNITS[text.strip()[len(digits) :].strip()]


@given(st.integers(0, 10**9), st.sampled_from(sorted(SECONDS)))
def test_a_duration_is_its_number_times_its_unit(number: int, unit: str) -> None:
    assert parse_duration(f"{number}{unit}") == number * SECONDS[unit]


@given(TEXTS)
def test_any_other_text_is_no_duration(text: str) -> None:
    try:
        assert parse_duration(text) >= 0
    except UsageError as error:
        assert "\n" not in str(error)
    else:
        assert text.strip().rstrip("smhd ").isascii()


@given(st.integers(0, 1 << 70))
def test_a_size_for_people_is_within_a_rounding_of_the_truth(size: int) -> None:
    number, unit = format_size(size).split(" ")
    factor = {"B": 1, **{f"{u}iB": f for u, f in BINARY.items()}}[unit]
    assert abs(float(number.replace(",", "")) * factor - size) <= 0.051 * factor
    assert factor == 1 or size >= 0.99 * factor


@given(st.integers(0, 1 << 60), st.integers(1, 1 << 40))
def test_rounding_up_is_the_least_that_is_enough(size: int, granule: int) -> None:
    rounded = round_up(size, granule)
    assert rounded % granule == 0 and 0 <= rounded - size < granule


@pytest.mark.parametrize(
    "text", ["3.5TB", "-1", "", "GiB", "1 Gib", "1e9", "12 34", "1GiB;", "9" * 400]
)
def test_what_slurm_would_misread_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_size(text)
