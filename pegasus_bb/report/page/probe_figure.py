"""What a competing program waited for the PFS, while results left the tier."""

from __future__ import annotations

import altair as alt

from pegasus_bb.report.page.charts import axis, chart, color, draw
from pegasus_bb.report.page.figure import Column, Dataset, Figure
from pegasus_bb.report.probe import sentences
from pegasus_bb.report.report_document import Comparison

_TITLE = "A competing program"
_MISSING = (
    "Left out: nothing read the PFS meanwhile. --probe FILE names the log of what did "
    "(docs/report.md)."
)
_WHEN = {"during": "results leave the tier", "outside": "other times"}
_COLUMNS = (
    Column("name", "call"),
    Column("series", "when"),
    Column("p50", "p50", "s"),
    Column("p99", "p99", "s"),
    Column("count", "calls", "calls"),
)


def probe(found: Comparison) -> Figure:
    if not found.probe:
        return Figure("probe", _TITLE, _MISSING)
    rows = [
        {
            "name": each.op,
            "series": words,
            "p50": waited.p50,
            "p99": waited.p99,
            "count": waited.count,
        }
        for each in found.probe
        for key, words in _WHEN.items()
        if (waited := getattr(each, key)) is not None
    ]
    data = Dataset(_COLUMNS, rows)
    drawing = draw(data).mark_bar()
    drawing = drawing.encode(
        x=axis(alt.X, "p99", "s"),
        y=alt.Y("name:N", title=None, sort=None),
        yOffset=alt.YOffset("series:N", sort=list(_WHEN.values())),
        color=color(list(_WHEN.values())),
    )
    label = "Latency (p99) of a competing program's calls; the table has the numbers"
    shown = chart(drawing, label, 12 + 18 * len(rows), data)
    about = f"{'; '.join(sentences(found.probe))}."
    about = about[0].upper() + about[1:]
    return Figure("probe", _TITLE, about, (shown,), (data.table(_TITLE),))
