"""A comparison as text: tables whose numbers are never cropped.

Plain where it is not a terminal.
"""

from __future__ import annotations

import io
from collections.abc import Iterator

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.measure import Measurement

from pegasus_bb.core.text import readable
from pegasus_bb.core.units import format_reserved, format_size
from pegasus_bb.model.run import Run
from pegasus_bb.report.probe import sentences
from pegasus_bb.report.report_document import Comparison
from pegasus_bb.report.tables import MOST, PLAIN, tables

_UNREAD = 20  # of a run
WIDTH = 100  # where there is no terminal
_ENDLESS = 10_000  # columns; names are folded in any case


def render_text(
    comparison: Comparison, *, color: bool = False, width: int = WIDTH
) -> str:
    """Render the tables, notes and problems of ``comparison``; plain text without
    ``color``.

    Lines keep to ``width`` columns, except paths, and tables whose numbers need more.
    """
    out = io.StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
        emoji=False,
    )
    found = tables(comparison, box.SIMPLE_HEAD if color else PLAIN)
    # Paths are not folded: a reader copies them.
    for line in _top(comparison):
        console.print(escape(readable(_plain(line))))
    for line in _runs(comparison):
        console.print(escape(readable(line)), soft_wrap=True)
    # rich crops what does not fit, so the page is made as wide as the tables.
    unbound = console.options.update(max_width=_ENDLESS)
    wide = [Measurement.get(console, unbound, table).maximum for table in found]
    console.width = max(width, WIDTH, *wide)
    console.print(*found, sep="\n")
    console.width = width
    for line in _remarks(comparison):
        console.print(escape(readable(_plain(line))))
    for line in _unread(comparison):
        console.print(escape(readable(line)), soft_wrap=True)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def _plain(line: str) -> str:
    return line.replace("\u00b1", "+-")  # as the tables have it


def _top(comparison: Comparison) -> Iterator[str]:
    yield comparison.headline
    if comparison.certainty:
        yield comparison.certainty
    for warning in comparison.warnings:
        if warning not in comparison.headline:
            yield f"WARNING: {warning}"


def _runs(comparison: Comparison) -> Iterator[str]:
    for name, reported in comparison.named_runs():
        run = reported.run
        yield f"{name}: {_about(run)}"
        if run.fallback:
            because = " ".join(run.fallback.split())
            yield f"*** {name} WAS REALLY ON THE PFS: {because} ***"
        if run.jobs_on_pfs:
            many = f"{len(run.jobs_on_pfs)} OF {run.job_reservations} JOBS"
            because = run.jobs_on_pfs[0].because
            yield f"*** {name}: {many} WERE ON THE PFS: {because} ***"
        yield from _predicted(run)
        if run.reserved is not None:
            yield f"  reserved {format_reserved(run.reserved)}"
        yield from _drained(run)
    yield from sentences(comparison.probe)


def _predicted(run: Run) -> Iterator[str]:
    if run.predicted is None or not run.makespan:
        return
    low, high = run.predicted_range or (run.predicted, run.predicted)
    error = min(max(run.makespan, low), high) / run.makespan - 1
    expected = (
        f"{low:.1f} to {high:.1f} s" if high - low > 0.1 else f"{run.predicted:.1f} s"
    )
    long = "long" if error > 0 else "short"
    wrong = f"the prediction was {abs(error):.0%} too {long}"
    where = "in the range" if low < run.makespan < high else wrong
    yield f"  predicted makespan {expected}, measured {run.makespan:.1f} s ({where})"


def _drained(run: Run) -> Iterator[str]:
    found = run.drained
    if found is None:
        return
    size, peak, mean = (
        format_size(round(value)) for value in (found.size, found.peak, found.mean)
    )
    safe = "" if run.safe is None else f"; all results safe after {run.safe:.1f} s"
    yield f"  drained {size}: at most {peak}/s over one second, mean {mean}/s{safe}"


def _about(run: Run) -> str:
    mode = f"mode {run.mode}" if run.mode else ""
    tier = f"tier {run.tier}" if run.tier and run.backend else ""
    what = "simulated" if run.simulated else ""
    mode += " with chains" if run.chains else ""
    words = (run.label, what, mode, tier, run.backend, run.submit_dir)
    return ", ".join(word for word in words if word)


def _remarks(comparison: Comparison) -> Iterator[str]:
    if comparison.is_comparison:
        yield "ratio: PFS to BB; above 1 the burst buffer took less."
    if comparison.repeated:
        yield "+-: standard error of the mean over repetitions."
    if comparison.repeated and comparison.is_comparison:
        yield "*: the difference may be chance (Welch's t-test, 5 %)."
    if comparison.is_comparison:
        yield "?: one value on a side, so the error is unknown."
    yield "A job's mean time is run time / jobs; --json has makespan and queue."
    yield "read, written: bytes that calls moved, the page cache's included."
    yield from _on_the_rest(comparison)
    yield from _on_layers(comparison)
    if comparison.break_even is not None:
        yield from comparison.break_even.sentences
    yield from (f"note: {note}" for note in comparison.notes)


def _on_the_rest(comparison: Comparison) -> Iterator[str]:
    """Say what the tables leave out."""
    jobs = len(comparison.jobs)
    files = len(comparison.files)
    if jobs > MOST and jobs > len(comparison.compute):
        yield f"jobs: the {MOST} of {jobs} that differ most; --json has all."
    if files > MOST:
        yield f"files: the {MOST} of {files} whose calls took longest; --json has all."


def _on_layers(comparison: Comparison) -> Iterator[str]:
    if comparison.layers or comparison.files:
        yield (
            "calls: Darshan's; read, written per s are those of the slowest process. "
            "MPI-IO's bytes are in POSIX's as well."
        )


def _unread(comparison: Comparison) -> Iterator[str]:
    for _, reported in comparison.named_runs():
        run = reported.run
        for entry in run.problems[:_UNREAD]:
            yield f"unread: {entry.file}: {entry.why}"
        more = len(run.problems) - _UNREAD
        if more > 0:
            where = run.submit_dir or run.label
            yield f"unread: {more} more of {where}; --json has all"
