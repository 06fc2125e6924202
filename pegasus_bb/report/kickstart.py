"""Kickstart records, Pegasus's and our own recorder's -> Tasks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from pegasus_bb.model.dag.roles import RESERVATION, Role, role_of
from pegasus_bb.model.run import FileUse, Kind, Problem, ProcessIdentity, Task
from pegasus_bb.report.records import RecordText, read_records
from pegasus_bb.report.uses import with_calls

# What a record lists beside the workflow's files: its own streams and itself.
_OWN_FILES = ("stdin", "stdout", "stderr", "metadata", "kickstart", "logfile")
_BLOCK = 512  # getrusage counts inblock and outblock in these
_LISTED = 100  # bad records of one file
_COMMAND = 4000  # characters that are kept: Darshan notes no more

_BY_TRANSFORMATION = {
    "dirmanager": Kind.CREATE_DIR,
    "cleanup": Kind.CLEANUP,
    "rc-client": Kind.REGISTER,
}
# Nodes of a planner are named by what they are for.
_BY_ROLE = {kind.value: kind for kind in Kind} | {Role.CLEAN_UP.value: Kind.CLEANUP}


class _Unusable(Exception):
    """Raised for a record that parses and yet does not say what happened."""


def read_tasks(path: Path, node: str, retry: int = 0) -> Iterator[Task | Problem]:
    """Yield a Task for each record of ``path``, a Problem for each that is unusable."""
    bad = 0
    for number, record in enumerate(read_records(path), start=1):
        place = str(path) if number == 1 else f"{path} (record {number})"
        try:
            yield _task(record, node, retry)
        except _Unusable as error:
            bad += 1
            if bad <= _LISTED:
                yield Problem(place, str(error))
    if bad > _LISTED:
        yield Problem(str(path), f"{bad - _LISTED} more records are like these")


def kind_of(transformation: str, node: str, job: str) -> Kind:
    """Return the kind of a task with that transformation in that node. ``job`` is its
    id in the workflow, which a planner's own nodes lack.

    A user's task is compute whatever it is called, also in namespace pegasus. One
    program of a planner serves several kinds: the node tells.
    """
    role = role_of(node)
    names = (role.value, role.value.replace("_", "::"))
    if role in RESERVATION and transformation in names:
        return Kind(role.value)
    namespace, separator, name = transformation.partition("::")
    if job or namespace != "pegasus" or not separator:
        return Kind.COMPUTE
    by_program = _BY_TRANSFORMATION.get(name.partition(":")[0], Kind.OTHER)
    return _BY_ROLE.get(role.value, by_program)


def _task(text: RecordText, node: str, retry: int) -> Task:
    if text.data is None:
        raise _Unusable(text.why)
    record = text.data
    main = _mapping(record, "mainjob")
    if not main:
        raise _Unusable("no mainjob: the task was never started")
    usage = _mapping(main, "usage")
    # /proc/PID/io of a parent includes the children that it has reaped, so one row is
    # the whole truth and the sum over all rows counts bytes twice or more.
    # A record of Kickstart's without -t has no rows; then our launcher's line counts.
    own = _main_row(main)
    row = own or _row_of(text.io or {})
    process = _process(record, main)
    transformation = str(record.get("transformation") or "")
    job = _text(record.get("derivation"))
    files = _mapping(record, "files")
    kind = kind_of(transformation, node, job)
    return Task(
        transformation=transformation,
        job=job,
        node=node,
        kind=kind,
        site=_text(record.get("resource")),
        start=_instant(main.get("start", record.get("start"))),
        duration=_duration(main),
        exit_code=_exit_code(_mapping(main, "status")),
        retry=retry + text.tries - 1,
        host=_host(record),
        utime=_seconds(usage, "utime"),
        stime=_seconds(usage, "stime"),
        maxrss=_kib(usage),
        rchar=_count(row, "rchar"),
        wchar=_written(row, files, kind),
        syscr=_count(row, "syscr"),
        syscw=_count(row, "syscw"),
        rbytes=_blocks(row, "rbytes", usage, "inblock"),
        wbytes=_blocks(row, "wbytes", usage, "outblock"),
        iowait=_io_wait(row, by_kickstart=bool(own) and not record.get("recorder")),
        process=process,
        files=with_calls(_files(files), text.calls, process.cwd),
    )


def _mapping(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    """Return a string. Kickstart writes the word null for a job without an id."""
    return "" if value is None or value == "null" else str(value)


def _main_row(main: Mapping[str, Any]) -> Mapping[str, Any]:
    rows: Mapping[Any, Any] = _mapping(main, "procs")  # its keys are numbers
    row = rows.get(_count(main, "pid"))
    return row if isinstance(row, dict) else {}


def _written(
    row: Mapping[str, Any], files: Mapping[str, Any], kind: Kind
) -> int | None:
    """Return the bytes written, without what Pegasus's own jobs print: a line for each
    file."""
    written = _count(row, "wchar")
    if written is None or kind is Kind.COMPUTE:
        return written
    printed = (_count(_mapping(files, name), "size") for name in ("stdout", "stderr"))
    return max(0, written - sum(size or 0 for size in printed))


def _process(record: Mapping[str, Any], main: Mapping[str, Any]) -> ProcessIdentity:
    program = _text(_mapping(main, "executable").get("file_name"))
    words = main.get("argument_vector")
    arguments = map(str, words) if isinstance(words, list) else ()
    command = " ".join((program, *arguments))[:_COMMAND]
    return ProcessIdentity(_count(main, "pid"), _text(record.get("cwd")), command)


def _row_of(io: Mapping[str, Any]) -> Mapping[str, Any]:
    """Rename what our launcher counted: a row of Kickstart's has two other names."""
    return {**io, "rbytes": io.get("read_bytes"), "wbytes": io.get("write_bytes")}


