"""Sizes in bytes and durations in seconds, read strictly and written for people."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pegasus_bb.core.errors import UsageError

KIB = 1 << 10
MIB = 1 << 20
GIB = 1 << 30
TIB = 1 << 40

_SIZE_FACTOR = {"": 1, "B": 1, "K": KIB, "M": MIB, "G": GIB, "T": TIB, "P": 1 << 50}
_SIZE_FACTOR.update(
    {f"{u}iB": f for u, f in _SIZE_FACTOR.items() if u in "KMGTP" and u}
)
_SIZE_FACTOR.update(
    {f"{u}B": 1000 ** (i + 1) for i, u in enumerate(("K", "M", "G", "T", "P"))}
)
_ANY_SIZE = (
    "write a whole number and a unit, KiB, MiB, GiB, TiB or KB, MB, GB, TB, such as "
    "700GiB"
)
_DURATION_FACTOR = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def parse_size(text: str | int) -> int:
    """Bytes in ``text``: a whole number and a unit as Slurm reads them.

    K, KiB = 1024; KB = 1000 (Slurm: bb_get_size_num in burst_buffer_common.c).
    A decimal is refused because Slurm reads ``3.5TB`` as three bytes.

    Raises UsageError.
    """
    if type(text) is int and 0 <= text < 10**18:
        return text  # what nearly every declared size of a workflow is
    value = str(text).strip()
    number, unit = _number_and_unit(value)
    if not number or unit not in _SIZE_FACTOR:
        why = "decimal sizes are not taken" if "." in value else "not a size"
        would_do = _closest_size(number, unit) if number else ""
        raise UsageError(f"{value!r}: {why}; {would_do or _ANY_SIZE}")
    if len(number) > 18:
        raise UsageError(f"{value[:30]}...: larger than any storage; see the unit")
    return int(number) * _SIZE_FACTOR[unit]


def _number_and_unit(value: str) -> tuple[str, str]:
    """The digits of ``value`` and the letters after them, with a blank between or none;
    no digits if it has anything else."""
    number = value.rstrip(_LETTERS)
    unit = value[len(number) :]
    number = number[:-1] if number[-1:] == " " else number
    return (number if number.isascii() and number.isdigit() else ""), unit


def _closest_size(number: str, typed: str) -> str:
    """The size that differs from ``number`` and ``typed`` in the case of its unit, as
    text for an error; empty if there is none."""
    units = (unit for unit in _SIZE_FACTOR if unit.lower() == typed.lower())
    return next((f"did you mean {number}{unit}?" for unit in units), "")


def parse_duration(text: str | int) -> int:
    """Seconds in ``text``: ``90``, ``90s``, ``15m``, ``2h`` or ``1d``.

    Raises UsageError.
    """
    number, unit = _number_and_unit(str(text).strip())
    if not number or unit not in _DURATION_FACTOR:
        raise UsageError(
            f"{str(text)!r}: not a duration; write 90s, 15m, 2h or 1d (whole numbers)"
        )
    if len(number) > 12:
        raise UsageError(f"{number[:20]}...: longer than anything lasts")
    return int(number) * _DURATION_FACTOR[unit]


def abbreviate(names: Sequence[str], most: int = 3) -> str:
    """The first ``most`` of ``names``, and how many more there are; never 1 more, which
    is as long as its name."""
    if len(names) <= most + 1:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most} more"


def format_number(value: float, digits: int = 3) -> str:
    """``value`` to at least ``digits`` digits: 0.0012, 1,234; never a power of ten."""
    if not value:
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{places}f}"
    return text.rstrip("0").rstrip(".") if places else text


def format_size(size: int) -> str:
    """``size`` in the largest binary unit that keeps three digits, for people."""
    value = float(size)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if abs(value) < 1023.95:  # above, one decimal would read 1024.0
            return f"{value:.0f} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:,.1f} PiB"


def format_reserved(byte_hours: float) -> str:
    """Space times time in the unit of allocations: 3,500.00 GiB hours."""
    return f"{format_gib_hours(byte_hours).replace('<', 'under ')} GiB hours"


def format_gib_hours(byte_hours: float) -> str:
    """The same for a narrow column: 3,500.00, <0.01."""
    found = byte_hours / (1 << 30)
    return f"{found:,.2f}" if found >= 0.005 else "<0.01"


def format_count(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


def format_files(count: int) -> str:
    return format_count(count, "file")


def format_duration(seconds: float) -> str:
    """``seconds`` for people: 0.4 s, 12.3 s, 3 min 05 s, 2 h 10 min."""
    if abs(seconds) < 59.95:  # above, one decimal would read 60.0
        return f"{seconds:.1f} s"
    if seconds < 0:
        return f"-{format_duration(-seconds)}"
    seconds = max(seconds, 60)
    if seconds < 3600:
        return f"{int(seconds) // 60} min {int(seconds) % 60:02d} s"
    return f"{int(seconds) // 3600} h {int(seconds) % 3600 // 60:02d} min"


def format_seconds(seconds: float) -> str:
    """Three digits below ten seconds; microseconds rather than powers of ten."""
    if 0 < abs(seconds) < 0.0009995:  # above, three digits would read 1,000
        return f"{format_number(seconds * 1e6)} \u00b5s"
    if abs(seconds) < 0.00995:
        return f"{format_number(seconds)} s"
    if abs(seconds) < 9.995:
        places = 2 - math.floor(math.log10(abs(seconds)))
        return f"{seconds:.{places}f} s"
    return format_duration(seconds)


def format_measured(seconds: float, error: float | None) -> str:
    """``seconds`` and their standard error, to the same digit: 2.44 \u00b1 0.08 s."""
    if error is None:
        return format_seconds(seconds)
    largest = max(abs(seconds), error)
    if not 0.0009995 <= largest < 59.95:
        return f"{format_seconds(seconds)} \u00b1 {format_seconds(error)}"
    places = 2 - math.floor(math.log10(largest)) - (largest < 1)
    if error:  # no error reads 0
        places = max(places, min(4, -math.floor(math.log10(error))))
    return f"{seconds:.{places}f} \u00b1 {error:.{places}f} s"


def round_up(size: int, granule: int) -> int:
    """The smallest multiple of ``granule`` that is not below ``size``."""
    return -(-size // granule) * granule


def room_for(need: int, headroom: int, granule: int) -> int:
    """``need`` and ``headroom`` per cent, in whole granules; one granule at least."""
    return round_up(max(need + -(-need * headroom // 100), 1), granule)
