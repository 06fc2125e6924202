"""pegasus-bb simulate WORKFLOW: runs of a workflow that never happen, reported."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click
import orjson

from pegasus_bb.cli.output import echo_lines, write_page, write_trace
from pegasus_bb.cli.plan_options import plan_options
from pegasus_bb.cli.progress_bar import progress
from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.text import columns
from pegasus_bb.core.units import format_duration
from pegasus_bb.forecast.workflow.prediction_text import shown
from pegasus_bb.forecast.workflow.waiting_times import Waits
from pegasus_bb.model.modes import OFF, PLANNED
from pegasus_bb.model.run import Run
from pegasus_bb.planner.reading import no_collection
from pegasus_bb.planner.simulations import Simulated, SimulationSize, simulated_modes
from pegasus_bb.report.compare import compare
from pegasus_bb.report.encoding import to_document
from pegasus_bb.report.render import WIDTH, render_text
from pegasus_bb.report.report_document import Comparison


def events_of(runs: Mapping[str, Sequence[Run]]) -> Iterator[dict[str, Any]]:
    """Of the first run of each mode, when each node was ready, ran and ended: seconds
    since the start."""
    for mode, (run, *_) in runs.items():
        for node in sorted(run.nodes, key=lambda node: (node.ready or 0.0, node.node)):
            yield {
                "mode": mode,
                "node": node.node,
                "ready": node.ready,
                "executing": node.executing,
                "terminated": node.terminated,
                "ended": node.ended,
            }


_HEAD = ("seconds, simulated", "jobs", "starting", "slot", "computing", "storage")


def simulate_workflow(
    options: dict[str, Any],
    modes: Sequence[str],
    size: SimulationSize,
    html: Path | None,
    trace: Path | None,
) -> None:
    """``options`` are those of a planning. Raises UsageError and CatalogError."""
    as_json = bool(options["as_json"])
    for mode in modes:
        if mode not in PLANNED:
            raise UsageError(f"--mode {mode}: one of {', '.join(PLANNED)}")
    wanted = [PLANNED[mode] for mode in modes]
    if html is not None:
        import pegasus_bb.report.page  # noqa: F401 - fails at once if it is not installed
    with no_collection():
        with progress("runs") as done:
            planned = plan_options(options, mode="persistent")
            found = simulated_modes(planned, wanted, size, done)
        compared = _compared(found)
        if as_json:
            click.echo(orjson.dumps(_document(found, compared), option=_INDENT))
        else:
            _print(found, compared)
        if html is not None:
            from pegasus_bb.report.page.reported import (
                report_page,  # templates are slow to load
            )

            write_page(html, report_page(compared))
            if not as_json:
                click.echo(f"drawn: {html}")
        if trace is not None:
            write_trace(trace, events_of(found.runs))


_INDENT = orjson.OPT_INDENT_2


def _compared(found: Simulated) -> dict[str, Comparison]:
    """Each mode beside mode off, by its name; mode off alone beside itself."""
    off = found.runs[OFF.name]
    others = {mode: runs for mode, runs in found.runs.items() if mode != OFF.name}
    return {
        mode: _with_doubt(compare(off, runs), found, mode)
        for mode, runs in (others or found.runs).items()
    }


def _with_doubt(compared: Comparison, found: Simulated, mode: str) -> Comparison:
    """The ranges of the first table may say something else."""
    if not found.predicted.basis.history:
        return compared
    of_both = [p for p in found.predicted.rows if p.mode in (OFF.name, mode)]
    ranges = " and ".join(f"{p.range} in mode {p.mode}" for p in of_both)
    doubt = (
        "these runs are simulated, and leave out by how much earlier runs differed "
        f"from their simulation. The forecast: {ranges} (docs/prediction.md)."
    )
    return replace(compared, warnings=(doubt, *compared.warnings))


def _document(found: Simulated, compared: dict[str, Comparison]) -> dict[str, Any]:
    return {
        "version": 1,
        "simulated": True,
        "predicted": found.predicted.to_json(),
        "waits": {
            mode: [asdict(each) for each in waits]
            for mode, waits in found.waits.items()
        },
        "comparisons": {mode: to_document(each) for mode, each in compared.items()},
    }


def _print(found: Simulated, compared: dict[str, Comparison]) -> None:
    width = shutil.get_terminal_size((WIDTH, 24)).columns
    echo_lines(shown(found.predicted))
    for mode, comparison in compared.items():
        click.echo(f"\n== simulated: {mode} beside the PFS alone ==")
        text = render_text(comparison, color=sys.stdout.isatty(), width=width)
        click.echo(text, nl=False)
    for mode, waits in found.waits.items():
        click.echo(f"\n== simulated: who waits for what in mode {mode}, added up ==")
        click.echo("\n".join(columns([_HEAD, *map(_row, waits)], range(1, 6))))


def _row(waits: Waits) -> tuple[str, ...]:
    seconds = (
        waits.starting,
        waits.slot,
        waits.computing,
        waits.storage + waits.own,
    )
    return waits.name, str(waits.jobs), *map(format_duration, seconds)
