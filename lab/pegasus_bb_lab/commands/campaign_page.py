"""``pegasus-bb simulate --mix --html``: a study as one file that needs no other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import altair as alt

from pegasus_bb.report.page.charts import JOBS, axis, chart, draw
from pegasus_bb.report.page.figure import (
    Chart,
    Column,
    DataRow,
    Dataset,
    Figure,
    FigureTable,
)
from pegasus_bb.report.page.page_templates import templates
from pegasus_bb_lab.mix.cases import CAPACITY, NODES, PARITY, PFS, PLACEMENT, REPAIR
from pegasus_bb_lab.mix.study import Result
from pegasus_bb_lab.mix.study_text import case_rows, difference_rows

# Measure -> its title, unit, and factor.
_MEASURES = {
    "productive": ("productive time", "%", 100.0),
    "median": ("median bandwidth of a checkpoint", "GB/s", 1e-9),
    "lost_node_hours": ("lost to faults", "node-hours", 1.0),
}
# Variation -> title of the figure, its values, their unit and factor.
_SWEEPS = {
    NODES: ("By buffer nodes", "buffer nodes", "nodes", 1.0),
    CAPACITY: ("By capacity of the buffers", "capacity, TB", "TB", 1e-12),
    PFS: ("By bandwidth of the PFS", "PFS, GB/s", "GB/s", 1e-9),
    PARITY: ("By parity", "parity, per cent", "%", 100.0),
    REPAIR: ("By repair time", "repair, seconds", "s", 1.0),
    PLACEMENT: ("By placement of stripes", "placement", "", 1.0),
}
# Shapes of Vega, for readers who cannot tell colors apart, and as a legend has them.
_MARKS = {"triangle-up": "▲", "square": "■", "diamond": "◆"}
_ABOUT = "Means over the seeds, and half of the 95 % confidence interval of each mean."


def campaigns_page(mix: str, results: Sequence[Result]) -> str:
    """The page; it escapes every name."""
    base = results[0]
    swept = [key for key in _SWEEPS if _is_swept(key, results)]
    return (
        templates("pegasus_bb_lab")
        .get_template("campaigns.html.j2")
        .render(
            mix=mix,
            machine=base.case.machine.source.name,
            seeds=len(base.outcomes),
            tables=list(_tables(results)),
            figures=[_figure(key, results) for key in swept],
        )
    )


def _is_swept(key: str, results: Sequence[Result]) -> bool:
    values = {each.case.settings[key] for each in results if key in each.case.settings}
    return len(values) > 1


def _tables(results: Sequence[Result]) -> Iterator[FigureTable]:
    head, *rows = case_rows(results)
    yield FigureTable(_ABOUT, head, tuple(rows))
    base, *others = results
    found = [(each.case.name, list(difference_rows(each, base))) for each in others]
    if not found:
        return
    head = ("case", *(what for what, _, _ in found[0][1]))
    lines = tuple(
        (name, *(_difference(shown, verdict) for _, shown, verdict in rows))
        for name, rows in found
    )
    yield FigureTable(f"Against {base.case.name}, seed by seed.", head, lines)


def _difference(shown: str, verdict: str) -> str:
    return f"{shown}, {verdict}" if verdict else shown


def _figure(key: str, results: Sequence[Result]) -> Figure:
    title, value, unit, factor = _SWEEPS[key]
    at = Column("at", value, unit)
    charts = []
    tables = []
    names = list[str]()
    for measure, (what, its_unit, by) in _MEASURES.items():
        columns = (
            Column("series", "case"),
            at,
            Column("mean", what, its_unit),
            Column("half", "half of the interval", its_unit),
        )
        rows = list(_rows(key, factor, measure, by, results))
        if rows:
            data = Dataset(columns, rows)
            names = list(dict.fromkeys(row["series"] for row in rows))
            charts.append(_chart(data, at, what, its_unit))
            tables.append(data.table(f"{title}: {what}"))
    legend = tuple(
        (_of(JOBS, at), f"{_of(tuple(_MARKS.values()), at)} {name}")
        for at, name in enumerate(names)
    )
    drawn = tuple(charts)
    shown = tuple(tables)
    return Figure(key, title, _ABOUT, drawn, shown, side_by_side=True, legend=legend)


def _of(values: Sequence[str], at: int) -> str:
    return values[at % len(values)]


def _rows(
    key: str, factor: float, measure: str, by: float, results: Sequence[Result]
) -> Iterator[DataRow]:
    """Cases that do not depend on ``key`` are there for each of its values."""
    values = [each.case.settings.get(key) for each in results]
    known = [value for value in dict.fromkeys(values) if value is not None]
    for result, value in zip(results, values, strict=True):
        found = result.estimate(measure)
        if found is None:
            continue
        row = {
            "series": result.case.name_without(key),
            "mean": found.mean * by,
            "half": None if found.half is None else found.half * by,
        }
        for at in known if value is None else [value]:
            yield {**row, "at": at if isinstance(at, str) else at * factor}


def _chart(data: Dataset, at: Column, what: str, unit: str) -> Chart:
    names = list(dict.fromkeys(row["series"] for row in data.rows))
    y = axis(alt.Y, "mean", unit, zero=False)
    x: alt.X = alt.X("at:O", title=at.title, sort=None)
    if at.unit:
        x = axis(alt.X, "at", at.unit, zero=False)
        x = x.title(at.title)
    colors = alt.Color("series:N", legend=None, scale=_scale(names, JOBS))
    shapes = alt.Shape("series:N", legend=None, scale=_scale(names, tuple(_MARKS)))
    base = draw(data).encode(x=x, y=y, color=colors)
    layers: list[alt.Chart] = [
        base.mark_line(),
        base.mark_point(filled=True, size=60).encode(shape=shapes),
    ]
    if any(row["half"] for row in data.rows):
        layers.append(base.mark_errorbar().encode(yError="half:Q"))
    return chart(
        alt.layer(*layers), f"{what} by {at.title}", 220, data=data, title=what
    )


def _scale(names: Sequence[str], values: Sequence[str]) -> alt.Scale:
    shown = [_of(values, at) for at in range(len(names))]
    return alt.Scale(domain=list(names), range=shown)