def _instant(value: object) -> float:
    try:
        # Python 3.10 wants the colon-separated offset that Kickstart writes, not a Z.
        return datetime.fromisoformat(str(value).replace("Z", "+00:00")).timestamp()
    except (ValueError, OverflowError):
        raise _Unusable(f"start {value!r} is not a time") from None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 <= value < 1 << 63 else None


def _seconds(data: Mapping[str, Any], key: str) -> float | None:
    return _number(data.get(key))


def _count(data: Mapping[str, Any], key: str) -> int | None:
    number = _number(data.get(key))
    return None if number is None else int(number)


def _duration(main: Mapping[str, Any]) -> float:
    seconds = _seconds(main, "duration")
    if seconds is None:
        found = main.get("duration")
        raise _Unusable(f"mainjob.duration is {found!r}, not seconds")
    return seconds


def _kib(usage: Mapping[str, Any]) -> int | None:
    size = _count(usage, "maxrss")
    return None if size is None else size * 1024


def _blocks(
    row: Mapping[str, Any], key: str, usage: Mapping[str, Any], block_key: str
) -> int | None:
    exact = _count(row, key)
    if exact is not None:
        return exact
    blocks = _count(usage, block_key)
    return None if blocks is None else blocks * _BLOCK


def _io_wait(row: Mapping[str, Any], *, by_kickstart: bool) -> float | None:
    """Return the seconds that the kernel counted; None if it may not have counted.

    Kickstart prints 0.000 also on a kernel that does not account delays, the default
    since Linux 5.14. Our recorder and our launcher write null there.
    """
    seconds = _seconds(row, "iowait")
    return None if by_kickstart and not seconds else seconds


def _exit_code(status: Mapping[str, Any]) -> int:
    for key, offset in (
        ("regular_exitcode", 0),
        ("signalled_signal", 128),
        ("signalled", 128),
    ):
        number = status.get(key)
        if isinstance(number, int):
            return number + offset
    raw = status.get("raw")
    if isinstance(raw, int):
        return -1 if raw < 0 else (raw >> 8) or (raw & 127 and 128 + (raw & 127))
    raise _Unusable("mainjob.status says nothing of an exit code")


def _host(record: Mapping[str, Any]) -> str:
    name = record.get("hostname") or _mapping(record, "machine").get("uname_nodename")
    return _text(name or record.get("hostaddr"))


def _files(files: Mapping[str, Any]) -> Iterator[FileUse]:
    for name, info in files.items():
        if isinstance(info, dict) and ("lfn" in info or name not in _OWN_FILES):
            yield FileUse(
                name=str(info.get("lfn") or name),
                path=str(info.get("file_name") or ""),
                size=_count(info, "size"),
                output=info.get("output") is True,
            )
