"""Live bytes on the tier, level by level, against the reserved capacity."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt

from pegasus_bb.page.charts import ALERT, Chart, chart, draw
from pegasus_bb.page.dataset import Column, Dataset
from pegasus_bb.page.figure import Figure, table
from pegasus_bb.page.quantity import format_quantity
from pegasus_bb.placement import Explanation

_COLUMNS = (
    Column("level", "level of the workflow"),
    Column("bytes", "live bytes", "B"),
    Column("reserved", "reserved", "B", axis="bytes"),
)


def levels(live: Sequence[int], explanation: Explanation) -> Figure:
    """``live`` are the bytes of each level; clean-ups between levels are done."""
    rows = [
        {"level": str(level), "bytes": size, "reserved": explanation.capacity}
        for level, size in enumerate(live, start=1)
    ]
    capacity = explanation.capacity
    data = Dataset(_COLUMNS if capacity else _COLUMNS[:2], rows)
    title = f"Live bytes on tier {explanation.tier}"
    best, worst = (
        format_quantity(size, "B")
        for size in (explanation.planned_order, explanation.any_order)
    )
    return Figure(
        "levels",
        title,
        f"Level by level, with every clean-up at once, at most {best}. In any order of "
        f"the jobs, at most {worst}.",
        (_chart(data, capacity),),
        (table(title, data),),
    )


def _chart(data: Dataset, capacity: int | None) -> Chart:
    base = draw("levels", data)
    layers = [
        base.mark_bar().encode(
            x=alt.X("level:O", title="level of the workflow", sort=None),
            y=alt.Y("bytes:Q", title=data.unit("bytes").name),
        )
    ]
    words = ""
    if capacity:
        layers.append(base.mark_rule(stroke=ALERT, size=2).encode(y="max(reserved):Q"))
        words = f"reserved: {format_quantity(capacity, 'B')}"
    label = "Live bytes in each level of the workflow; the table has the numbers"
    return chart(alt.layer(*layers), label, 180, words, levels=data)
