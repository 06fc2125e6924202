"""``pegasus-bb simulate --mix --html``: a study as one file that needs no other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import altair as alt

from pegasus_bb.page.charts import axis, chart, color, draw, shape
from pegasus_bb.page.figure import Chart, Column, Dataset, Figure, Number, Row, Table
from pegasus_bb.page.templates import templates
from pegasus_bb.simulation.mix.cases import (
    CAPACITY,
    NODES,
    PARITY,
    PFS,
    PLACEMENT,
    REPAIR,
)
from pegasus_bb.simulation.mix.study import Result

# Measure -> its title, unit, and factor.
_MEASURES = {
    "productive": ("productive time", "%", 100.0),
    "median": ("median bandwidth of a checkpoint", "B/s", 1.0),
    "lost_node_hours": ("lost to faults", "node-hours", 1.0),
}
# Variation -> title of the figure, its values, their unit and factor.
_SWEEPS = {
    NODES: ("By buffer nodes", "buffer nodes", "nodes", 1.0),
    CAPACITY: ("By capacity of the buffers", "capacity, bytes", "B", 1.0),
    PFS: ("By bandwidth of the PFS", "PFS, bytes per second", "B/s", 1.0),
    PARITY: ("By parity", "parity, per cent", "%", 100.0),
    REPAIR: ("By repair time", "repair, seconds", "s", 1.0),
    PLACEMENT: ("By placement of stripes", "placement", "", 1.0),
}
_ABOUT = "Means over the seeds. Lines are the 95 % confidence interval of each mean."


def campaigns_page(mix: str, results: Sequence[Result]) -> str:
    """The page; it escapes every name."""
    base = results[0]
    swept = [key for key in _SWEEPS if _is_swept(key, results)]
    return (
        templates()
        .get_template("campaigns.html.j2")
        .render(
            mix=mix,
            machine=base.case.machine.source.name,
            seeds=len(base.outcomes),
            table=_table(results),
            figures=[_figure(key, results) for key in swept],
            notes=list(_notes(results)),
        )
    )


def _is_swept(key: str, results: Sequence[Result]) -> bool:
    values = {each.case.settings[key] for each in results if key in each.case.settings}
    return len(values) > 1


def _table(results: Sequence[Result]) -> Table:
    head, rows = ["case"], []
    for title, _, _ in _MEASURES.values():
        head += [title, "half of its interval"]
    for result in results:
        row: list[str | Number] = [result.case.name]
        for key, (_, unit, factor) in _MEASURES.items():
            found = result.estimate(key)
            mean = found.mean * factor if found else None
            half = found.half * factor if found and found.half is not None else None
            row += [Number(mean, unit), Number(half, unit)]
        rows.append(tuple(row))
    return Table(_ABOUT, tuple(head), tuple(rows))


def _figure(key: str, results: Sequence[Result]) -> Figure:
    title, value, unit, factor = _SWEEPS[key]
    at = Column("at", value, unit)
    charts, tables = [], []
    for measure, (what, its_unit, by) in _MEASURES.items():
        columns = (
            *(Column("series", "case"), at, Column("mean", what, its_unit)),
            Column("half", "half of the interval", its_unit),
        )
        rows = list(_rows(key, factor, measure, by, results))
        if rows:
            data = Dataset(columns, rows)
            charts.append(_chart(data, at, what, its_unit))
            tables.append(data.table(f"{title}: {what}"))
    return Figure(key, title, _ABOUT, tuple(charts), tuple(tables), side_by_side=True)


def _rows(
    key: str, factor: float, measure: str, by: float, results: Sequence[Result]
) -> Iterator[Row]:
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
    base = draw(data).encode(x=x, y=y)
    layers: list[alt.Chart] = [
        base.mark_line().encode(color=color(names)),
        base.mark_point(filled=True, size=60).encode(
            color=color(names), shape=shape(names)
        ),
    ]
    if any(row["half"] for row in data.rows):
        layers.append(base.mark_errorbar().encode(yError="half:Q"))
    return chart(alt.layer(*layers), f"{what} by {at.title}", 220, data, what)


def _notes(results: Sequence[Result]) -> Iterator[str]:
    base = results[0]
    for result in results[1:]:
        for measure, (what, _, _) in _MEASURES.items():
            found = result.against(base, measure)
            if found is not None and found.told_apart is False:
                names = f"{result.case.name} and {base.case.name}"
                yield f"{names}: not told apart by {what}."
