"""Marks what was simulated, on every table and figure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pegasus_bb.report.page.figure import Chart, Figure, Table


def simulated(figure: Figure) -> Figure:
    return replace(
        figure,
        title=_marked(figure.title),
        charts=tuple(map(simulated_chart, figure.charts)),
        tables=marked(figure.tables),
    )


def marked(tables: Iterable[Table]) -> tuple[Table, ...]:
    return tuple(replace(table, caption=_marked(table.caption)) for table in tables)


def simulated_chart(chart: Chart) -> Chart:
    return replace(chart, title=_marked(chart.title), label=_marked(chart.label))


def _marked(text: str) -> str:
    return f"{text} (simulated)" if text else "simulated"
