"""``pegasus-bb report --html``: a report as one file that needs no other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pegasus_bb.report.page.bandwidth import benchmark, by_processes
from pegasus_bb.report.page.figure import Figure, FigureTable
from pegasus_bb.report.page.headline_figure import where_time_went
from pegasus_bb.report.page.overview import repetitions, workflows
from pegasus_bb.report.page.page_templates import templates
from pegasus_bb.report.page.tier_figures import drain, live, probe
from pegasus_bb.report.page.time_figures import (
    calls,
    footprint,
    processors,
    transformations,
)
from pegasus_bb.report.page.timeline import timeline
from pegasus_bb.report.report_document import Comparison

# From top to bottom.
FIGURES = (
    where_time_went,
    timeline,
    transformations,
    live,
    drain,
    probe,
    footprint,
    calls,
    processors,
    by_processes,
    benchmark,
)


@dataclass(frozen=True, slots=True)
class Part:
    """One workflow of a page."""

    name: str  # empty for the only one
    found: Comparison
    warnings: tuple[str, ...]
    about: tuple[str, ...]  # what the sides are
    overview: FigureTable | None  # of repetitions
    figures: tuple[Figure, ...]

    @property
    def others(self) -> list[Figure]:
        """The figures with data, but the first."""
        return [figure for figure in self.figures[1:] if figure.charts]

    @property
    def missing(self) -> list[Figure]:
        return [figure for figure in self.figures if not figure.charts]


def report_page(
    comparisons: Mapping[str, Comparison],
    warnings: Mapping[str, Sequence[str]] | None = None,
    about: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """Make the page of all ``comparisons``, by name; it escapes every name.

    ``warnings`` are more of them, by the same name; ``about`` says what the sides are.
    """
    more = warnings or {}
    what = about or {}
    parts = [
        _part(name, found, more.get(name, ()), what.get(name, ()))
        for name, found in comparisons.items()
    ]
    every = comparisons.values()
    runs = (run.run for found in every for _, run in found.named_runs())
    labels = dict.fromkeys(run.label for run in runs)
    return (
        templates()
        .get_template("report.html.j2")
        .render(
            parts=parts,
            simulated=any(found.simulated for found in every),
            compared=any(found.is_comparison for found in every),
            tells_error=any(found.tells_error for found in every),
            title=", ".join(label for label in labels if label),
            overview=workflows(comparisons) if len(parts) > 1 else None,
        )
    )


def _part(
    name: str, found: Comparison, warnings: Sequence[str], about: Sequence[str]
) -> Part:
    figures = [make(found) for make in FIGURES]
    overview = repetitions(found) if found.repeated else None
    if found.simulated:
        figures = [_simulated(figure) for figure in figures]
        overview = _marked_table(overview) if overview else None
    return Part(
        name,
        found,
        (*warnings, *found.warnings),
        tuple(about),
        overview,
        tuple(figures),
    )


def _simulated(figure: Figure) -> Figure:
    charts = (
        replace(each, title=_marked(each.title), label=_marked(each.label))
        for each in figure.charts
    )
    return replace(
        figure,
        title=_marked(figure.title),
        charts=tuple(charts),
        tables=tuple(map(_marked_table, figure.tables)),
    )


def _marked_table(table: FigureTable) -> FigureTable:
    return replace(table, caption=_marked(table.caption))


def _marked(text: str) -> str:
    return f"{text} (simulated)" if text else "simulated"
