"""What is taken from the tasks of one group in one run: a number, or None."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from pegasus_bb.model.run import Kind, Run, Task
from pegasus_bb.model.stat import total

# Clocks and CPU counters are rounded apart: a task that never waits may come out
# below zero by this much and no more.
SLACK_SECONDS = 0.02
SLACK_SHARE = 0.02
T = TypeVar("T")


class IOWait(Enum):
    """What a report gives for waiting; one meaning for all of a report."""

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


@dataclass(frozen=True, slots=True)
class Metric(Generic[T]):
    """A number taken from a group: of tasks, or of Darshan's counters."""

    key: str  # in JSON
    unit: str  # s | B | B/s | 1
    of: Callable[[T], float | None]


TaskMetric = Metric[Sequence[Task]]
Transformation = tuple[Kind, str]


def off_cpu(task: Task) -> float | None:
    """Seconds in which the task was not running.

    None where CPU times are unknown, or exceed the run time: with several processors
    busy at once the difference says nothing.
    """
    if task.utime is None or task.stime is None:
        return None
    waited = task.duration - task.utime - task.stime
    if waited < -max(SLACK_SECONDS, SLACK_SHARE * task.duration):
        return None
    return max(0.0, waited)


def on_several_processors(runs: Iterable[Run]) -> frozenset[Transformation]:
    """Transformations of which a task has CPU times, and no time off CPU by them.

    A mean of the other tasks would be one of those that were picked.
    """
    return frozenset(
        (task.kind, task.name)
        for run in runs
        for task in run.tasks
        if None not in (task.utime, task.stime) and off_cpu(task) is None
    )


def io_wait_of(runs: Iterable[Run]) -> IOWait:
    """MEASURED where every one of the users' tasks has the kernel's count."""
    tasks = [t for run in runs for t in run.tasks if t.kind.value == "compute"]
    measured = bool(tasks) and all(task.iowait is not None for task in tasks)
    return IOWait.MEASURED if measured else IOWait.OFF_CPU


def metrics(
    io_wait: IOWait, refused: Collection[Transformation] = ()
) -> tuple[TaskMetric, ...]:
    """Every quantity of a report, in the order in which it is shown.

    The time off CPU of ``refused`` is unknown in every run.
    """

    def waited(task: Task) -> float | None:
        if io_wait is IOWait.MEASURED:
            return task.iowait
        known = (task.kind, task.name) not in refused
        return off_cpu(task) if known else None

    return (
        Metric("jobs", "1", lambda tasks: float(len(tasks))),
        Metric("run_time", "s", lambda tasks: total(t.duration for t in tasks)),
        Metric("mean_time", "s", _mean_time),
        Metric("makespan", "s", _makespan),
        Metric("queue", "s", _queue),
        Metric("ready_wait", "s", _ready_wait),
        Metric("bytes_read", "B", lambda tasks: total(t.rchar for t in tasks)),
        Metric("bytes_written", "B", lambda tasks: total(t.wchar for t in tasks)),
        Metric("bandwidth", "B/s", _bandwidth),
        Metric("bytes_moved", "B", _moved),
        Metric("block_read", "B", lambda tasks: total(t.rbytes for t in tasks)),
        Metric("block_written", "B", lambda tasks: total(t.wbytes for t in tasks)),
        Metric("io_wait", "s", lambda tasks: total(map(waited, tasks))),
        Metric("io_time", "s", _io_time),
        Metric("io_rate", "B/s", _io_rate),
        Metric("user_time", "s", lambda tasks: total(t.utime for t in tasks)),
        Metric("system_time", "s", lambda tasks: total(t.stime for t in tasks)),
        Metric("user_system", "1", _user_system),
    )


def _mean_time(tasks: Sequence[Task]) -> float | None:
    whole = total(task.duration for task in tasks)
    return None if whole is None else whole / len(tasks)


def _moved(tasks: Sequence[Task]) -> float | None:
    read = total(t.rchar for t in tasks)
    written = total(t.wchar for t in tasks)
    return None if read is None or written is None else read + written


def _makespan(tasks: Sequence[Task]) -> float | None:
    """From the first one's start to the last one's end."""
    if not tasks:
        return None
    return max(task.end for task in tasks) - min(task.start for task in tasks)


def _queue(tasks: Sequence[Task]) -> float | None:
    """Of their nodes: tasks that were clustered into one waited once."""
    return total({task.node: task.queued for task in tasks}.values())


def _ready_wait(tasks: Sequence[Task]) -> float | None:
    return total({task.node: task.ready_wait for task in tasks}.values())


def _bandwidth(tasks: Sequence[Task]) -> float | None:
    """Of all of them at once: what calls moved, by the time they were under way."""
    moved = total(value for task in tasks for value in (task.rchar, task.wchar))
    seconds = _makespan(tasks)
    return moved / seconds if moved is not None and seconds else None


def _io_time(tasks: Sequence[Task]) -> float | None:
    return total(task.calls.seconds if task.calls else None for task in tasks)


def _io_rate(tasks: Sequence[Task]) -> float | None:
    """What moved while a task was in its calls: the rate of one, not of all at once."""
    seconds = _io_time(tasks)
    moved = total(t.calls.read + t.calls.written if t.calls else None for t in tasks)
    return moved / seconds if moved is not None and seconds else None


def _user_system(tasks: Sequence[Task]) -> float | None:
    user = total(t.utime for t in tasks)
    system = total(t.stime for t in tasks)
    return None if user is None or not system else user / system
