"""Which Darshan log is of which task; a run then knows each byte once.

A task of several processes, or whose ranks ran one after the other, has several logs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path

from pegasus_bb.model.run import Calls, Problem, ProcessIdentity, Task
from pegasus_bb.report.darshan_counters import Log
from pegasus_bb.report.kickstart import kind_of
from pegasus_bb.report.layers import added, merge_layers
from pegasus_bb.report.uses import with_calls

_BLIND = (
    "Darshan saw less than half of what the kernel counted, so the time in calls is "
    "unknown: it does not see what a forked process does to files its parent opened"
)
# Bytes that a log has not without being blind: an interpreter's own libraries, streams.
_OWN_READ = 16 << 20
_OWN_WRITTEN = 1 << 20
_SLACK = 1.0  # seconds: older logs have whole ones only
_INTERPRETERS = ("python", "perl", "bash", "sh", "dash", "ksh", "Rscript", "env")
# What stands around a task: its own reading and writing is not the task's.
_AROUND = ("pegasus-kickstart", "bb/bin/launch", "bb/bin/record", "bb/bin/count")


def join(tasks: Sequence[Task], logs: Iterable[Log]) -> Iterator[Task | Problem]:
    """Yield ``tasks`` with what the logs counted, and a Problem for each log that fits
    none.

    Without any task, whose record is Kickstart's, each log becomes a task.
    """
    logs = [log for log in logs if not _is_around(log)]
    if not tasks:
        yield from map(_task_of, logs)
        return
    found: dict[int, list[Log]] = {}
    pids = _by_pid(tasks)
    for log in logs:
        owners = _owners(log, tasks, pids)
        if len(owners) == 1:
            found.setdefault(owners[0], []).append(log)
        else:
            yield Problem(log.file, _unclear(owners))
    for number, task in enumerate(tasks):
        own = found.get(number, [])
        task = _with_logs(task, own) if own else task
        if own and _is_blind(task):
            yield Problem(own[0].file, _BLIND)
            task = task._replace(calls=None, layers=())
        yield task


def _by_pid(tasks: Sequence[Task]) -> dict[int, list[int]]:
    numbers: dict[int, list[int]] = {}
    for number, task in enumerate(tasks):
        pid = _process(task).pid
        if pid is not None:
            numbers.setdefault(pid, []).append(number)
    return numbers


def _is_around(log: Log) -> bool:
    words = log.command.split(" ")[:4]  # behind python3 -I -S
    return any(word.endswith(_AROUND) for word in words)


def _unclear(owners: Sequence[int]) -> str:
    if owners:
        return f"{len(owners)} tasks of the same command ran then: it may be any one's"
    return "of no task whose record counts: of an earlier attempt, or of another run"


def _owners(
    log: Log, tasks: Sequence[Task], pids: Mapping[int, Sequence[int]]
) -> list[int]:
    """Find the tasks, by number, that may have started the log's program: it ran in
    their time."""
    if log.node:  # it is of that node's, which may be several tasks
        tasks_of = [n for n, task in enumerate(tasks) if task.node == log.node]
        within = [number for number in tasks_of if _within(log, tasks[number])]
        if len(within) == 1:
            return within
    own: list[int] = []
    for pid in log.pids:
        own = own or [n for n in pids.get(pid, ()) if _within(log, tasks[n])]
    if len(own) == 1:
        return own
    # Of a child of the task's own process, or of one of two hosts.
    return [
        number
        for number in own or range(len(tasks))
        if _within(log, tasks[number])
        and _same_command(log, _process(tasks[number]).command)
    ]


def _within(log: Log, task: Task) -> bool:
    return task.start - _SLACK <= log.start and log.end <= task.end + 2 * _SLACK


def _process(task: Task) -> ProcessIdentity:
    return task.process or ProcessIdentity(None, "", "")


def _same_command(log: Log, command: str) -> bool:
    """Compare commands. The log has the interpreter before a script, the record the
    launcher of ranks."""
    theirs = " ".join(_words(log.command))
    command = " ".join(command.split())
    arguments = command.partition(" ")[2]
    return bool(theirs) and (
        command.endswith(theirs)
        or bool(command and theirs.endswith(command))
        or bool(arguments and theirs.endswith(f" {arguments}"))
    )


def _words(command: str) -> list[str]:
    """Return ``command`` from the program on that an interpreter was started for."""
    words = command.split(" ")
    if Path(words[0]).name.startswith(_INTERPRETERS):
        scripts = [n for n, word in enumerate(words) if n and not word.startswith("-")]
        return words[scripts[0] :] if scripts else words
    return words


def _task_of(log: Log) -> Task:
    """Make a task of a log. Its transformation comes from the program's name; no log
    says how it ended."""
    program = Path(_words(log.command)[0])
    scripted = program.suffix in (".py", ".sh", ".pl", ".R")
    name = program.stem if scripted else program.name
    node = Path(log.file).stem
    task = Task(
        transformation=name,
        job="",
        node=node,
        kind=kind_of(name, node, ""),
        site="",
        start=log.start,
        duration=log.seconds,
        exit_code=None,
        process=ProcessIdentity(log.pids[0] if log.pids else None, "", log.command),
    )
    return _with_logs(task, [log])


def _with_logs(task: Task, logs: Sequence[Log]) -> Task:
    """Add what the logs counted. The kernel's counts stay: they have every call, and
    children's."""
    calls = _added(logs)
    uses = (use for log in logs for use in log.files)
    return task._replace(
        rchar=calls.read if calls and task.rchar is None else task.rchar,
        wchar=calls.written if calls and task.wchar is None else task.wchar,
        calls=calls,
        layers=merge_layers(layer for log in logs for layer in log.modules.values())
        if calls
        else (),
        files=with_calls(task.files, uses, _process(task).cwd),
    )


def _added(logs: Iterable[Log]) -> Calls | None:
    """Add up the calls of all processes of a task; None if one's are unknown. A process
    that did nothing, such as a shell's fork, takes nothing from the others."""
    known: list[Calls] = []
    for log in logs:
        if log.calls is not None:
            known.append(log.calls)
        elif not log.is_empty:
            return None
    return reduce(added, known) if known else None


def _is_blind(task: Task) -> bool:
    """Whether the logs miss most of what the kernel counted for the same processes."""
    if task.calls is None or task.rchar is None or task.wchar is None:
        return False
    read = task.rchar - _OWN_READ
    written = task.wchar - _OWN_WRITTEN
    return 2 * task.calls.read < read or 2 * task.calls.written < written
