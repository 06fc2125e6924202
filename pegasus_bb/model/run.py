"""A run: what happened, measured or simulated; comparing and rendering start here.

Units are seconds and bytes throughout. ``None`` always means "not known": a number that
was not measured is never stored as zero.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

# What a report calls the parts of a run.
PARTS = {
    "makespan": "makespan",
    "compute": "compute jobs, added up",
    "stage_in": "staging in, added up",
    "stage_out": "staging out, added up",
    "reserve": "reserving (bb_setup)",
    "gate_wait": "waiting for the reservation (gate)",
    "release": "giving back (bb_delete)",
}


class Kind(Enum):
    """What a job is there for; only COMPUTE jobs are the user's own work."""

    COMPUTE = "compute"
    CREATE_DIR = "create_dir"
    STAGE_IN = "stage_in"
    STAGE_OUT = "stage_out"
    STAGE_INTER = "stage_inter"
    REGISTER = "register"
    CLEANUP = "cleanup"
    BB_SETUP = "bb_setup"
    BB_DELETE = "bb_delete"
    OTHER = "other"  # Pegasus's own, of a sort that we do not tell apart


@dataclass(frozen=True, slots=True)
class Layer:
    """What calls of one kind did, as Darshan counted them: POSIX, MPI-IO or STDIO.

    The same bytes may be in two layers: MPI-IO calls POSIX.
    """

    name: str
    read: int  # bytes
    written: int
    processes: int
    read_time: float  # seconds in such calls, of all processes added up
    write_time: float
    meta_time: float  # opening, closing, seeking, asking for a size
    seconds: float  # in any of them, of the process that took longest
    slowest_read: float  # in reading alone, of the process that read longest
    slowest_write: float
    # Run time of those processes, added up; None for single files.
    run_time: float | None = None


@dataclass(frozen=True, slots=True)
class FileUse:
    name: str  # the LFN, or the path where the record has no LFN
    path: str  # where the task found it: its tier can be told from this
    size: int | None = None  # bytes when the task ended
    output: bool = False  # whether the task is said to have written it
    bytes_read: int | None = None  # by this task, where calls were counted per file
    bytes_written: int | None = None
    layers: tuple[Layer, ...] = ()  # of a Darshan log


@dataclass(frozen=True, slots=True)
class Process:
    """How a task was started: what tells which log of another recorder is of it."""

    pid: int | None  # on its host
    cwd: str  # absolute; empty where unknown
    command: str  # program and arguments, a blank between them


@dataclass(frozen=True, slots=True)
class Calls:
    """What a task's I/O calls did, counted one by one: Darshan does so."""

    read: int  # bytes
    written: int
    seconds: float  # in those calls, of the process that took longest
    data: int | None = None  # calls that read or wrote
    metadata: int | None = (
        None  # calls that open, close, ask for, sync or rename a file
    )
    meta_time: float | None = None  # seconds in those, and seeking; all processes


@dataclass(frozen=True, slots=True)
class Task:
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
    retry: int = 0  # how many attempts at this node came before this one
    queued: float | None = None  # seconds that its node waited, submitted, until it ran
    ready_wait: float | None = None  # and before that, ready to be submitted
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
    iowait: float | None = None  # seconds waiting for block I/O, as the kernel counted
    process: Process | None = None
    calls: Calls | None = None
    layers: tuple[Layer, ...] = ()  # of all its files; empty where calls is None
    files: tuple[FileUse, ...] = ()

    @property
    def end(self) -> float:
        return self.start + self.duration


@dataclass(frozen=True, slots=True)
class NodeTimes:
    """When a node changed state, in seconds since the epoch; of its last attempt.

    A deferred gate starts often: ``pre_started`` is the first of those starts.
    """

    node: str
    pre_started: float | None = None
    pre_ended: float | None = None  # when the PRE script let the job go
    submitted: float | None = None
    executing: float | None = None
    terminated: float | None = None
    ended: float | None = None  # after the POST script, if any
    attempts: int = 0  # how often the job was submitted
    ready: float | None = None  # when its parents, or its attempt before, had ended

    @property
    def pre_wait(self) -> float | None:
        """Seconds that a PRE script, the gate, held the job back."""
        return _between(self.pre_started, self.pre_ended)

    @property
    def ready_wait(self) -> float | None:
        """Seconds that it was ready and its job not submitted, without those of its PRE
        script: the engine let it wait, by a limit or between two polls."""
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
        """Seconds from the job's end to the node's: its POST script, and with it the
        wait for what a reservation of its own stages out."""
        return _between(self.terminated, self.ended)


