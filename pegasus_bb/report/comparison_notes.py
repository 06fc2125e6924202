"""What a reader must know before believing a comparison, as sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from pegasus_bb.core.units import abbreviate, format_count, format_duration, format_size
from pegasus_bb.model.run import Kind, Run
from pegasus_bb.report.columns import IOWait, on_several_processors
from pegasus_bb.report.report_document import NamedRun, Sides
from pegasus_bb.report.verdict import different_workflows, incomplete, mistaken_sides


def warnings_on(sides: Sides) -> tuple[str, ...]:
    """Say why the sides may not be what they are called, or not of one workflow."""
    return (
        *_on_simulation(sides),
        *different_workflows(sides.runs),
        *mistaken_sides(sides),
        *_unknown_sides(sides.named_bb),
        *_resumed(sides.named),
        *_on_clocks(sides.named),
        *_on_load(sides.named),
        *_on_places(sides.named),
    )


_OF_A_SIMULATION = "off CPU is what a task waits for storage: run time - computing."


def notes_on(sides: Sides, io_wait: IOWait) -> tuple[str, ...]:
    """Make every other remark on these sides, the meaning of I/O wait first."""
    runs = sides.runs
    return (
        _OF_A_SIMULATION if sides.is_simulated else io_wait.sentence,
        *_on_calls(runs),
        *_on_threads(runs),
        *_busy_processors(runs, io_wait),
        *_on_runs(sides.named_pfs),
        *_on_runs(sides.named_bb),
        *_on_makespans(runs),
    )


def _unknown_sides(runs: Iterable[NamedRun]) -> Iterator[str]:
    for name, run in runs:
        if not (run.mode or run.fallback) and run.submit_dir:
            yield (
                f"{name} was given as BB, yet its bb/plan.json names no mode: nothing "
                "says that it had a burst buffer."
            )


def _resumed(runs: Iterable[NamedRun]) -> Iterator[str]:
    for name, run in runs:
        if len(run.stretches) > 1:
            lay = sum(begin - end for (_, end), (begin, _) in pairwise(run.stretches))
            yield (
                f"{name} was continued after a stop or a failure: what it had to do "
                "again is in its makespan, as time of the engine. The "
                f"{format_duration(lay)} between the last event in jobstate.log and "
                "the next start are not, though tasks that were killed may have worked "
                "in them."
            )


def _on_clocks(runs: Iterable[NamedRun]) -> Iterator[str]:
    for name, run in runs:
        if run.clocks:
            most = format_duration(max(run.clocks.values()))
            yield (
                f"{name}: the clock of {abbreviate(sorted(run.clocks))} is up to "
                f"{most} off that of the engine. Tasks there count from when "
                "jobstate.log says that their jobs ran."
            )


def _on_simulation(sides: Sides) -> Iterator[str]:
    if sides.is_simulated:
        yield (
            "these runs are simulated: nothing was run. Their numbers are as good as "
            "the speeds and the run times that they come from (docs/prediction.md)."
        )


def _on_calls(runs: Sequence[Run]) -> Iterator[str]:
    if any(task.calls for run in runs for task in run.tasks):
        yield (
            "in calls is Darshan's: seconds in calls for input and output, of the "
            "process of a log that took longest; bytes per second of those."
        )


def _on_threads(runs: Sequence[Run]) -> Iterator[str]:
    tasks = [task for run in runs for task in run.tasks if task.calls]
    over = sum(t.calls.seconds > 1.05 * t.duration + 1 for t in tasks if t.calls)
    if over:
        yield (
            f"{format_count(over, 'task')} spent more seconds in calls than the task "
            "took: several threads were in calls at once."
        )


def _busy_processors(runs: Sequence[Run], io_wait: IOWait) -> Iterator[str]:
    if io_wait is IOWait.MEASURED:
        return
    busy = on_several_processors(runs)
    names = sorted(name for kind, name in busy if kind is Kind.COMPUTE)
    if names:
        yield (
            f"no time off CPU is given for {', '.join(names)}: more than one processor "
            "was busy at once in a run, so the difference says nothing in any."
        )


def _on_runs(runs: Sequence[NamedRun]) -> Iterator[str]:
    yield from incomplete(runs)
    for name, run in runs:
        yield from _on_run(name, run)
        yield from _on_capacity(name, run)


def _on_run(name: str, run: Run) -> Iterator[str]:
    if run.problems:
        yield f"{name}: {format_count(len(run.problems), 'record')} could not be read."
    failed = sum(bool(task.exit_code) for task in run.tasks)
    if failed:
        yield f"{name}: {format_count(failed, 'task')} failed; their numbers are in."
    if run.retries:
        yield (
            f"{name}: {format_count(run.retries, 'earlier attempt')} of nodes: in the "
            "makespan, and in no other number."
        )


def _on_capacity(name: str, run: Run) -> Iterator[str]:
    live = run.live
    most = max((size for _, size in live.steps), default=0) if live else 0
    if live and live.capacity and most > live.capacity:
        yield (
            f"{name}: up to {format_size(most)} were on the tier at once, of "
            f"{format_size(live.capacity)} that were reserved. A tier with quotas, "
            "such as DataWarp, would have failed its jobs: plan with a larger "
            "--bb-capacity, or without one."
        )


def _on_load(runs: Iterable[NamedRun]) -> Iterator[str]:
    busy = [
        f"{name} ({run.load.average:.2f} on {run.load.cores} cores)"
        for name, run in runs
        if run.load and run.load.average > run.load.cores
    ]
    if busy:
        yield (
            f"the load average was high when these runs began: {', '.join(busy)}. "
            "Others, or a run just before, were at work on the machine: times and "
            "ratios are theirs as well."
        )


def _on_places(runs: Iterable[NamedRun]) -> Iterator[str]:
    for name, run in runs:
        if run.jobs_on_pfs:
            some = abbreviate([each.node for each in run.jobs_on_pfs])
            jobs = format_count(run.job_reservations, "job")
            yield (
                f"{name}: {len(run.jobs_on_pfs)} of {jobs} with a place of their own "
                f"worked on the PFS because the tier was full ({some}): their numbers "
                "say nothing about the burst buffer."
            )


def _on_makespans(runs: Sequence[Run]) -> Iterator[str]:
    if len({run.makespan_from for run in runs} - {""}) > 1:
        yield (
            "makespans are from a job state log in some runs and from the records alone"
            " in others: the latter leave out queueing before the first job."
        )
    if any(map(_in_whole_seconds, runs)):
        yield (
            "makespans are from job state logs in whole seconds, and no task tells the "
            "fractions."
        )


def _in_whole_seconds(run: Run) -> bool:
    """Whether rounding may change the makespan by a per cent or more."""
    made = run.makespan_from == "jobstate.log"
    seconds = run.makespan or 0.0
    return made and seconds < 100 and seconds == int(seconds)
