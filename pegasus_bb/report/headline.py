"""What a report says first: one sentence on the makespans."""

from __future__ import annotations

from pegasus_bb.core.units import format_measured, format_seconds
from pegasus_bb.model.run import Run
from pegasus_bb.model.stat import Pair, Stat
from pegasus_bb.report.likeness import (
    incomplete,
    no_verdict,
    single_runs,
    unknown_error,
)
from pegasus_bb.report.report_document import Comparison


def headline(found: Comparison) -> str:
    """What the burst buffer bought; of one side alone, how long it took."""
    sentence = _sentence(found)
    if not found.simulated:
        return sentence
    return f"Simulated: {sentence[0].lower()}{sentence[1:]}"


def certainty(found: Comparison) -> str:
    """What one run of a side leaves open; empty if nothing."""
    return unknown_error(*_sides(found))


def notes(found: Comparison) -> tuple[str, ...]:
    """All sentences that a reader must know, in the order in which they are shown."""
    return (*filter(None, [certainty(found)]), *found.warnings, *found.notes)


def _sides(found: Comparison) -> tuple[list[Run], list[Run]]:
    return [each.run for each in found.pfs], [each.run for each in found.bb]


def _sentence(found: Comparison) -> str:
    pair = found.workflow["makespan"]
    if not found.is_comparison:
        return _of_one_side(found, pair)
    if why := no_verdict(*_sides(found)):
        return f"This says nothing of a burst buffer: {why}"
    if not (pair.pfs and pair.bb):
        return "The makespan of a side is unknown, so the sides cannot be compared."
    both = f"{_took(pair.bb, 'the burst buffer')}, {_took(pair.pfs, 'the PFS')}"
    if pair.beyond_error is False:
        return f"No difference beyond the scatter: {both}.{_unseen(pair)}"
    ratio = pair.ratio
    if not ratio:
        return f"The run took {both}."
    times = max(ratio, 1 / ratio)
    if times < 1.005:
        return f"The sides took equally long, within 0.5 %: {both}."
    word = "faster" if ratio >= 1 else "slower"
    doubt = f" {single}" if (single := single_runs(*_sides(found))) else ""
    return f"The burst buffer was {times:.2f} times {word}{doubt}: {both}."


def _took(stat: Stat, where: str) -> str:
    runs = f" ({stat.n} runs)" if stat.n > 1 else ""
    return f"{format_measured(stat.mean, stat.error)} on {where}{runs}"


def _unseen(pair: Pair) -> str:
    """The least difference that would be beyond the error."""
    if not pair.least_difference:
        return ""
    seconds = float(f"{pair.least_difference:.2g}")
    least = f"{seconds:g} s" if seconds < 10 else format_seconds(seconds)
    return f" A difference below {least} could not have been seen."


def _of_one_side(found: Comparison, pair: Pair) -> str:
    where = "on the PFS" if found.pfs else "on the burst buffer"
    pfs, bb = _sides(found)
    if why := [*incomplete("PFS", pfs), *incomplete("BB", bb)]:
        return f"This is a part of a run: {why[0]}"
    stat = pair.pfs or pair.bb
    if stat is None:
        return f"How long the run {where} took is unknown."
    seconds = format_seconds(stat.mean)
    if stat.n > 1:
        return f"{stat.n} runs {where} took {seconds} on average."
    return f"The run {where} took {seconds}."
