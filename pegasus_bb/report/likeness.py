"""Whether runs may be compared: of one workflow, on both sides, more than once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from pegasus_bb.core.units import abbreviate, format_count, format_size
from pegasus_bb.model.run import Kind, Run

_SAME_DATA = 1.05  # results may differ a little from run to run
_SIDES = {"pfs": "the PFS", "bb": "the burst buffer"}


def no_verdict(pfs: Sequence[Run], bb: Sequence[Run]) -> str:
    """Why a difference of these sides says nothing of a burst buffer; empty if it
    does."""
    if not (pfs and bb):
        return ""
    why = (
        *_different_labels([*pfs, *bb]),
        *_different_data([*pfs, *bb]),
        *mistaken_sides(pfs, bb),
        *incomplete("PFS", pfs),
        *incomplete("BB", bb),
    )
    return why[0] if why else ""


def mistaken_sides(pfs: Sequence[Run], bb: Sequence[Run]) -> Iterator[str]:
    """Warnings: runs that are not what their side is called."""
    swapped = all(map(_had_buffer, pfs)) and all(run.mode == "off" for run in bb)
    if pfs and bb and swapped:
        yield "the sides are swapped, it seems: give the runs in mode off as --pfs."
        return
    for number, run in enumerate(pfs, start=1):
        if _had_buffer(run):
            yield f"PFS run {number} was given as PFS, yet ran in mode {run.mode}."
    for number, run in enumerate(bb, start=1):
        if run.fallback:
            yield (
                f"BB run {number} was given as BB, yet ran on the PFS (fallback): it "
                "says nothing about the burst buffer."
            )
        elif run.mode == "off":
            yield f"BB run {number} was given as BB, yet ran without one (mode off)."


def unknown_sides(bb: Sequence[Run]) -> Iterator[str]:
    """Warnings: runs that may be what their side is called."""
    for number, run in enumerate(bb, start=1):
        if not (run.mode or run.fallback) and run.submit_dir:
            yield (
                f"BB run {number} was given as BB, yet its bb/plan.json names no mode: "
                "nothing says that it had a burst buffer."
            )


def _had_buffer(run: Run) -> bool:
    return run.mode not in ("", "off") and not run.fallback


def different_workflows(pfs: Sequence[Run], bb: Sequence[Run]) -> Iterator[str]:
    """Warnings: a difference of the makespans is then one of the workflows."""
    runs = [*pfs, *bb]
    yield from _different_labels(runs)
    yield from _different_data(runs)
    unequal = _unequal_jobs(runs)
    if unequal:
        yield f"not every run has the same number of jobs: {abbreviate(unequal)}."


def incomplete(side: str, runs: Sequence[Run]) -> Iterator[str]:
    """Runs that were stopped, or that still go on."""
    for number, run in enumerate(runs, start=1):
        if run.missing:
            nodes = format_count(len(run.missing), "node")
            yield (
                f"{side} run {number} is not complete: {nodes} left no record "
                f"({abbreviate(run.missing)}). How to go on: pegasus-bb status "
                f"{run.submit_dir}"
            )


def resumed(side: str, runs: Sequence[Run]) -> Iterator[str]:
    """Runs whose makespan has work that was done twice."""
    for number, run in enumerate(runs, start=1):
        if len(run.stretches) > 1:
            yield (
                f"{side} run {number} was stopped and resumed: what it had to do again "
                "is in its makespan, as time of the engine; the pause is not."
            )


def single_runs(pfs: Sequence[Run], bb: Sequence[Run]) -> str:
    """Which sides have one run alone; empty if none, or nothing was measured."""
    sides = {"pfs": pfs, "bb": bb}
    single = [name for side, name in _SIDES.items() if len(sides[side]) == 1]
    if not (pfs and bb and single) or any(run.simulated for run in [*pfs, *bb]):
        return ""
    return f"in one run on {'each side' if len(single) > 1 else single[0]}"


def unknown_error(pfs: Sequence[Run], bb: Sequence[Run]) -> str:
    """What one run of a side leaves open; empty if nothing, or nothing is compared."""
    single = single_runs(pfs, bb)
    if not single:
        return ""
    where = single.replace("in one run", "with one run")
    return f"The error is unknown {where}: repeat it to see the scatter."


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


def _unequal_jobs(runs: Sequence[Run]) -> list[str]:
    counts = [
        Counter(t.name for t in run.tasks if t.kind is Kind.COMPUTE) for run in runs
    ]
    names = sorted(set().union(*counts))
    return [name for name in names if len({count[name] for count in counts}) > 1]
