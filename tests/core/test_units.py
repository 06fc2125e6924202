"""Sizes and durations: any text is one, or is refused in words."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.units import (
    abbreviate,
    format_duration,
    format_gib_hours,
    format_measured,
    format_number,
    format_reserved,
    format_seconds,
    format_size,
    parse_duration,
    parse_size,
    round_up,
)

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


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("64MIB", "64MiB"), ("64mb", "64MB"), ("64 kb", "64KB"), ("7g", "7G")],
)
def test_a_unit_in_another_case_is_suggested(typed: str, meant: str) -> None:
    with pytest.raises(UsageError, match=f"not a size; did you mean {meant}[?]"):
        parse_size(typed)


def test_the_units_are_named() -> None:
    with pytest.raises(UsageError, match="a unit, KiB, MiB, GiB, TiB or KB, MB, GB"):
        parse_size("64 sectors")


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


@given(st.floats(0, 1e9))
def test_a_duration_for_people_has_a_unit(seconds: float) -> None:
    assert format_duration(seconds).split(" ")[-1] in ("s", "min")


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


def test_a_decimal_is_refused_for_itself_whatever_the_backend() -> None:
    with pytest.raises(UsageError, match=r"'3.5TB': decimal sizes are not taken") as e:
        parse_size("3.5TB")
    assert "Slurm" not in str(e.value)


def test_a_decimal_is_no_duration() -> None:
    with pytest.raises(UsageError, match="not a duration"):
        parse_duration("1.5h")


def test_a_duration_of_more_digits_than_anything_lasts() -> None:
    with pytest.raises(UsageError, match=r"99\.\.\.: longer than anything lasts"):
        parse_duration("9" * 5000)


def test_for_people() -> None:
    assert format_size(512) == "512 B"
    assert format_size(3 << 30) == "3.0 GiB"
    assert format_duration(0.42) == "0.4 s"
    assert format_duration(185) == "3 min 05 s"
    assert format_duration(7800) == "2 h 10 min"


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0, 3, "0"),
        (2.5, 3, "2.5"),
        (-2.25, 3, "-2.25"),
        (0.00123456, 3, "0.00123"),
        (1e-9, 3, "0.000000001"),
        (999.7, 3, "1,000"),
        (1234567.8, 3, "1,234,568"),
        (9.9999, 3, "10"),
        (2e9, 2, "2,000,000,000"),
        (3.14159, 4, "3.142"),
    ],
)
def test_a_number_is_no_power_of_ten(value: float, digits: int, text: str) -> None:
    assert format_number(value, digits) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 s"),
        (0.0009997, "0.001 s"),  # not 1e+03 microseconds
        (0.00099949, "999 \u00b5s"),
        (-0.0009997, "-0.001 s"),
        (9.9996, "10.0 s"),
        (59.96, "1 min 00 s"),
        (-75.0, "-1 min 15 s"),
        (1000.0, "16 min 40 s"),
    ],
)
def test_seconds_are_plain_figures(seconds: float, text: str) -> None:
    assert format_seconds(seconds) == text


@given(st.floats(-1e12, 1e12))
def test_no_second_is_a_power_of_ten(seconds: float) -> None:
    assert "e" not in format_seconds(seconds)
    assert not re.match(r"-?1,?000\b|-?60\.", format_seconds(seconds))


def test_a_size_is_never_1024_of_a_unit() -> None:
    assert format_size((1 << 20) - 10) == "1.0 MiB"


@pytest.mark.parametrize(
    ("byte_hours", "text"),
    [
        (3500 * 2**30, "3,500.00 GiB hours"),
        (2**29, "0.50 GiB hours"),
        (36_800, "under 0.01 GiB hours"),
    ],
)
def test_what_was_reserved(byte_hours: float, text: str) -> None:
    assert format_reserved(byte_hours) == text


def test_gib_hours_of_a_column_have_no_unit() -> None:
    assert (format_gib_hours(3500 * 2**30), format_gib_hours(1)) == (
        "3,500.00",
        "<0.01",
    )


@pytest.mark.parametrize(
    ("names", "text"),
    [("ab", "a, b"), ("abcd", "a, b, c, d"), ("abcde", "a, b, c and 2 more")],
)
def test_what_is_left_out_is_more_than_one(names: str, text: str) -> None:
    assert abbreviate(list(names)) == text


@pytest.mark.parametrize(
    ("seconds", "error", "text"),
    [
        (2.44, 0.08, "2.44 \u00b1 0.08 s"),
        (0.434, 0.43, "0.43 \u00b1 0.43 s"),
        (44.51, 0.01, "44.51 \u00b1 0.01 s"),
        (12.0, 0.0, "12.0 \u00b1 0.0 s"),
        (62.0, 3.1, "1 min 02 s \u00b1 3.10 s"),
        (0.0, 0.0, "0 s \u00b1 0 s"),
        (44.5, None, "44.5 s"),
    ],
)
def test_an_error_has_the_digits_of_its_number(
    seconds: float, error: float | None, text: str
) -> None:
    assert format_measured(seconds, error) == text
