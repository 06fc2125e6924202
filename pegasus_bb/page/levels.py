"""Live bytes on the tier, level by level, against what is reserved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pegasus_bb.page.plot import Mark, Panel, Plot, Text, rectangle
from pegasus_bb.page.said import said
from pegasus_bb.page.scale import from_zero

_LEFT, _RIGHT, _TOP, _HEIGHT = 90, 20, 12, 174
_WIDEST, _NARROWEST, _ALL = 60.0, 2.0, 770.0
_LEAST = 330.0  # so that words have room
_NUMBERED = 30  # levels with a number below them


def levels(live: Sequence[int], capacity: int | None, label: str) -> Plot:
    """``live`` are bytes in each level, clean-ups between them done at once."""
    step = min(_WIDEST, max(_NARROWEST, _ALL / max(1, len(live))))
    width = max(_LEAST, step * len(live) + 10)
    up = from_zero([*live, capacity or 0], _TOP + _HEIGHT, _TOP, "B")
    marks = [
        Mark(
            rectangle(
                _LEFT + number * step,
                up.at(size),
                step * 0.8,
                up.at(0) - up.at(size),
            ),
            "bar",
            f"level {number + 1}: {said(size, 'B')}",
        )
        for number, size in enumerate(live)
    ]
    below = _TOP + _HEIGHT
    texts = [Text(_LEFT, below + 32, "level of the workflow")]
    texts += _numbers(len(live), step, below + 15)
    if capacity is not None:
        y, words = up.at(capacity), f"reserved: {said(capacity, 'B')}"
        marks.append(Mark(f"M{_LEFT},{y:g}h{width:g}", "reserved"))
        texts.append(Text(_LEFT + 8, y + 15, words, style="reserved"))
    panel = Panel(_LEFT, _TOP, width, _HEIGHT, tuple(marks), (), up.ticks, tuple(texts))
    return Plot(_LEFT + width + _RIGHT, below + 40, (panel,), label)


def _numbers(count: int, step: float, y: float) -> Iterator[Text]:
    """Of as many levels as there is room for."""
    every = -(-count // _NUMBERED) or 1
    for number in range(0, count, every):
        x = round(_LEFT + number * step + step * 0.4, 2)
        yield Text(x, y, str(number + 1), "middle", "tick")
