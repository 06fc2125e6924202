"""Overview tables: the workflows of a page, and the repetitions of a workflow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timezone

from pegasus_bb.model.stat import Pair
from pegasus_bb.report.metrics import RATIO, ReportedRun
from pegasus_bb.report.page.charts import LINES
from pegasus_bb.report.page.drawings import paired_bars
from pegasus_bb.report.page.figure import (
    UNKNOWN,
    Cell,
    Chart,
    Figure,
    FigureTable,
    Number,
)
from pegasus_bb.report.page.overview import each_kind
from pegasus_bb.report.report_document import Comparison

_TITLE = "Run time by transformation"
_MISSING = "Left out: no record is of a compute job."
_ABOUT = "Seconds of all jobs of a transformation, added up."
_MOST = 20  # transformations that are drawn


def transformations(found: Comparison) -> Figure:
    """Those that took longest are drawn; the tables have all."""
    pairs = {row.name: row.cells["run_time"] for row in found.compute}
    longest = sorted(pairs, key=lambda name: -_seconds(pairs[name]))[:_MOST]
    if not longest:
        return Figure("transformations", _TITLE, _MISSING)
    shown = {name: pairs[name] for name in pairs if name in longest}
    label = "Run time of each transformation; the tables have the numbers"
    _, bars = paired_bars("transformation", "run time", "s", shown, label)
    about = _ABOUT + (LINES if found.repeated else "")
    if len(pairs) > _MOST:
        about += f" The {_MOST} that took longest are drawn."
    tables = each_kind(found)
    return Figure("transformations", _TITLE, about, (bars,), tables)


def _seconds(pair: Pair) -> float:
    return max((stat.mean for stat in (pair.pfs, pair.bb) if stat), default=0.0)


def simulated(figure: Figure) -> Figure:
    return replace(
        figure,
        title=_marked(figure.title),
        charts=tuple(map(simulated_chart, figure.charts)),
        tables=marked(figure.tables),
    )


def marked(tables: Iterable[FigureTable]) -> tuple[FigureTable, ...]:
    return tuple(replace(table, caption=_marked(table.caption)) for table in tables)


def simulated_chart(chart: Chart) -> Chart:
    return replace(chart, title=_marked(chart.title), label=_marked(chart.label))


def _marked(text: str) -> str:
    return f"{text} (simulated)" if text else "simulated"


_RUNS = ("run", "began", "mode", "tier", "makespan", "time in jobs")


def workflows(comparisons: Mapping[str, Comparison]) -> FigureTable:
    """Makespans; from which size of its files a run gains, and their size now."""
    sides = {side: 1 for found in comparisons.values() for side in found.sides}
    heads = {"pfs": "PFS", "bb": "burst buffer"}
    head = [heads[side] for side in heads if side in sides]
    if len(sides) > 1:
        head += ["PFS/BB", "break-even in data", "data of these runs"]
    rows = (tuple(_workflow(name, each, sides)) for name, each in comparisons.items())
    return FigureTable("Makespan of each workflow", ("workflow", *head), tuple(rows))


def _workflow(name: str, found: Comparison, sides: Mapping[str, int]) -> Iterator[Cell]:
    pair = found.workflow["makespan"]
    even = found.break_even
    yield name
    for side in ("pfs", "bb"):
        if side in sides:
            stat = getattr(pair, side)
            yield Number(stat.mean, "s") if stat else UNKNOWN
    if len(sides) > 1:
        yield Number(pair.ratio, RATIO, pair.doubt)
        if even and even.footprint is not None:
            doubt = "" if even.footprint_error is not None else "?"
            yield Number(even.footprint, "B", doubt) if even.footprint else "any size"
        else:
            yield "no break-even" if even and even.net <= 0 else UNKNOWN
        yield Number(even.footprint_now if even else None, "B")


def repetitions(found: Comparison) -> FigureTable:
    rows = (tuple(_run(name, run)) for name, run in found.named_runs())
    return FigureTable("Each run", _RUNS, tuple(rows))


def _run(name: str, reported: ReportedRun) -> Iterator[Cell]:
    run = reported.run
    yield name
    yield _moment(reported.time.begun)
    yield run.mode or UNKNOWN
    yield run.tier or "none"
    yield Number(run.makespan, "s")
    yield Number(reported.clock.get("compute"), "s")


def _moment(epoch: float | None) -> str:
    """In UTC, so that a page says the same wherever it was made."""
    try:
        moment = datetime.fromtimestamp(epoch or 0.0, timezone.utc)
    except (OverflowError, ValueError, OSError):  # a record may say anything
        return UNKNOWN
    return UNKNOWN if epoch is None else f"{moment:%Y-%m-%d %H:%M:%S} UTC"
