"""What may be said of two sides: a sentence on the makespans, or why there is none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from pegasus_bb.core.units import (
    abbreviate,
    format_count,
    format_measured,
    format_seconds,
    format_size,
)
from pegasus_bb.model.mean_and_error import ALIKE, Pair, Stat
from pegasus_bb.model.run import Kind, Run
from pegasus_bb.report.report_document import NamedRun, Sides

_SAME_DATA = 1.05  # results may differ a little from run to run


def headline(sides: Sides, makespan: Pair) -> str:
    """Say what the burst buffer bought; of one side alone, how long it took."""
    sentence = _sentence(sides, makespan)
    if not sides.is_simulated:
        return sentence
    return f"Simulated: {sentence[0].lower()}{sentence[1:]}"


def certainty(sides: Sides) -> str:
    """Say what one run of a side leaves open; empty if nothing."""
    single = _single_runs(sides)
    if not single:
        return ""
    return f"The error is unknown with {single}: repeat it to see the scatter."


def no_verdict(sides: Sides) -> str:
    """Say why a difference of these sides says nothing of a burst buffer; empty if it
    does."""
    if not (sides.pfs and sides.bb):
        return ""
    why = (
        *_different_labels(sides.runs),
        *_different_data(sides.runs),
        *mistaken_sides(sides),
        *incomplete(sides.named),
    )
    return why[0] if why else ""


def mistaken_sides(sides: Sides) -> Iterator[str]:
    """Warn of runs that are not what their side is called."""
    on_tier = all(run.had_tier for run in sides.pfs)
    swapped = on_tier and all(run.was_off for run in sides.bb)
    if sides.pfs and sides.bb and swapped:
        yield "the sides are swapped, it seems: give the runs in mode off as --pfs."
        return
    for name, run in sides.named_pfs:
        if run.had_tier:
            yield f"{name} was given as PFS, yet ran in mode {run.mode}."
    for name, run in sides.named_bb:
        if run.fallback:
            yield (
                f"{name} was given as BB, yet ran on the PFS (fallback): it says "
                "nothing about the burst buffer."
            )
        elif run.was_off:
            yield f"{name} was given as BB, yet ran without one (mode off)."


def different_workflows(runs: Sequence[Run]) -> Iterator[str]:
    """Warn that a difference of the makespans is one of the workflows."""
    yield from _different_labels(runs)
    yield from _different_data(runs)
    counts = [
        Counter(t.name for t in run.tasks if t.kind is Kind.COMPUTE) for run in runs
    ]
    names = sorted(set().union(*counts))
    unequal = [n for n in names if len({count[n] for count in counts}) > 1]
    if unequal:
        yield f"not every run has the same number of jobs: {abbreviate(unequal)}."


def incomplete(runs: Iterable[NamedRun]) -> Iterator[str]:
    """Warn of runs that were stopped, or that still go on."""
    for name, run in runs:
        if run.missing:
            nodes = format_count(len(run.missing), "node")
            yield (
                f"{name} is not complete: {nodes} left no record "
                f"({abbreviate(run.missing)}). How to go on: pegasus-bb status "
                f"{run.submit_dir}"
            )


def _different_labels(runs: Sequence[Run]) -> Iterator[str]:
    labels = sorted({run.label for run in runs if run.submit_dir})
    if len(labels) > 1:
        yield (
            f"the runs are of different workflows: {', '.join(labels)}. Compare runs "
            "of one workflow."
        )


def _different_data(runs: Sequence[Run]) -> Iterator[str]:
    sizes = [run.footprint for run in runs if run.footprint and not run.missing]
    if sizes and max(sizes) > _SAME_DATA * min(sizes):
        least = format_size(min(sizes))
        most = format_size(max(sizes))
        yield (
            f"the files of a run have {least}, those of another {most}. Compare runs "
            "of the same inputs."
        )


def _sentence(sides: Sides, pair: Pair) -> str:
    if not (sides.pfs and sides.bb):
        return _of_one_side(sides, pair)
    if why := no_verdict(sides):
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
    if pair.is_alike and sides.is_simulated:
        return f"The sides take about as long, within {ALIKE:.0%}: {both}."
    if times < 1.005:
        return f"The sides took equally long, within 0.5 %: {both}."
    word = "faster" if ratio >= 1 else "slower"
    doubt = f" in {single}" if (single := _single_runs(sides)) else ""
    return f"The burst buffer was {times:.2f} times {word}{doubt}: {both}."


def _single_runs(sides: Sides) -> str:
    """Say which sides have one run alone; empty if none, or nothing was measured."""
    named = {"the PFS": sides.pfs, "the burst buffer": sides.bb}
    single = [name for name, runs in named.items() if len(runs) == 1]
    is_compared = sides.pfs and sides.bb
    if not (is_compared and single) or sides.is_simulated:
        return ""
    return f"one run on {'each side' if len(single) > 1 else single[0]}"


def _took(stat: Stat, where: str) -> str:
    runs = f" ({stat.n} runs)" if stat.n > 1 else ""
    return f"{format_measured(stat.mean, stat.error)} on {where}{runs}"


def _unseen(pair: Pair) -> str:
    """Say the least difference that would be beyond the error."""
    if not pair.least_difference:
        return ""
    seconds = float(f"{pair.least_difference:.2g}")
    least = f"{seconds:g} s" if seconds < 10 else format_seconds(seconds)
    return f" A difference below {least} could not have been seen."


def _of_one_side(sides: Sides, pair: Pair) -> str:
    where = "on the PFS" if sides.pfs else "on the burst buffer"
    if why := [*incomplete(sides.named)]:
        return f"This is a part of a run: {why[0]}"
    stat = pair.pfs or pair.bb
    if stat is None:
        return f"How long the run {where} took is unknown."
    seconds = format_seconds(stat.mean)
    if stat.n > 1:
        return f"{stat.n} runs {where} took {seconds} on average."
    return f"The run {where} took {seconds}."
