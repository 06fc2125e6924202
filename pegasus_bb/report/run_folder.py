"""A submit directory, any folder of records, or a single one -> a Run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from pegasus_bb.model.dag.roles import Role, role_of
from pegasus_bb.model.run import Kind, Problem, Run, Task
from pegasus_bb.report.darshan_counters import Log, NoPyDarshan, read_logs
from pegasus_bb.report.discovery import RunFiles, find_run_files
from pegasus_bb.report.drained import drained
from pegasus_bb.report.footprint import (
    declared,
    footprint,
    planned,
    programs,
    staged_in,
    without_printed_text,
    written_by,
)
from pegasus_bb.report.jobstate import JobStates
from pegasus_bb.report.joining import join
from pegasus_bb.report.kickstart import read_tasks
from pegasus_bb.report.live import live_on_jobs, live_on_shared, stayed_on_nodes
from pegasus_bb.report.node_times import (
    on_one_clock,
    read_states,
    to_the_last_record,
    with_starts,
    with_waits,
)
from pegasus_bb.report.records import load_yaml
from pegasus_bb.report.reserved import reservations
from pegasus_bb.report.run_clock import (
    RunTime,
    begun,
    exact_makespan,
    gate_wait,
    stood_still,
)
from pegasus_bb.report.run_notes import (
    cached_inputs,
    count_job_reservations,
    fetched,
    jobs_on_pfs,
    load_at_start,
    read_note,
    read_outcomes,
    staged_out,
    temporary_files,
)

_LIMIT = 4 << 20  # bytes of braindump.yml or plan.json


def read_run(path: Path) -> Run:
    """Read the run whose submit directory, record or log is at ``path``.

    Records that cannot be read are in ``problems``. Raises UsageError if there is
    nothing at all to read.
    """
    found = find_run_files(path)
    if path.is_file():
        return _with_records(Run(label=path.stem), found, JobStates(), ())
    run, workflow, problems = _planned_run(path)
    states, more = read_states(path)
    whole = _with_records(run, found, states, problems + more)
    return _with_notes(whole, path, found, workflow)


def _planned_run(folder: Path) -> tuple[Run, Path, tuple[Problem, ...]]:
    problems: list[Problem] = []
    braindump = _mapping(folder / "braindump.yml", problems)
    plan, request, transient, decision = (
        _mapping(folder / "bb" / f"{name}.json", problems)
        for name in ("plan", "request", "transient", "storage_decision")
    )
    on_pfs, unread = jobs_on_pfs(folder)
    run = Run(
        label=str(braindump.get("dax_label") or plan.get("label") or folder.name),
        mode=str(plan.get("mode") or ""),
        tier=str(plan.get("tier") or ""),
        backend=str((request or transient).get("backend") or ""),
        fallback=_fallback(decision),
        job_reservations=count_job_reservations(folder),
        chains=_chains(plan),
        jobs_on_pfs=on_pfs,
        submit_dir=str(folder),
        uuid=str(braindump.get("wf_uuid") or plan.get("uuid") or ""),
        predicted=_predicted(plan, "makespan"),
        predicted_range=_predicted_range(plan),
    )
    # It has the name that its user gave it, or that the built-in planner gives it.
    copy = folder / Path(str(braindump.get("dax") or "")).name
    workflow = copy if copy.is_file() else folder / "workflow.yml"
    return run, workflow, (*problems, *unread)


def _chains(plan: Mapping[str, Any]) -> tuple[int, ...]:
    found = plan.get("chains")
    counts = found if isinstance(found, list) else []
    return tuple(count for count in counts if isinstance(count, int))


def _predicted_range(plan: Mapping[str, Any]) -> tuple[float, float] | None:
    low, high = (_predicted(plan, key) for key in ("low", "high"))
    return None if low is None or high is None else (low, high)


def _predicted(plan: Mapping[str, Any], key: str) -> float | None:
    """Return the makespan that planning predicted for its mode, if it knew enough."""
    try:
        predicted = plan["predicted"]
        if predicted["unknown_times"] or predicted["unknown_sizes"]:
            return None
        modes = {found["mode"]: found for found in predicted["modes"]}
        seconds = modes[plan["mode"]][key]
    except (KeyError, TypeError):
        return None
    return float(seconds) if isinstance(seconds, (int, float)) else None


def _fallback(decision: Mapping[str, Any]) -> str:
    """Return why the run was on the PFS in place of the tier; empty if it was not."""
    if decision.get("to") != "pfs":
        return ""
    return str(decision.get("because") or "no reason was noted")


def _mapping(path: Path, problems: list[Problem]) -> Mapping[str, Any]:
    """Read the mapping in ``path``; a damaged file is a problem, an absent one is
    not."""
    try:
        with path.open("rb") as source:
            text = source.read(_LIMIT)
        data = orjson.loads(text) if path.suffix == ".json" else load_yaml(text)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        problems.append(Problem(str(path), str(error).splitlines()[0]))
        return {}
    return data if isinstance(data, dict) else {}


def _with_notes(run: Run, folder: Path, found: RunFiles, workflow: Path) -> Run:
    lists = {Path(key).name: Path(f"{key}.in") for key in found.records}
    placement = read_note(folder / "bb" / "placement.json")
    outcomes = read_outcomes(folder)
    results = staged_out(folder, outcomes)
    reserved = reservations(folder, run.nodes)
    start = begun(run)
    known = planned(placement) or declared(workflow, lists, run.tasks)
    brought = programs(lists, run.tasks)
    files = {lfn: file for lfn, file in known.items() if lfn not in brought}
    live = live_on_shared(folder, placement, lists, run.tasks, reserved.shared)
    return replace(
        run,
        tasks=tuple(without_printed_text(run.tasks, lists, files)),
        reserved=reserved.byte_hours,
        cost=reserved.cost,
        gate_wait=gate_wait(run),
        brought=staged_in(known, run.tasks),
        planned_sizes={n: f.size for n, f in files.items() if f.size is not None},
        fetched=fetched(folder),
        temporary=temporary_files(outcomes),
        cached=cached_inputs(outcomes, "cached"),
        cached_bytes=cached_inputs(outcomes, "cached_bytes"),
        saved=results.size if results else written_by(Kind.STAGE_OUT, run.tasks),
        safe=RunTime(start, run.stretches).at(results.last)
        if results and start is not None
        else None,
        footprint=footprint(files, run.tasks),
        drained=drained(folder),
        load=load_at_start(folder),
        live=None if run.fallback else live,
        live_job_reservations=live_on_jobs(placement, run.tasks, reserved),
        stayed=stayed_on_nodes(placement, run.tasks, reserved),
    )


def _with_records(
    run: Run, found: RunFiles, states: JobStates, problems: Iterable[Problem]
) -> Run:
    entries = list(_with_logs(list(_entries(found)), found))
    read = [entry for entry in entries if isinstance(entry, Task)]
    names = Counter(Path(key).name for key in found.records)
    own = (node for node in states.nodes if names[node.node] == 1)
    tasks, clocks = on_one_clock(read, own)
    states, early = to_the_last_record(states, tasks, run.submit_dir)
    nodes = with_starts(states.nodes, tasks)
    bad = (entry for entry in entries if isinstance(entry, Problem))
    run = replace(
        run,
        tasks=tuple(with_waits(tasks, nodes)),
        nodes=nodes,
        stretches=states.stretches,
        span=_span(tasks, states),
        retries=found.retries,
        missing=_missing(found),
        clocks=clocks,
        problems=(*problems, *early, *bad),
    )
    if run.stretches:
        makespan = exact_makespan(run)
        return replace(run, makespan=makespan, makespan_from="jobstate.log")
    source = "records" if tasks else ""
    return replace(run, makespan=run.span, makespan_from=source)


def _entries(found: RunFiles) -> Iterator[Task | Problem]:
    for key, (retry, path) in sorted(found.records.items()):
        for entry in read_tasks(path, key.rpartition("/")[2], retry):
            if isinstance(entry, Task):  # it may have been tried again in its place
                found.retries += entry.retry - retry
            yield entry


def _with_logs(
    entries: Sequence[Task | Problem], found: RunFiles
) -> Iterator[Task | Problem]:
    tasks = [entry for entry in entries if isinstance(entry, Task)]
    yield from (entry for entry in entries if isinstance(entry, Problem))
    for folder, why in sorted(found.unread.items()):
        yield Problem(folder, f"{why}; records in it or below are not in the numbers")
    for path in sorted(found.unfinished):
        yield Problem(str(path), "the program was killed before its log was written")
    logs: list[Log] = []
    try:
        for entry in read_logs(sorted(found.logs)):
            if isinstance(entry, Log):
                logs.append(entry)
            else:
                yield entry
    except NoPyDarshan as error:
        if not found.records:
            raise
        yield Problem(str(found.logs[0].parent), str(error))
    yield from join(tasks, logs)


def _missing(found: RunFiles) -> tuple[str, ...]:
    """Return planned nodes without a record; a sub-workflow's DAGMan never leaves
    one."""
    nodes = (Path(key).name for key in found.planned - found.records.keys())
    return tuple(sorted(n for n in nodes if role_of(n) is not Role.SUB_WORKFLOW))


def _span(tasks: Sequence[Task], states: JobStates) -> float | None:
    """Return the seconds from the first task's start to the last one's end, without
    those in which the run lay still before it was resumed: the makespan has none of
    them."""
    if not tasks:
        return None
    first = tasks[0].start
    last = max(task.end for task in tasks)
    return (last - first) - stood_still(states.stretches, first, last)
