"""A run, measured or simulated: the input of comparison and reports.

Units are seconds and bytes throughout. ``None`` always means "not known": a number that
was not measured is never stored as zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from itertools import accumulate
from typing import NamedTuple

from pegasus_bb.model.modes import OFF, RunMode, recorded_mode


class Kind(Enum):
    """The purpose of a job; only COMPUTE jobs are the user's own work."""

    COMPUTE = "compute"
    CREATE_DIR = "create_dir"
    STAGE_IN = "stage_in"
    STAGE_OUT = "stage_out"
    STAGE_INTER = "stage_inter"
    REGISTER = "register"
    CLEANUP = "cleanup"
    BB_SETUP = "bb_setup"
    BB_DELETE = "bb_delete"
    OTHER = "other"  # another auxiliary job of Pegasus


@dataclass(frozen=True, slots=True)
class Layer:
    """The I/O of one Darshan module: POSIX, MPI-IO or STDIO.

    The same bytes may be in two layers, because MPI-IO calls POSIX.
    """

    name: str
    read: int  # bytes
    written: int
    processes: int
    read_time: float  # seconds in such calls, of all processes added up
    write_time: float
    meta_time: float  # open, close, seek, stat
    seconds: float  # in all such calls, of the slowest process
    slowest_read: float  # in reads alone, of the process that read longest
    slowest_write: float
    # Run time of those processes, added up; None for single files.
    run_time: float | None = None


class FileUse(NamedTuple):
    name: str  # the LFN, or the path where the record has no LFN
    path: str  # where the task found it, which shows its tier
    size: int | None = None  # bytes when the task ended
    output: bool = False  # whether the record lists it as an output
    bytes_read: int | None = None  # by this task, where calls were counted per file
    bytes_written: int | None = None
    layers: tuple[Layer, ...] = ()  # of a Darshan log


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """How a task was started: identifies its log of another recorder."""

    pid: int | None  # on its host
    cwd: str  # absolute; empty where unknown
    command: str  # program and arguments, a blank between them


@dataclass(frozen=True, slots=True)
class Calls:
    """The I/O calls of a task, as Darshan counts them."""

    read: int  # bytes
    written: int
    seconds: float  # in those calls, of the slowest process
    data: int | None = None  # reads and writes
    metadata: int | None = None  # calls that open, close, stat, sync or rename a file
    meta_time: float | None = None  # seconds in those, and in seeks; all processes


class Task(NamedTuple):
    """One invocation of a program: the task itself, not the recorder around it."""

    transformation: str  # namespace::name:version as the record has it
    job: str  # id in the abstract workflow (ID0000001); empty for auxiliary jobs
    node: str  # node of the executable workflow, which is one or more tasks
    kind: Kind
    site: str
    start: float  # seconds since the epoch
    duration: float  # wall-clock seconds from start to exit
    # 0 done; 128 + n ended by signal n; -1 could not be started; None: unknown
    exit_code: int | None
    retry: int = 0  # earlier attempts at this node
    queued: float | None = None  # seconds from the submission of its node to its start
    ready_wait: float | None = None  # seconds from ready to the submission
    host: str = ""
    utime: float | None = None  # CPU seconds in user mode, reaped children included
    stime: float | None = None  # CPU seconds in the kernel, reaped children included
    maxrss: int | None = None  # peak resident memory of the largest process, bytes
    rchar: int | None = None  # bytes that read calls returned, page cache included
    wchar: int | None = None  # bytes given to write calls, page cache included
    syscr: int | None = None  # system calls that read, whatever they read from
    syscw: int | None = None  # system calls that write
    rbytes: int | None = None  # bytes fetched from block devices
    wbytes: int | None = None  # bytes sent to block devices
    iowait: float | None = None  # seconds waiting for block I/O, counted by the kernel
    process: ProcessIdentity | None = None
    calls: Calls | None = None
    layers: tuple[Layer, ...] = ()  # of all its files; empty where calls is None
    files: tuple[FileUse, ...] = ()

    @property
    def end(self) -> float:
        return self.start + self.duration

    @property
    def name(self) -> str:
        """What a table calls it: a record may name no transformation."""
        return self.transformation or self.node


class NodeTimes(NamedTuple):
    """The times of a node's last attempt, in seconds since the epoch.

    A deferred gate starts many times: ``pre_started`` is its first start.
    """

    node: str
    pre_started: float | None = None
    pre_ended: float | None = None  # when the PRE script let the job go
    submitted: float | None = None
    executing: float | None = None
    terminated: float | None = None
    ended: float | None = None  # after the POST script, if any
    attempts: int = 0  # submissions of the job
    ready: float | None = None  # when its parents, or the attempt before, had ended

    @property
    def pre_wait(self) -> float | None:
        """Seconds that a PRE script, the gate, held the job back."""
        return _between(self.pre_started, self.pre_ended)

    @property
    def ready_wait(self) -> float | None:
        """Seconds from ready to the submission, without its PRE script: the engine made
        it wait, because of a limit or between two polls."""
        parts = [_between(since, until) for since, until in self.unsubmitted]
        return sum(part or 0.0 for part in parts) if parts else None

    @property
    def unsubmitted(self) -> tuple[tuple[float, float], ...]:
        if self.ready is None or self.submitted is None:
            return ()
        if self.pre_started is None or self.pre_ended is None:
            return ((self.ready, self.submitted),)
        after = max(self.pre_ended, self.ready)
        return ((self.ready, self.pre_started), (after, self.submitted))

    @property
    def queue(self) -> float | None:
        return _between(self.submitted, self.executing)

    @property
    def post_wait(self) -> float | None:
        """Seconds from the end of the job to that of the node: its POST script,
        including the wait for the stage-out of a job reservation."""
        return _between(self.terminated, self.ended)


