"""A simulated execution -> a Run, so that what reads measured runs reads it as well.

It begins at 0, which stands for an epoch that there never was.
"""

from __future__ import annotations

from collections.abc import Iterator

from pegasus_bb.forecast.workflow.execution import Execution
from pegasus_bb.forecast.workflow.simulator import Mode, byte_hours
from pegasus_bb.forecast.workflow.workload import JobLoad
from pegasus_bb.model.placement import PFS
from pegasus_bb.model.run import (
    FileUse,
    Kind,
    Life,
    LiveBytes,
    NodeTimes,
    Run,
    Task,
    live_steps,
)

_PROGRAMS = {
    Kind.CREATE_DIR: "pegasus::dirmanager",
    Kind.STAGE_IN: "pegasus::transfer",
    Kind.STAGE_OUT: "pegasus::transfer",
    Kind.CLEANUP: "pegasus::cleanup",
    Kind.BB_SETUP: "bb::setup",
    Kind.BB_DELETE: "bb::delete",
}


def run_of(label: str, mode: Mode, done: Execution, site: str) -> Run:
    placement = mode.placement
    tasks = sorted(
        (*_tasks(done, site), *_alone(done, site)), key=lambda t: (t.start, t.node)
    )
    ends = [task.end for task in tasks]
    sizes = {f.lfn: f.size or 0 for f in placement.files.values()}
    copies = _copied(mode, done)
    is_off = not mode.kind.uses_tier
    return Run(
        label=label,
        mode=mode.name,
        tier="" if is_off else placement.tier.name,
        backend="" if is_off else placement.tier.backend,
        simulated=True,
        job_reservations=sum(work.own is not None for work in mode.work),
        tasks=tuple(tasks),
        nodes=tuple(_nodes(mode, done)),
        makespan=done.makespan,
        makespan_from="simulation",
        span=max(ends) - min(task.start for task in tasks) if tasks else None,
        reserved=byte_hours(mode, done) or None,
        brought=copies[Kind.STAGE_IN],
        saved=copies[Kind.STAGE_OUT],
        safe=max(
            (t.end for t in tasks if t.kind is Kind.STAGE_OUT),
            default=None,
        ),
        footprint=sum(sizes.values()),
        gate_wait=mode.rules.wait if mode.rules.reserves else None,
        live=_live(mode, done) if mode.rules.reserves else None,
        live_job_reservations=_live_of_jobs(mode, done),
    )


def _tasks(done: Execution, site: str) -> Iterator[Task]:
    for at, node in enumerate(done.outline.nodes):
        load = node.load
        waits = done.started[at] - done.ready[at]
        start = done.began[at]
        seconds = done.stopped[at] - start
        if load is None:
            program = _PROGRAMS[node.kind]
            yield Task(
                program, "", node.name, node.kind, site, start, seconds, 0, queued=waits
            )
            continue
        load.uses = load.uses or tuple(_uses(load))
        yield Task(
            load.job.transformation,
            load.job.id,
            node.name,
            Kind.COMPUTE,
            site,
            start,
            seconds,
            0,
            queued=waits,
            utime=min(done.demands[at].compute, seconds),
            stime=0.0,
            rchar=load.read,
            wchar=load.written,
            files=load.uses,
        )


def _uses(load: JobLoad) -> Iterator[FileUse]:
    for lfn, size in load.reads:
        yield FileUse(lfn, "", size)
    for lfn, size in load.writes:
        yield FileUse(lfn, "", size, output=True)


def _alone(done: Execution, site: str) -> Iterator[Task]:
    for kind, start, seconds in done.alone:
        yield Task(_PROGRAMS[kind], "", kind.value, kind, site, start, seconds, 0)


def _nodes(mode: Mode, done: Execution) -> Iterator[NodeTimes]:
    for at, node in enumerate(done.outline.nodes):
        yield NodeTimes(
            node.name,
            submitted=done.ready[at],
            executing=done.started[at],
            terminated=done.stopped[at],
            ended=done.ended[at],
            attempts=1,
            ready=done.ready[at],
        )
    if mode.rules.reserves:
        gate = done.gate_opened - mode.rules.wait
        opened = done.gate_opened
        name = Kind.CREATE_DIR.value
        yield NodeTimes(name, gate, opened, opened, opened, attempts=1, ready=gate)


def _copied(mode: Mode, done: Execution) -> dict[Kind, int]:
    copied = {Kind.STAGE_IN: 0, Kind.STAGE_OUT: 0}
    for node, work in zip(done.outline.nodes, mode.work, strict=True):
        if node.kind in copied:
            copied[node.kind] += sum(copy.size for copy in work.copies)
    return copied


def _live(mode: Mode, done: Execution) -> LiveBytes:
    """Return the live bytes. A file counts from the start of the node that brings or
    makes it to the end of the one that removes it, or of the reservation."""
    born: dict[str, float] = {}
    gone: dict[str, float] = {}
    for at, node in enumerate(done.outline.nodes):
        if node.load is not None:
            born.update({lfn: done.began[at] for lfn, _ in node.load.writes})
        elif node.kind is Kind.STAGE_IN:
            born.update(dict.fromkeys(node.lfns, done.began[at]))
        elif node.kind is Kind.CLEANUP:
            gone.update(dict.fromkeys(node.lfns, done.ended[at]))
    there = [
        file
        for file in mode.placement.files.values()
        if file.tier != PFS and file.how != "link"
    ]
    known = [file for file in there if file.size is not None and file.lfn in born]
    lives = [
        (file.size or 0, born[file.lfn], gone.get(file.lfn, done.makespan))
        for file in known
    ]
    capacity = mode.placement.capacity
    reserved = live_steps([(capacity, done.gate_opened, done.makespan)])
    return LiveBytes(live_steps(lives), capacity, len(there) - len(known), reserved)


def _live_of_jobs(mode: Mode, done: Execution) -> LiveBytes | None:
    lives: list[Life] = []
    reserved: list[Life] = []
    for at, work in enumerate(mode.work):
        own = work.own
        if own is None:
            continue
        since = (done.ready if own.by_batch_system else done.started)[at]
        until = done.ended[at]
        lives += [(copy.size, since, until) for copy in own.stage_in]
        lives += [(copy.size, done.began[at], until) for copy in own.stage_out]
        reserved.append((own.capacity, since, until))
    if not reserved:
        return None
    steps = live_steps(life for life in reserved if life[0])
    most = max((size for _, size in steps), default=None)
    return LiveBytes(live_steps(lives), most, 0, steps)
