"""Live bytes over the time of a run: on the shared reservation, and on single jobs'.

bb/placement.json says where files live. Job lists say when staging brings a file and
when a clean-up removes it, records say when a task writes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from pegasus_bb.model.mean_and_error import total_size
from pegasus_bb.model.run import Kind, Life, LiveBytes, Task, live_steps
from pegasus_bb.report.reserved import Reservations, Reserved, ReservedByJob
from pegasus_bb.report.run_notes import Note, files_in, job_list, read_note, size_of

_ON_TIER = ("copy", "write")  # a link takes no room


def live_on_shared(
    folder: Path,
    placement: Note,
    lists: Mapping[str, Path],
    tasks: Sequence[Task],
    reserved: Reserved | None,
) -> LiveBytes | None:
    """Return the live bytes on the shared reservation of the run in ``folder``.

    ``lists`` are the job lists of its nodes. None if the run had no such reservation,
    or if no note says what was on it.
    """
    request = read_note(folder / "bb" / "request.json")
    planned = {
        lfn: size_of(file)
        for lfn, file in files_in(placement).items()
        if file.get("tier") != "pfs" and file.get("how") in _ON_TIER
    }
    if not planned or not request:
        return None
    sizes = {**planned, **_measured(tasks)}
    born = _born(lists, tasks)
    gone = dict(_removed(lists, tasks, str(placement.get("scratch")).rstrip("/")))
    last = _last(gone, reserved, tasks)
    lives = [
        (size, born[lfn], min(gone.get(lfn, last), last))
        for lfn in planned
        if lfn in born and (size := sizes[lfn]) is not None
    ]
    return LiveBytes(
        live_steps(lives),
        size_of(request, "capacity"),
        len(planned) - len(lives),
        live_steps([reserved]) if reserved else (),
    )


def live_on_jobs(
    placement: Note, tasks: Sequence[Task], found: Reservations
) -> LiveBytes | None:
    """Return the live bytes on all job reservations together; None if no job had
    one."""
    if not found.jobs:
        return None
    sizes = _sizes(placement, tasks)
    starts = {task.node: task.start for task in tasks}
    lives: list[Life] = []
    unknown = 0
    for job in found.jobs:
        results = {lfn: size_of(file) for lfn, file in files_in(job.outcome).items()}
        for lfn, since in _files_of(job, starts.get(job.node)):
            size = results.get(lfn, sizes.get(lfn))
            if size is None:
                unknown += 1
            else:
                lives.append((size, since, job.reserved.until))
    reserved = (
        () if found.node_local else live_steps(job.reserved for job in found.jobs)
    )
    most = max((size for _, size in reserved), default=None)
    return LiveBytes(live_steps(lives), most, unknown, reserved)


def stayed_on_nodes(
    placement: Note, tasks: Sequence[Task], found: Reservations
) -> int | None:
    """Return the bytes that chains have made and used, and that never left their nodes.
    None if no job was a chain, or if a size is unknown."""
    done = (job for job in found.jobs if not job.outcome.get("status"))
    stayed = [lfn for job in done for lfn in _lfns(job, "stay")]
    if not stayed:  # most runs
        return None
    sizes = _sizes(placement, tasks)
    return total_size(sizes.get(lfn) for lfn in stayed)


def _sizes(placement: Note, tasks: Iterable[Task]) -> dict[str, int | None]:
    """By LFN, as tasks saw them, else as planning did."""
    planned = {lfn: size_of(file) for lfn, file in files_in(placement).items()}
    return planned | _measured(tasks)


def _measured(tasks: Iterable[Task]) -> dict[str, int | None]:
    files = (file for task in tasks for file in task.files)
    return {file.name: file.size for file in files if file.size is not None}


def _last(
    gone: Mapping[str, float], reserved: Reserved | None, tasks: Iterable[Task]
) -> float:
    """Return when the files went that no job removes by name: with the folder or the
    reservation; if neither has an end, with the run."""
    ends = [gone.get(""), reserved.until if reserved else None]
    known = [end for end in ends if end is not None]
    return min(known) if known else max((task.end for task in tasks), default=0.0)


def _born(lists: Mapping[str, Path], tasks: Iterable[Task]) -> dict[str, float]:
    """Return when the first job that brings or writes each LFN was started."""
    born: dict[str, float] = {}
    for task in tasks:  # in the order of their starts
        for file in task.files:
            if file.output:
                born.setdefault(file.name, task.start)
        for entry in job_list(lists, task, Kind.STAGE_IN, Kind.STAGE_INTER):
            lfn = entry.get("lfn")
            if isinstance(lfn, str):
                born.setdefault(lfn, task.start)
    return born


def _removed(
    lists: Mapping[str, Path], tasks: Iterable[Task], scratch: str
) -> Iterator[tuple[str, float]]:
    """Yield each LFN, and when the job that removes it was over; the empty LFN: all
    that is left."""
    for task in tasks:
        for entry in job_list(lists, task, Kind.CLEANUP):
            target = entry.get("target")
            url = target.get("url") if isinstance(target, dict) else None
            path = url.removeprefix("file://") if isinstance(url, str) else ""
            if path == scratch or path.startswith(f"{scratch}/"):
                below = path.removeprefix(scratch)
                # pegasus-plan writes /./LFN.
                yield below.removeprefix("/").removeprefix("./"), task.end


def _files_of(job: ReservedByJob, start: float | None) -> Iterator[tuple[str, float]]:
    """Yield the LFNs on a job's reservation, and since when each counts.

    Inputs count from the beginning, results from the task's start. What a failed task
    has made is unknown.
    """
    since = job.reserved.since
    yield from ((lfn, since) for lfn in _lfns(job, "stage_in"))
    if not job.outcome.get("status"):
        written = since if start is None else max(since, start)
        yield from ((lfn, written) for lfn in _lfns(job, "stage_out", "share", "stay"))


def _lfns(job: ReservedByJob, *keys: str) -> Iterator[str]:
    lists = (job.planned.get(key) for key in keys)
    yield from (str(lfn) for lfns in lists if isinstance(lfns, list) for lfn in lfns)
