"""``pegasus-bb report --html``: a comparison as one file that needs no other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pegasus_bb.page.benchmark import benchmark
from pegasus_bb.page.calls import calls
from pegasus_bb.page.charts import SIDES
from pegasus_bb.page.figure import Figure, Table
from pegasus_bb.page.footprint import footprint
from pegasus_bb.page.headline import headline, makespans
from pegasus_bb.page.live import live
from pegasus_bb.page.overview import clock, staging, transformations, workflow
from pegasus_bb.page.processors import processors
from pegasus_bb.page.templates import templates
from pegasus_bb.page.timeline import timeline
from pegasus_bb.page.widths import by_processes

FIGURES = (timeline, live, footprint, calls, processors, by_processes, benchmark)


@dataclass(frozen=True, slots=True)
class Part:
    """One comparison on a page."""

    name: str  # empty for the only one
    headline: str
    runs: tuple[tuple[str, Mapping[str, Any]], ...]  # "PFS run 1" -> run
    notes: tuple[str, ...]
    break_even: tuple[str, ...]  # sentences
    figures: tuple[Figure, ...]
    tables: tuple[Table, ...]


def report_page(documents: Mapping[str, Mapping[str, Any]]) -> str:
    """The page of all ``documents``, by name; it escapes every name."""
    parts = [_part(name, document) for name, document in documents.items()]
    labels = dict.fromkeys(run["label"] for part in parts for _, run in part.runs)
    return (
        templates()
        .get_template("report.html.j2")
        .render(
            parts=parts,
            title=", ".join(label for label in labels if label),
            makespans=makespans(documents),
        )
    )


def _part(name: str, document: Mapping[str, Any]) -> Part:
    overview = (workflow(document), clock(document), staging(document))
    return Part(
        name,
        headline(document),
        tuple(
            (f"{words} run {number}", run)
            for side, words in SIDES.items()
            for number, run in enumerate(document["runs"][side], start=1)
        ),
        tuple(document["notes"]),
        tuple((document["break_even"] or {}).get("sentences", ())),
        tuple(make(document) for make in FIGURES),
        (*overview, *transformations(document)),
    )
