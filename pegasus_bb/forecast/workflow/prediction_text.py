"""What each mode would take, in lines for a person."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pegasus_bb.core.text import columns
from pegasus_bb.core.units import (
    abbreviate,
    format_count,
    format_duration,
    format_files,
    format_gib_hours,
)
from pegasus_bb.forecast.workflow.mode_choice import Compared
from pegasus_bb.forecast.workflow.prediction import Prediction

_HEAD = ("mode", "makespan", "stage-in", "tasks", "stage-out", "other", "GiB hours")
_PERCENT = re.compile(r"\d+(?=%)")
_WAIT = 2  # the place of a column that is there where a mode waits


def shown(predicted: Compared) -> Iterator[str]:
    """Yield a table, then the ``remarks``."""
    refused = predicted.refused
    rows = [_HEAD, *(_row(row, refused=row.mode in refused) for row in predicted.rows)]
    if any(found.wait for found in predicted.rows):
        waits = ["wait", *(format_duration(found.wait) for found in predicted.rows)]
        rows = [
            (*row[:_WAIT], wait, *row[_WAIT:])
            for row, wait in zip(rows, waits, strict=True)
        ]
    yield from columns(rows, range(1, len(rows[0])))
    yield from remarks(predicted)


def remarks(predicted: Compared) -> Iterator[str]:
    """Yield what was chosen and why; then what the figures come from."""
    yield f"preferred: {predicted.choice.mode}; {predicted.choice.reason}"
    yield from predicted.slower
    for why in dict.fromkeys(predicted.refused.values()):
        alike = [mode for mode, other in predicted.refused.items() if other == why]
        yield f"{', '.join(alike)} cannot be chosen: {why}"
    basis = predicted.basis
    learned = f", run times: {basis.history}" if basis.history else ""
    yield f"by the speeds of {basis.speeds}{learned}"
    if basis.sources:
        told = (
            f"{name} ({format_count(count, 'job')})"
            for name, count in basis.sources.items()
        )
        yield f"computing times are learned from: {', '.join(told)}"
    yield from _noted(basis.notes)
    yield from basis.remarks
    yield from _not_in_it(predicted)


def _noted(notes: Mapping[str, int]) -> Iterator[str]:
    """Yield one line for notes that differ in a percentage alone, with the largest."""
    alike: dict[str, list[str]] = {}
    for note in notes:
        alike.setdefault(_PERCENT.sub("", note), []).append(note)
    for some in alike.values():
        largest = max(some, key=lambda note: [*map(int, _PERCENT.findall(note))])
        jobs = format_count(sum(notes[note] for note in some), "job")
        yield f"{jobs}: {largest}"


def _row(found: Prediction, *, refused: bool) -> tuple[str, ...]:
    parts = (found.stage_in, found.compute, found.stage_out, found.other)
    reserved = format_gib_hours(found.byte_hours) if found.byte_hours else "-"
    mode = f"{found.mode} (refused)" if refused else found.mode
    return (mode, found.range, *map(format_duration, parts), reserved)


def _not_in_it(predicted: Compared) -> Iterator[str]:
    ranges = [found for found in predicted.rows if found.is_range]
    if causes := dict.fromkeys(cause for found in ranges for cause in found.causes):
        yield (
            f"ranges: it is not known {', and '.join(causes)}; the other columns are "
            "in their middle (docs/prediction.md)"
        )
    basis = predicted.basis
    unknown = basis.unknown_sizes
    if unknown:
        files = format_files(len(unknown))
        names = abbreviate(unknown)
        yield f"not in it: {files} of unknown size ({names})"
    if basis.unknown_times:
        yield (
            f"not in it: the computing of {format_count(basis.unknown_times, 'job')}; "
            "--bb-history SUBMIT_DIR learns it from an earlier run"
        )
