"""Numbers on a page have units."""

from __future__ import annotations

import pytest

from pegasus_bb.page.quantity import RATIO, TO_ONE, format_quantity


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (None, "s", "unknown"),
        (0.0123, "s", "0.0123 s"),
        (0.00000834, "s", "8.34 \u00b5s"),
        (0.0, "s", "0 s"),
        (185.4, "s", "3 min 05 s"),
        (2048.0, "B", "2.0 KiB"),
        (3 << 20, "B/s", "3.0 MiB/s"),
        (1.386, RATIO, "1.39 times"),
        (2.25, TO_ONE, "2.25 to 1"),
        (1.0, "processes", "1 process"),
        (1.0, "jobs", "1 job"),
        (16.0, "jobs", "16 jobs"),
    ],
)
def test_a_number_has_its_unit(value: float | None, unit: str, words: str) -> None:
    assert format_quantity(value, unit) == words
