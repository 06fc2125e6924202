"""Numbers with their units, for people."""

from __future__ import annotations

from pegasus_bb.units import format_duration, format_size

RATIO, TO_ONE = "ratio", "to one"  # units of quotients; others are s, B, B/s, or a noun
UNKNOWN = "unknown"


def format_quantity(value: float | None, unit: str) -> str:
    """``value`` with its unit, or ``unknown``; an unmeasured value is never zero."""
    if value is None:
        return UNKNOWN
    if unit == "s":
        return _seconds(value)
    if unit == "B":
        return format_size(int(value))
    if unit == "B/s":
        return f"{format_size(int(value))}/s"
    if unit == RATIO:
        return f"{value:.2f} times"
    if unit == TO_ONE:
        return f"{value:.3g} to 1"
    noun = unit.removesuffix("es" if unit.endswith("sses") else "s")
    return f"{value:g} {noun if value == 1 else unit}".rstrip()


def _seconds(value: float) -> str:
    """Microseconds rather than powers of ten: a call may take only a few."""
    if 0 < abs(value) < 0.001:
        return f"{value * 1e6:.3g} \u00b5s"
    return f"{value:.3g} s" if abs(value) < 10 else format_duration(value)
