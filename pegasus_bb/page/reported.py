"""``pegasus-bb report --html``: a comparison as one file that needs no other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pegasus_bb.page.bandwidth import benchmark, by_processes
from pegasus_bb.page.calls import calls, processors
from pegasus_bb.page.charts import paired_bars
from pegasus_bb.page.drain import drain
from pegasus_bb.page.figure import Chart, Figure, Table
from pegasus_bb.page.footprint import footprint
from pegasus_bb.page.live import live
from pegasus_bb.page.overview import overview
from pegasus_bb.page.simulated import marked, simulated, simulated_chart
from pegasus_bb.page.templates import templates
from pegasus_bb.page.timeline import timeline
from pegasus_bb.report.document import Comparison, ReportedRun
from pegasus_bb.report.headline import headline

FIGURES = (timeline, live, drain, footprint, calls, processors, by_processes, benchmark)


@dataclass(frozen=True, slots=True)
class Part:
    name: str  # empty for the only one
    headline: str
    runs: tuple[tuple[str, ReportedRun], ...]  # "PFS run 1" -> run
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    break_even: tuple[str, ...]  # sentences
    figures: tuple[Figure, ...]
    tables: tuple[Table, ...]


def report_page(comparisons: Mapping[str, Comparison]) -> str:
    """The page of all ``comparisons``, by name; it escapes every name."""
    parts = [_part(name, found) for name, found in comparisons.items()]
    labels = dict.fromkeys(run.run.label for part in parts for _, run in part.runs)
    return (
        templates()
        .get_template("report.html.j2")
        .render(
            parts=parts,
            simulated=any(found.simulated for found in comparisons.values()),
            title=", ".join(label for label in labels if label),
            makespans=_makespans(comparisons),
        )
    )


def _part(name: str, found: Comparison) -> Part:
    figures = tuple(make(found) for make in FIGURES)
    tables = tuple(overview(found))
    if found.simulated:
        figures, tables = tuple(map(simulated, figures)), marked(tables)
    return Part(
        name,
        headline(found),
        tuple(found.named_runs()),
        found.warnings,
        found.notes,
        found.break_even.sentences if found.break_even else (),
        figures,
        tables,
    )


def _makespans(comparisons: Mapping[str, Comparison]) -> Chart | None:
    pairs = {
        name or "makespan": each.workflow["makespan"]
        for name, each in comparisons.items()
    }
    if not any(pair.pfs or pair.bb for pair in pairs.values()):
        return None
    label = "Makespan of each workflow on the PFS and on the burst buffer"
    drawn = paired_bars("workflow", "makespan", "s", pairs, label)[1]
    is_simulated = any(found.simulated for found in comparisons.values())
    return simulated_chart(drawn) if is_simulated else drawn
