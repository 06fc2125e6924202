"""``pegasus-bb report --html``: a comparison as one file that needs no other."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from pegasus_bb.model.stat import Pair, stat
from pegasus_bb.page.bandwidth import benchmark, by_processes
from pegasus_bb.page.calls import calls, processors
from pegasus_bb.page.charts import paired_bars
from pegasus_bb.page.drain import drain
from pegasus_bb.page.figure import RATIO, Chart, Figure, Table, format_quantity
from pegasus_bb.page.footprint import footprint
from pegasus_bb.page.live import live
from pegasus_bb.page.overview import overview
from pegasus_bb.page.probe import probe
from pegasus_bb.page.simulated import marked, simulated, simulated_chart
from pegasus_bb.page.templates import templates
from pegasus_bb.page.timeline import timeline
from pegasus_bb.report.document import Comparison, ReportedRun

FIGURES = (
    *(timeline, live, drain, probe, footprint, calls, processors),
    *(by_processes, benchmark),
)
_TIMES = ("makespan", "span")  # the second is known without jobstate.log


@dataclass(frozen=True, slots=True)
class Part:
    name: str  # empty for the only one
    headline: str
    runs: tuple[tuple[str, ReportedRun], ...]  # "PFS run 1" -> run
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
        found.notes,
        found.break_even.sentences if found.break_even else (),
        figures,
        tables,
    )


def headline(found: Comparison) -> str:
    """What the burst buffer bought, in one sentence: the makespans of both sides."""
    said = _headline(found)
    return f"Simulated: {said[0].lower()}{said[1:]}" if found.simulated else said


def _headline(found: Comparison) -> str:
    pair = _makespan(found)
    if not (pair.pfs and pair.bb):
        return "The makespan of a side is unknown, so the sides cannot be compared."
    pfs, bb = (format_quantity(stat.mean, "s") for stat in (pair.pfs, pair.bb))
    both = f"{bb} on the burst buffer, {pfs} on the PFS"
    if pair.beyond_error is False:
        return f"No difference beyond the scatter of the repetitions: {both}."
    ratio = pair.ratio
    if not ratio:
        return f"The run took {both}."
    times = format_quantity(max(ratio, 1 / ratio), RATIO)
    word = "faster" if ratio >= 1 else "slower"
    return f"The burst buffer was {times} {word}: {both}."


def _makespans(comparisons: Mapping[str, Comparison]) -> Chart | None:
    pairs = {name or "makespan": _makespan(each) for name, each in comparisons.items()}
    if not any(pair.pfs or pair.bb for pair in pairs.values()):
        return None
    label = "Makespan of each workflow on the PFS and on the burst buffer"
    drawn = paired_bars("workflow", "makespan", "s", pairs, label)[1]
    is_simulated = any(found.simulated for found in comparisons.values())
    return simulated_chart(drawn) if is_simulated else drawn


def _makespan(found: Comparison) -> Pair:
    """Of the clock's parts, which are exact; else as a log of whole seconds has it;
    else the times from first to last task."""
    sides = (found.pfs, found.bb)
    clock = Pair(*(stat(_seconds(run) for run in side) for side in sides))
    pairs = [clock, *(found.workflow[key] for key in _TIMES)]
    return next((pair for pair in pairs if pair.pfs and pair.bb), pairs[1])


def _seconds(reported: ReportedRun) -> float | None:
    return math.fsum(reported.clock.values()) if reported.clock else None
