"""A Run -> what a later planning can learn from it, what starting took included."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from statistics import correlation, fmean, linear_regression, median

from pegasus_bb.model.history import DEFAULT_STARTUP, History, Past, Startup
from pegasus_bb.model.mean_and_error import total_size
from pegasus_bb.model.modes import OFF, PERSISTENT
from pegasus_bb.model.placement import PFS
from pegasus_bb.model.run import Kind, NodeTimes, Run, Task

_FEW = 4  # nodes: of fewer, whole seconds of a job state log tell nothing
_SPREAD = 1.5  # of sizes: of tasks nearer to each other a line tells nothing
_LINEAR = 0.9  # correlation of sizes and times: below it a line tells nothing
_OWN = (Kind.CREATE_DIR, Kind.CLEANUP)  # the planner's own that move nothing


def history_of(run: Run) -> History:
    """Learn from the users' tasks that ended well; a failed one tells nothing.

    A Darshan log without a record tells of a program, and not how it ended. A run with
    logs alone does not tell how long all of it took.
    """
    tasks = [t for t in run.tasks if t.kind is Kind.COMPUTE and not t.exit_code]
    recorded = [task for task in tasks if task.exit_code is not None]
    logged = [task for task in tasks if task.exit_code is None]
    on_pfs = bool(run.fallback) or not run.tier
    together = tasks_together(run.tasks)
    known = run.planned_sizes
    kinds = _by_name(recorded, together, known)
    return History(
        place=PFS if on_pfs else run.tier,
        jobs={
            task.job: _past([task], together, known, _fixed_of(task, kinds))
            for task in recorded
            if task.job
        },
        kinds={task.job: task.transformation for task in recorded if task.job},
        transformations=kinds,
        programs=_by_name(logged, together, known),
        sizes={**run.fetched, **sizes_of(tasks)},
        planned_sizes=run.planned_sizes,
        temporary=_temporary(recorded, run.temporary),
        brought=run.brought,
        mode=OFF.name if on_pfs else run.mode or PERSISTENT.name,
        makespan=_makespan(run) if recorded and not run.retries else None,
        wait=None if run.fallback else run.gate_wait,
        source=_source(run, tasks),
        state_id=_state_id(run),
        had_retries=bool(run.retries),
        chains=run.chains,
        at_once=None if run.chains else _at_once(recorded),
    )


def _state_id(run: Run) -> str:
    """A run that goes on, or that is started over, has the same uuid."""
    last = max((task.end for task in run.tasks), default=0.0)
    return f"{run.uuid} {int(last)}" if run.uuid else ""


def _at_once(tasks: Sequence[Task]) -> int | None:
    return _most([(task.start, task.end) for task in tasks]) or None


def _temporary(tasks: Sequence[Task], peaks: Mapping[str, int]) -> dict[str, int]:
    """Return the most bytes of temporary files, by job and by transformation. A cluster
    has those of one task at a time."""
    most: dict[str, int] = {}
    for task in tasks:
        for name in filter(None, (task.job, task.transformation)):
            if task.node in peaks:
                most[name] = max(peaks[task.node], most.get(name, 0))
    return most


def _source(run: Run, tasks: Sequence[Task]) -> str:
    """Say where the records are, and how many of them no job can be told from."""
    where = run.submit_dir or run.label
    unnamed = sum(not task.job and not task.transformation for task in tasks)
    if not unnamed:
        return where
    return (
        f"{where} ({unnamed} of {len(tasks)} records name neither job nor "
        "transformation: their time counts as other)"
    )


def _makespan(run: Run) -> float | None:
    """Return it without the wait at the gate, when nothing else goes on."""
    if run.makespan is None:
        return None
    return max(0.0, run.makespan - (run.gate_wait or 0.0))


def tasks_together(tasks: Sequence[Task]) -> dict[int, float]:
    """Count the tasks that ran at a time while each did, itself among them: by ``id``,
    on average over its run time."""
    ends = [(task.end, -1) for task in tasks]
    changes = sorted([*((task.start, 1) for task in tasks), *ends])
    times = [0.0]
    seconds = [0.0]
    running = 0
    before = 0.0
    for time, change in changes:  # task seconds, added up to each change
        times.append(time)
        seconds.append(seconds[-1] + running * (time - before))
        running = running + change
        before = time
    at = dict(zip(times, seconds, strict=True))
    return {
        id(task): (at[task.end] - at[task.start]) / task.duration
        for task in tasks
        if task.duration > 0 and task.end > task.start
    }


def _by_name(
    tasks: Iterable[Task], together: Mapping[int, float], known: Mapping[str, int]
) -> dict[str, Past]:
    kinds: dict[str, list[Task]] = {}
    for task in tasks:
        kinds.setdefault(task.transformation, []).append(task)
    return {
        name: _past(some, together, known, _fixed(some))
        for name, some in kinds.items()
        if name
    }


def _past(
    tasks: Sequence[Task],
    together: Mapping[int, float],
    known: Mapping[str, int],
    fixed: float | None,
) -> Past:
    return Past(
        duration=median(task.duration for task in tasks),
        user=_middle(t.utime for t in tasks),
        read=_whole(t.rchar for t in tasks),
        written=_whole(t.wchar for t in tasks),
        kernel=_middle(t.stime for t in tasks),
        calls=_whole(map(_calls, tasks)),
        metadata=_whole(map(_metadata, tasks)),
        meta_time=_middle(t.calls.meta_time if t.calls else None for t in tasks),
        concurrency=_middle(together.get(id(task)) for task in tasks),
        made=_whole(_made(task, known) for task in tasks),
        fixed=fixed,
    )


def _size(task: Task) -> int | None:
    """Bytes of all its files; None if one is unknown, or if it has none."""
    return total_size(f.size for f in task.files if not f.name.startswith("/"))


def _made(task: Task, known: Mapping[str, int]) -> int | None:
    """Bytes of its outputs, by the ``known`` sizes first; None if one is unknown."""
    files = [f for f in task.files if f.output and not f.name.startswith("/")]
    return total_size(known.get(file.name, file.size) for file in files)


def _fixed_of(task: Task, kinds: Mapping[str, Past]) -> float | None:
    kind = kinds.get(task.transformation)
    return kind.fixed if kind else None


def _fixed(tasks: Sequence[Task]) -> float | None:
    """The part of the run time of the middle task that does not grow with its files:
    by least squares over tasks of several sizes. None if these are too few or too
    alike, or if their times do not follow a line."""
    points = [(size, t.duration) for t in tasks if (size := _size(t))]
    sizes = [size for size, _ in points]
    seconds = [duration for _, duration in points]
    if len(points) < _FEW or max(sizes) < _SPREAD * min(sizes):
        return None
    if min(seconds) == max(seconds) or correlation(sizes, seconds) < _LINEAR:
        return None
    slope, intercept = linear_regression(sizes, seconds)
    middle = intercept + slope * median(sizes)
    return min(1.0, max(0.0, intercept / middle)) if middle > 0 else None


def _calls(task: Task) -> int | None:
    """Count reads and writes. The kernel counts every process; Darshan counts what it
    saw."""
    if task.syscr is not None and task.syscw is not None:
        return task.syscr + task.syscw
    return task.calls.data if task.calls else None


def _metadata(task: Task) -> int | None:
    """Return what Darshan counted, else two for each file that Kickstart traced: it was
    opened and closed, and nothing counts what else was asked of it."""
    if task.calls:
        return task.calls.metadata
    traced = [f for f in task.files if (f.bytes_read, f.bytes_written) != (None, None)]
    return 2 * len(traced) or None


def _whole(values: Iterable[float | None]) -> int | None:
    middle = _middle(values)
    return None if middle is None else int(middle)


def _middle(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def sizes_of(tasks: Iterable[Task]) -> dict[str, int]:
    """Return the bytes by LFN; of a file that changed, the largest that was seen.

    An absolute path is no LFN: it names a file that the workflow does not know.
    """
    sizes: dict[str, int] = {}
    for task in tasks:
        for file in task.files:
            if file.size is not None and not file.name.startswith("/"):
                sizes[file.name] = max(file.size, sizes.get(file.name, 0))
    return sizes


def startup_of(run: Run) -> Startup | None:
    """Learn what starting took; None without a job state log. Its times are whole
    seconds: the differences of many nodes are right in their mean.

    Waiting in the queue is that of nodes that found a slot free: others waited for one,
    which is no part of starting. Of a few tasks the seconds of the log tell nothing;
    the records of a chain have fractions.
    """
    times = {node.node: node for node in run.nodes}
    found = [(t, times[t.node]) for t in run.tasks if t.node in times]
    of_node = Counter(task.node for task in run.tasks)  # several: a cluster
    begun = [node for node in run.nodes if node.executing is not None]
    if len(begun) < _FEW:
        return None
    around = _around(
        (task, node)
        for task, node in found
        if task.kind is Kind.COMPUTE and of_node[task.node] == 1
    )
    job = min(DEFAULT_STARTUP.job, _between(run.tasks)) if around is None else around
    own = [task.duration for task, _ in found if task.kind in _OWN]
    learned = replace(DEFAULT_STARTUP, queue=_queue(begun), job=job)
    return replace(learned, own=median(own) + job) if own else learned


def _around(pairs: Iterable[tuple[Task, NodeTimes]]) -> float | None:
    """Return the seconds in the slot beside the task."""
    seconds = [
        node.terminated - node.executing - task.duration
        for task, node in pairs
        if node.terminated is not None and node.executing is not None
    ]
    return max(0.0, fmean(seconds)) if len(seconds) >= _FEW else None


def _between(tasks: Sequence[Task]) -> float:
    """Return the median of the seconds from the end of a task to the next start: in a
    chain, what starting the next task took."""
    ends = sorted(task.end for task in tasks)
    starts = (task.start for task in tasks if task.start >= ends[0])
    gaps = [start - ends[bisect_right(ends, start) - 1] for start in starts]
    return median(gaps) if len(gaps) >= _FEW else DEFAULT_STARTUP.job


def _queue(begun: Sequence[NodeTimes]) -> float:
    """Return the mean of nodes that found a slot free; the least of all if these are
    few. There are as many slots as nodes ever had at the same time."""
    slots = _most([(node.executing, node.terminated) for node in begun])
    begins = sorted(map(_ready, begun))
    ends = sorted(n.terminated for n in begun if n.terminated is not None)
    waits = [(node.ready_wait or 0.0) + (node.queue or 0.0) for node in begun]
    free = [
        wait
        for node, wait in zip(begun, waits, strict=True)
        if bisect_right(begins, _ready(node)) - bisect_right(ends, _ready(node))
        <= slots
    ]
    return fmean(free) if len(free) >= _FEW else min(waits)


def _ready(node: NodeTimes) -> float:
    return (node.submitted or 0.0) if node.ready is None else node.ready


def _most(spans: Sequence[tuple[float | None, float | None]]) -> int:
    """Return how many spans overlap at most."""
    changes = [(since, 1) for since, _ in spans if since is not None]
    changes += [(until, -1) for _, until in spans if until is not None]
    return max(accumulate(change for _, change in sorted(changes)), default=0)