def _between(since: float | None, until: float | None) -> float | None:
    return None if since is None or until is None else max(0.0, until - since)


@dataclass(frozen=True, slots=True)
class LiveBytes:
    """What was on reservations over time: on the shared one, or on single jobs'.

    A file counts from the start of the job that brings or writes it to the end of the
    one that removes it, so there never was more.
    """

    steps: tuple[tuple[float, int], ...]  # from when (epoch), how many bytes
    # What was asked for; of single jobs' the most at once. None: nothing was reserved.
    capacity: int | None
    unknown: int  # files that are not in it: their size or writer is unknown
    reserved: tuple[tuple[float, int], ...] = ()  # as steps; empty if unknown


@dataclass(frozen=True, slots=True)
class Drained:
    """Results that left the tier at a pace. Seconds since the epoch."""

    since: float
    until: float
    size: int  # bytes
    peak: float  # bytes per second, of the busiest second
    steps: tuple[tuple[float, float], ...]  # from when, how many bytes per second

    @property
    def mean(self) -> float:
        """Bytes per second, over a second at least, as the peak is."""
        return self.size / max(1.0, self.until - self.since)


@dataclass(frozen=True, slots=True)
class Problem:
    """A record that could not be read: it is listed, and never becomes a zero."""

    file: str  # path, with the number of the record where a file has several
    why: str


@dataclass(frozen=True, slots=True)
class JobOnPfs:
    """A job that worked on the PFS because its tier had no room for it."""

    node: str
    because: str
    host: str = ""  # where it ran; empty where unknown
    time: float | None = None  # since the epoch: when it went there


@dataclass(frozen=True, slots=True)
class Run:
    """Everything known about one execution of a workflow."""

    label: str  # of the workflow; empty where unknown
    mode: str = ""  # off | persistent | ...: plan.json's word; empty where unknown
    tier: str = ""  # name of the tier that held the scratch; empty where unknown
    backend: str = ""  # what served the tier: directory | datawarp | ...
    fallback: str = ""  # why it ran on the PFS in place of the tier; empty: it did not
    job_reservations: int = 0  # jobs that were to have a reservation of their own
    jobs_on_pfs: tuple[JobOnPfs, ...] = ()  # of those, the ones that found no room
    simulated: bool = False  # it never happened
    submit_dir: str = ""
    uuid: str = ""
    tasks: tuple[Task, ...] = ()  # of each node's last attempt, by start time
    nodes: tuple[NodeTimes, ...] = ()  # empty without a job state log
    makespan: float | None = None  # seconds of the whole run, queueing included
    makespan_from: str = ""  # "jobstate.log" | "records": what it was taken from
    # Seconds from the first task's start to the last's end; neither counts the time in
    # which a run that was resumed lay still.
    span: float | None = None
    predicted: float | None = None  # seconds of makespan, as planning foresaw it
    predicted_range: tuple[float, float] | None = None  # around it; None: unknown
    reserved: float | None = None  # bytes x hours, of all reservations of the run
    # From, to: when an engine worked on it. Empty without a job state log.
    stretches: tuple[tuple[float, float], ...] = ()
    brought: int | None = None  # bytes that staging in copied
    saved: int | None = None  # bytes of results that came to their destination
    safe: float | None = None  # seconds from the start until the last of them had
    footprint: int | None = None  # bytes of all files of which a size is known
    gate_wait: float | None = None  # seconds that the gate held the run back
    live: LiveBytes | None = None  # on the reservation that all jobs shared
    live_job_reservations: LiveBytes | None = None  # on all single jobs' together
    drained: Drained | None = None  # None: nothing was paced
    retries: int = 0  # attempts beyond each node's first
    missing: tuple[str, ...] = ()  # planned nodes that left no record
    problems: tuple[Problem, ...] = field(default_factory=tuple)
