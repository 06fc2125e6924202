"""``pegasus-bb report --html``: a comparison as one file that needs no other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pegasus_bb.page.benchmark import benchmark
from pegasus_bb.page.calls import calls
from pegasus_bb.page.figure import Figure, Table
from pegasus_bb.page.footprint import footprint
from pegasus_bb.page.headline import headline, makespans
from pegasus_bb.page.live import live
from pegasus_bb.page.overview import overview
from pegasus_bb.page.processors import processors
from pegasus_bb.page.templates import templates
from pegasus_bb.page.timeline import timeline
from pegasus_bb.page.widths import by_processes
from pegasus_bb.report.document import Comparison, ReportedRun

FIGURES = (timeline, live, footprint, calls, processors, by_processes, benchmark)


@dataclass(frozen=True, slots=True)
class Part:
    """One comparison on a page."""

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
            title=", ".join(label for label in labels if label),
            makespans=makespans(comparisons),
        )
    )


def _part(name: str, found: Comparison) -> Part:
    return Part(
        name,
        headline(found),
        tuple(found.named_runs()),
        found.notes,
        found.break_even.sentences if found.break_even else (),
        tuple(make(found) for make in FIGURES),
        tuple(overview(found)),
    )
