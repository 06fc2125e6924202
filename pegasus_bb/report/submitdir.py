"""A submit directory, any folder of records, or a single one -> a Run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pegasus_bb.dag.roles import Role, role_of
from pegasus_bb.model.run import NodeTimes, Problem, Run, Task
from pegasus_bb.report.clock import begun, gate_wait
from pegasus_bb.report.darshan import Log, NoPyDarshan, read_logs
from pegasus_bb.report.described import described
from pegasus_bb.report.discovery import RunFiles, find_run_files
from pegasus_bb.report.footprint import declared, footprint, planned
from pegasus_bb.report.jobstate import JobStates, read_jobstate
from pegasus_bb.report.joining import join
from pegasus_bb.report.kickstart import tasks_of
from pegasus_bb.report.live import live_bytes
from pegasus_bb.report.live_rooms import live_rooms
from pegasus_bb.report.ready import with_ready
from pegasus_bb.report.records import read_records
from pegasus_bb.report.reserved import Reservations, reservations
from pegasus_bb.report.staged import brought, saved
from pegasus_bb.report.starts import with_queued, with_starts


def read_run(path: Path) -> Run:
    """What happened in the run whose submit directory, record or log is at ``path``.

    Records that cannot be read are in ``problems``. Raises UsageError where there is
    nothing at all to read.
    """
    found = find_run_files(path)
    if path.is_file():
        return _with_records(Run(label=path.stem), found, None, ())
    run, workflow, problems = described(path)
    states, more = _states(path)
    whole = _with_records(run, found, states, problems + more)
    return _with_notes(whole, path, found, workflow)


def _with_notes(run: Run, folder: Path, found: RunFiles, workflow: Path) -> Run:
    """``run``, with what its programs have noted in ``folder`` and the job lists."""
    lists = {Path(key).name: Path(f"{key}.in") for key in found.records}
    results = saved(folder)
    held = reservations(folder, run.nodes) or Reservations()
    start = begun(run)
    files = planned(folder) or declared(workflow, lists, run.tasks)
    return replace(
        run,
        reserved=held.byte_hours,
        gate_wait=gate_wait(run),
        brought=brought(folder, run.tasks),
        saved=results.size if results else None,
        safe=results.last - start if results and start is not None else None,
        footprint=footprint(files, run.tasks),
        live=None
        if run.fallback
        else live_bytes(folder, lists, run.tasks, held.shared),
        live_rooms=live_rooms(folder, run.tasks, held),
    )


def _states(folder: Path) -> tuple[JobStates | None, tuple[Problem, ...]]:
    path = folder / "jobstate.log"
    try:
        states = read_jobstate(path)
    except FileNotFoundError:
        return None, ()
    except OSError as error:
        return None, (Problem(str(path), error.strerror or str(error)),)
    dags = list(folder.glob("*.dag"))
    if len(dags) == 1:
        begins = [since for since, _ in states.stretches]
        states = replace(states, nodes=with_ready(states.nodes, dags[0], begins))
    if states.unread:
        why = f"{states.unread} lines that are not of its format were skipped"
        return states, (Problem(str(path), why),)
    return states, ()


def _with_records(
    run: Run,
    found: RunFiles,
    states: JobStates | None,
    problems: Iterable[Problem],
) -> Run:
    """``run`` with its tasks, and what follows from tasks and states."""
    nodes = states.nodes if states else ()
    entries = list(_with_logs(list(_entries(found, nodes)), found))
    read = (entry for entry in entries if isinstance(entry, Task))
    tasks = sorted(read, key=lambda task: task.start)
    nodes = with_starts(nodes, tasks)
    tasks = list(with_queued(tasks, nodes))
    bad = [entry for entry in entries if isinstance(entry, Problem)]
    span = _span(tasks, states.still if states else ())
    from_log = states.makespan if states else None
    source = "" if span is None else "records"
    return replace(
        run,
        tasks=tuple(tasks),
        nodes=nodes,
        stretches=states.stretches if states else (),
        makespan=span if from_log is None else from_log,
        makespan_from=source if from_log is None else "jobstate.log",
        span=span,
        retries=found.retries,
        missing=_missing(found),
        problems=(*problems, *bad),
    )


def _entries(found: RunFiles, states: Iterable[NodeTimes]) -> Iterator[Task | Problem]:
    times = {node.node: node for node in states}
    for key, (retry, path) in sorted(found.records.items()):
        name = key.rpartition("/")[2]
        yield from tasks_of(read_records(path), path, name, retry, times.get(name))


def _with_logs(
    entries: Sequence[Task | Problem], found: RunFiles
) -> Iterator[Task | Problem]:
    """``entries``, with what Darshan's logs add to them."""
    tasks = [entry for entry in entries if isinstance(entry, Task)]
    yield from (entry for entry in entries if isinstance(entry, Problem))
    for folder, why in sorted(found.unread.items()):
        yield Problem(folder, f"{why}; records in it or below are not in the numbers")
    for path in sorted(found.unfinished):
        yield Problem(str(path), "the program was killed before its log was written")
    logs: list[Log] = []
    try:
        for said in read_logs(sorted(found.logs)):
            if isinstance(said, Log):
                logs.append(said)
            else:
                yield said
    except NoPyDarshan as error:
        if not found.records:
            raise
        yield Problem(str(found.logs[0].parent), str(error))
    yield from join(tasks, logs)


def _missing(found: RunFiles) -> tuple[str, ...]:
    """Planned nodes without a record; a sub-workflow's DAGMan never leaves one."""
    nodes = (Path(key).name for key in found.planned - found.records.keys())
    return tuple(sorted(n for n in nodes if role_of(n) is not Role.SUB_WORKFLOW))


def _span(tasks: Sequence[Task], still: Iterable[tuple[float, float]]) -> float | None:
    """Seconds from the first task's start to the last one's end, without those in
    which the run lay ``still`` before it was resumed: the makespan has none of them."""
    if not tasks:
        return None
    first, last = min(t.start for t in tasks), max(t.end for t in tasks)
    return (last - first) - sum(
        max(0.0, min(until, last) - max(since, first)) for since, until in still
    )