def _between(since: float | None, until: float | None) -> float | None:
    return None if since is None or until is None else max(0.0, until - since)


@dataclass(frozen=True, slots=True)
class LiveBytes:
    """The bytes on reservations over time: on the shared one, or on job reservations.

    A file counts from the start of the job that copies or writes it to the end of the
    one that removes it, so this is an upper bound.
    """

    steps: tuple[tuple[float, int], ...]  # time (epoch), bytes from then on
    # Of the request; for job reservations their peak. None: nothing was reserved.
    capacity: int | None
    unknown: int  # files left out: their size or writer is unknown
    reserved: tuple[tuple[float, int], ...] = ()  # as steps; empty if unknown


Life = tuple[int, float, float | None]  # bytes, since, until; None: still there


def live_steps(lives: Iterable[Life]) -> tuple[tuple[float, int], ...]:
    """Add up ``lives``: times, and the bytes from then on."""
    changes: dict[float, int] = {}
    for size, since, until in lives:
        changes[since] = changes.get(since, 0) + size
        if until is not None:
            until = max(since, until)
            changes[until] = changes.get(until, 0) - size
    times = sorted(changes)
    return tuple(zip(times, accumulate(changes[t] for t in times), strict=True))


@dataclass(frozen=True, slots=True)
class Drained:
    """Results that left the tier at a limited rate. Seconds since the epoch."""

    since: float
    until: float
    size: int  # bytes
    peak: float  # bytes per second, of the busiest second
    steps: tuple[tuple[float, float], ...]  # time, bytes per second from then on

    @property
    def mean(self) -> float:
        """Bytes per second, over whole seconds, so it is at most the peak."""
        return self.size / max(1, math.ceil(self.until - self.since))


@dataclass(frozen=True, slots=True)
class Problem:
    """A record that could not be read: it is listed, and never counted as zero."""

    file: str  # path, with the number of the record where a file has several
    why: str


@dataclass(frozen=True, slots=True)
class JobOnPfs:
    """A job that worked on the PFS because its tier had no room for it."""

    node: str
    because: str
    host: str = ""  # where it ran; empty where unknown
    time: float | None = None  # since the epoch: when it started to


@dataclass(frozen=True, slots=True)
class MachineLoad:
    """How busy a machine was."""

    average: float  # processes that wanted a processor or a disk, over one minute
    cores: int


@dataclass(frozen=True, slots=True)
class Run:
    """Everything known about one execution of a workflow."""

    label: str  # of the workflow; empty where unknown
    mode: str = ""  # off | persistent | ..., from plan.json; empty where unknown
    tier: str = ""  # name of the tier that held the scratch; empty where unknown
    backend: str = ""  # what served the tier: directory | datawarp | ...
    fallback: str = ""  # why it ran on the PFS instead of the tier; empty: it did not
    job_reservations: int = 0  # jobs with a planned job reservation
    chains: tuple[int, ...] = ()  # the jobs of each chain, the most first
    jobs_on_pfs: tuple[JobOnPfs, ...] = ()  # those of them that found no room
    simulated: bool = False
    submit_dir: str = ""
    uuid: str = ""
    tasks: tuple[Task, ...] = ()  # of each node's last attempt, by start time
    nodes: tuple[NodeTimes, ...] = ()  # empty without a job state log
    makespan: float | None = None  # seconds of the whole run, queueing included
    makespan_from: str = ""  # its source: "jobstate.log" | "records"
    # Seconds from the first task's start to the last's end. Neither includes the pause
    # before a run was resumed.
    span: float | None = None
    predicted: float | None = None  # makespan in seconds, predicted at planning
    predicted_range: tuple[float, float] | None = None  # around it; None: unknown
    reserved: float | None = None  # bytes x hours, of all reservations of the run
    # Of the disks of nodes, in the unit of the tier's `price`; None without one.
    cost: float | None = None
    # (from, to): when an engine worked on it. Empty without a job state log.
    stretches: tuple[tuple[float, float], ...] = ()
    brought: int | None = None  # bytes that staging in copied
    planned_sizes: Mapping[str, int] = field(default_factory=dict)  # bytes by LFN
    # Bytes by LFN, of what came from other hosts.
    fetched: Mapping[str, int] = field(default_factory=dict)
    # By node: the most bytes of temporary files on the tier, as they were seen.
    temporary: Mapping[str, int] = field(default_factory=dict)
    # Inputs that jobs found in the caches of their nodes; None: they had no cache.
    cached: int | None = None
    cached_bytes: int | None = None
    stayed: int | None = None  # bytes within chains, which never left their nodes
    saved: int | None = None  # bytes of results at their destination
    safe: float | None = None  # seconds from the start until all results were there
    footprint: int | None = None  # bytes of all files of known size
    gate_wait: float | None = None  # seconds that the gate held the run back
    live: LiveBytes | None = None  # on the shared reservation
    live_job_reservations: LiveBytes | None = None  # on all job reservations
    drained: Drained | None = None  # None: nothing was paced
    load: MachineLoad | None = None  # of the machine of the local engine, when it began
    retries: int = 0  # attempts beyond each node's first
    missing: tuple[str, ...] = ()  # planned nodes that left no record
    # Host -> seconds by which its clock was off that of the engine, at the most.
    clocks: Mapping[str, float] = field(default_factory=dict)
    problems: tuple[Problem, ...] = field(default_factory=tuple)

    @property
    def planned_mode(self) -> RunMode | None:
        """None where unknown."""
        return recorded_mode(self.mode)

    @property
    def was_off(self) -> bool:
        return self.planned_mode is OFF

    @property
    def had_tier(self) -> bool:
        """Whether it surely worked on a tier."""
        return bool(self.mode) and not (self.was_off or self.fallback)
