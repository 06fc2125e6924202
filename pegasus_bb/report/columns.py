"""The columns of a report: text, JSON and page read these tables, and nothing else says
what a column is.

A column is a number, or None if it is unknown: of a group of tasks, of a Darshan layer,
or of a whole run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, Flag, auto
from typing import Generic, TypeVar

from pegasus_bb.model.mean_and_error import total
from pegasus_bb.model.run import Kind, Layer, Run, Task
from pegasus_bb.report.run_clock import RunTime

# Clocks and CPU counters are rounded apart: a task that never waits may come out
# below zero by this much and no more.
SLACK_SECONDS = 0.02
SLACK_SHARE = 0.02
# Units of quotients; others are s, B, B/s, or a noun.
# A new unit has a branch in page/figure.py, format_quantity.
RATIO = "ratio"  # how many times the PFS is the buffer; no part of a whole
TO_ONE = "to one"
T = TypeVar("T")


class IOWait(Enum):
    """What a report shows as waiting; it is the same in all of a report."""

    MEASURED = "measured"
    OFF_CPU = "off-cpu"

    @property
    def sentence(self) -> str:
        if self is IOWait.MEASURED:
            return "I/O wait is the kernel's own count of time blocked on block I/O."
        return (
            "off CPU is run time - user - system: the kernel did not count the I/O "
            "delays of every task. Waiting for I/O, for a CPU and for others is in it."
        )


class Shown(Flag):
    """Where a column of tasks is, besides the JSON and the page of transformations."""

    NOWHERE = 0
    TEXT = auto()  # in the text's tables of transformations and of auxiliary jobs
    JOBS = auto()  # in the rows of single jobs; in their text if it has a head


@dataclass(frozen=True, slots=True)
class Metric(Generic[T]):
    """A column: its key in JSON, its unit, how it is computed, and where it is."""

    key: str
    unit: str
    of: Callable[[T], float | None]
    head: str = ""  # in the text; empty: it is not there
    name: str = ""  # on the page; empty: the words of the key
    shown: Shown = Shown.NOWHERE

    @property
    def title(self) -> str:
        return self.name or self.key.replace("_", " ")

    @property
    def json_unit(self) -> str:
        """The unit in JSON: s, B, B/s or 1."""
        return self.unit if self.unit in ("s", "B", "B/s") else "1"

    @property
    def has_ratio(self) -> bool:
        """Whether a ratio means anything, and reads as others do."""
        return self.unit not in ("B/s", "jobs")


Tasks = Sequence[Task]
TaskMetric = Metric[Tasks]
TransformationKey = tuple[Kind, str]


@dataclass(frozen=True, slots=True)
class ReportedRun:
    run: Run
    clock: Mapping[str, float]  # run_clock.PARTS -> seconds
    time: RunTime  # epoch -> seconds since the run began
    gate_offset: float | None  # when the gate was first asked; None: no gate

    @property
    def end(self) -> float:
        """When the last task had ended; 0 without any."""
        ends = (self.time.at(task.start) + task.duration for task in self.run.tasks)
        return max(ends, default=0.0)


def off_cpu(task: Task) -> float | None:
    """Return the seconds in which the task was not running.

    None if CPU times are unknown, or exceed the run time: if several processors were
    busy at once, the difference says nothing.
    """
    if task.utime is None or task.stime is None:
        return None
    waited = task.duration - task.utime - task.stime
    if waited < -max(SLACK_SECONDS, SLACK_SHARE * task.duration):
        return None
    return max(0.0, waited)


def on_several_processors(runs: Iterable[Run]) -> frozenset[TransformationKey]:
    """Return transformations with a task whose CPU times exceed its run time.

    A mean of their other tasks would be a mean of selected ones.
    """
    return frozenset(
        (task.kind, task.name)
        for run in runs
        for task in run.tasks
        if None not in (task.utime, task.stime) and off_cpu(task) is None
    )


def io_wait_of(runs: Iterable[Run]) -> IOWait:
    """Return MEASURED if every one of the users' tasks has the kernel's count."""
    tasks = [t for run in runs for t in run.tasks if t.kind is Kind.COMPUTE]
    measured = bool(tasks) and all(task.iowait is not None for task in tasks)
    return IOWait.MEASURED if measured else IOWait.OFF_CPU


def _mean_time(tasks: Tasks) -> float | None:
    whole = total(task.duration for task in tasks)
    return None if whole is None else whole / len(tasks)


def _moved(tasks: Tasks) -> float | None:
    read = total(t.rchar for t in tasks)
    written = total(t.wchar for t in tasks)
    return None if read is None or written is None else read + written


def _makespan(tasks: Tasks) -> float | None:
    """Return the seconds from the first one's start to the last one's end."""
    if not tasks:
        return None
    return max(task.end for task in tasks) - min(task.start for task in tasks)


def _queue(tasks: Tasks) -> float | None:
    """Add up the waits of the nodes: tasks that were clustered into one waited once."""
    return total({task.node: task.queued for task in tasks}.values())


def _ready_wait(tasks: Tasks) -> float | None:
    return total({task.node: task.ready_wait for task in tasks}.values())


def _bandwidth(tasks: Tasks) -> float | None:
    """Return what calls moved by the time in which tasks were under way: of all at
    once."""
    moved = _moved(tasks)
    seconds = _makespan(tasks)
    return moved / seconds if moved is not None and seconds else None


def _io_time(tasks: Tasks) -> float | None:
    return total(task.calls.seconds if task.calls else None for task in tasks)


def _io_rate(tasks: Tasks) -> float | None:
    """Return what moved while a task was in its calls: the rate of one, not of all at
    once."""
    seconds = _io_time(tasks)
    moved = total(t.calls.read + t.calls.written if t.calls else None for t in tasks)
    return moved / seconds if moved is not None and seconds else None


def _user_system(tasks: Tasks) -> float | None:
    user = total(t.utime for t in tasks)
    system = total(t.stime for t in tasks)
    return None if user is None or not system else user / system


def _sum(of: Callable[[Task], float | None]) -> Callable[[Tasks], float | None]:
    return lambda tasks: total(map(of, tasks))


TEXT = Shown.TEXT
JOBS = Shown.JOBS
BOTH = TEXT | JOBS
TASKS: tuple[TaskMetric, ...] = (
    Metric("jobs", "jobs", lambda tasks: float(len(tasks)), "jobs", shown=TEXT),
    Metric("run_time", "s", _sum(lambda t: t.duration), "run time\ns", shown=BOTH),
    Metric("mean_time", "s", _mean_time),
    Metric(
        "makespan",
        "s",
        _makespan,
        name="from the first one's start to the last one's end",
    ),
    Metric("queue", "s", _queue, "queue\ns", "queueing, added up", JOBS),
    Metric(
        "ready_wait", "s", _ready_wait, name="waiting for a slot, added up", shown=JOBS
    ),
    Metric("bytes_read", "B", _sum(lambda t: t.rchar), "read", shown=BOTH),
    Metric("bytes_written", "B", _sum(lambda t: t.wchar), "written", shown=BOTH),
    Metric("bandwidth", "B/s", _bandwidth, name="bandwidth of all at once"),
    Metric("bytes_moved", "B", _moved, name="bytes read and written", shown=JOBS),
    Metric(
        "block_read", "B", _sum(lambda t: t.rbytes), name="bytes from block devices"
    ),
    Metric(
        "block_written", "B", _sum(lambda t: t.wbytes), name="bytes to block devices"
    ),
    Metric("io_wait", "s", _sum(lambda t: t.iowait), "I/O wait\ns", "I/O wait", BOTH),
    Metric("io_time", "s", _io_time, "in calls\ns", "time in calls", BOTH),
    Metric(
        "io_rate",
        "B/s",
        _io_rate,
        "in calls\nper s",
        "bytes per second in calls",
        TEXT,
    ),
    Metric(
        "user_time",
        "s",
        _sum(lambda t: t.utime),
        name="CPU time in user mode",
        shown=JOBS,
    ),
    Metric(
        "system_time",
        "s",
        _sum(lambda t: t.stime),
        name="CPU time in the kernel",
        shown=JOBS,
    ),
    Metric(
        "user_system",
        TO_ONE,
        _user_system,
        "user/\nsystem",
        "user to system time",
        BOTH,
    ),
)


def metrics(
    io_wait: IOWait, refused: Collection[TransformationKey]
) -> tuple[TaskMetric, ...]:
    """Return the columns of tasks, in the order of JSON and page.

    The time off CPU of ``refused`` is unknown in every run.
    """
    if io_wait is IOWait.MEASURED:
        return TASKS

    def off_cpu_of(task: Task) -> float | None:
        return None if (task.kind, task.name) in refused else off_cpu(task)

    waiting: TaskMetric = Metric(
        "io_wait", "s", _sum(off_cpu_of), "off CPU\ns", "time off CPU", BOTH
    )
    return tuple(waiting if each.key == "io_wait" else each for each in TASKS)


def _over(part: float, whole: float) -> float | None:
    return part / whole if part and whole > 0 else None


def _average(layer: Layer) -> float:
    whole = layer.read_time + layer.write_time + layer.meta_time
    return whole / layer.processes


def _other(layer: Layer) -> float | None:
    """Return the seconds per process outside these calls.

    None if several threads were in calls at once: the difference says nothing then.
    """
    if layer.run_time is None:
        return None
    left = layer.run_time / layer.processes - _average(layer)
    slack = max(SLACK_SECONDS, SLACK_SHARE * layer.run_time / layer.processes)
    return max(0.0, left) if left >= -slack else None


LAYER_METRICS: tuple[Metric[Layer], ...] = (
    Metric("processes", "processes", lambda x: float(x.processes)),
    Metric("bytes_read", "B", lambda x: float(x.read)),
    Metric("bytes_written", "B", lambda x: float(x.written)),
    Metric(
        "read_bandwidth", "B/s", lambda x: _over(x.read, x.slowest_read), "read\nper s"
    ),
    Metric(
        "write_bandwidth",
        "B/s",
        lambda x: _over(x.written, x.slowest_write),
        "written\nper s",
    ),
    Metric("read_time", "s", lambda x: x.read_time / x.processes, "reading\ns"),
    Metric("write_time", "s", lambda x: x.write_time / x.processes, "writing\ns"),
    Metric("meta_time", "s", lambda x: x.meta_time / x.processes, "meta\ns"),
    Metric("other_time", "s", _other),
    Metric("slowest_time", "s", lambda x: x.seconds),
    Metric(
        "slowest_to_average",
        RATIO,
        lambda x: _over(x.seconds, _average(x)),
        "slowest\n/mean",
    ),
)


RunMetric = Metric[ReportedRun]


def _run_metric(
    key: str, unit: str, of: Callable[[Run], float | None], name: str = ""
) -> RunMetric:
    """``name`` is what text and page call it; without one it is in JSON alone."""
    return Metric(key, unit, lambda reported: of(reported.run), name, name)


def _kind_time(*kinds: Kind) -> Callable[[Run], float | None]:
    return lambda run: total(t.duration for t in run.tasks if t.kind in kinds)


def _rate(size: int | None, seconds: float | None) -> float | None:
    return size / seconds if size is not None and seconds else None


_stage_in = _kind_time(Kind.STAGE_IN, Kind.STAGE_INTER)
_stage_out = _kind_time(Kind.STAGE_OUT)
# Seconds of a whole run. Those of one kind add up jobs that may have run side by side.
WORKFLOW: tuple[RunMetric, ...] = (
    _run_metric("makespan", "s", lambda run: run.makespan, "makespan"),
    _run_metric("span", "s", lambda run: run.span),
    _run_metric("compute", "s", _kind_time(Kind.COMPUTE), "compute jobs, added up"),
    _run_metric("stage_in", "s", _stage_in, "staging in, added up"),
    _run_metric("stage_out", "s", _stage_out, "staging out, added up"),
    _run_metric("reserve", "s", _kind_time(Kind.BB_SETUP), "reserving (bb_setup)"),
    _run_metric("gate_wait", "s", lambda run: run.gate_wait, "waiting at the gate"),
    _run_metric("release", "s", _kind_time(Kind.BB_DELETE), "giving back (bb_delete)"),
)
STAGING: tuple[RunMetric, ...] = (
    _run_metric("in_bytes", "B", lambda run: run.brought, "staged in"),
    _run_metric(
        "in_rate",
        "B/s",
        lambda run: _rate(run.brought, _stage_in(run)),
        "staged in, per s",
    ),
    _run_metric("cached", "inputs", lambda run: run.cached, "inputs found in caches"),
    _run_metric("cached_bytes", "B", lambda run: run.cached_bytes, "found in caches"),
    _run_metric("stayed", "B", lambda run: run.stayed, "never left their nodes"),
    _run_metric("out_bytes", "B", lambda run: run.saved, "staged out"),
    _run_metric(
        "out_rate",
        "B/s",
        # What jobs stage out themselves is in their own time.
        lambda run: None if run.job_reservations else _rate(run.saved, _stage_out(run)),
        "staged out, per s",
    ),
    Metric(
        "results_safe",
        "s",
        lambda reported: reported.run.safe,
        "until the last result is safe, s",
        "until the last result is safe",
    ),
    _run_metric("footprint", "B", lambda run: run.footprint, "all files"),
    _run_metric("cost", "units", lambda run: run.cost, "cost of disks of nodes"),
)


def _clock_metric(part: str, head: str, name: str = "") -> RunMetric:
    return Metric(part, "s", lambda found: found.clock.get(part), head, name or head)


# Each second of a run counts once, for the first part that is under way.
CLOCK: tuple[RunMetric, ...] = (
    _clock_metric("compute", "jobs of the workflow"),
    _clock_metric("stage_in", "else staging in"),
    _clock_metric("stage_out", "else staging out"),
    _clock_metric("auxiliary", "else other jobs of Pegasus"),
    _clock_metric("reserve", "else reserving"),
    _clock_metric("release", "else giving back"),
    _clock_metric("gate_wait", "else waiting at the gate"),
    _clock_metric("queue", "else queueing"),
    _clock_metric("ready_wait", "else waiting for a slot"),
    _clock_metric("other", "else engine", "none of these: engine"),
)
