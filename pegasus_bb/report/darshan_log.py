"""One Darshan log -> plain data, through PyDarshan.

``darshan_counters.py`` starts this module in a process of its own: PyDarshan takes a
second and 150 MiB to import, and its C library may not survive a damaged log.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from darshan.backend import cffi_backend as backend

from pegasus_bb.report.layers import Spent, Times, times

_DATA = ("READS", "WRITES")
# Seeking is not among them: it never leaves the machine of the task. A file that is
# opened is closed, which Darshan counts nowhere.
_OPENS = ("OPENS", "FDOPENS")
_OTHERS = ("STATS", "FSYNCS", "FDSYNCS", "RENAME_SOURCES")


def _calls_of(counters: Mapping[str, int], prefix: str, names: Iterable[str]) -> int:
    """Count the calls of one record, whose counters begin with ``prefix``. MPI-IO has
    other names for them: POSIX has them all."""
    return sum(max(0, counters.get(f"{prefix}_{name}", 0)) for name in names)


SECONDS = 120  # for one log; 100,000 records take some ten
MEMORY = 8 << 30  # bytes of address space
# How a module's counters begin.
_PREFIX = {"POSIX": "POSIX", "MPI-IO": "MPIIO", "STDIO": "STDIO"}
_KINDS = ("READ", "WRITE", "META", "SLOWEST_RANK")  # of seconds; as Spent has them
_UNREAD = ("DFS", "DAOS")  # bytes that none of those three has


class _Moved(NamedTuple):
    read: int
    written: int
    size: int | None  # as far as it was written; None where it was not


class _Module(NamedTuple):
    files: Mapping[int, _Moved]  # by Darshan's number of the file
    spent: Mapping[int, list[Spent]]  # the same: in its calls
    times: Times
    data: int  # calls that read or write
    metadata: int  # calls that open, close, ask for, sync or rename a file

    @property
    def read(self) -> int:
        return sum(file.read for file in self.files.values())

    @property
    def written(self) -> int:
        return sum(file.written for file in self.files.values())


def main(paths: list[str]) -> None:
    """Print a line of JSON for each of ``paths``; nothing else comes to stdout."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for path in paths:
        signal.alarm(SECONDS)  # its default ends this process, and says of which log
        print(json.dumps(_answer(path)), file=out, flush=True)


def _answer(path: str) -> dict[str, Any]:
    try:
        return read(path)
    except Exception as error:  # PyDarshan promises nothing about bad logs
        return {"why": str(error) or type(error).__name__}


def read(path: str) -> dict[str, Any]:
    """Return what the log at ``path`` says. Raises anything if it is not whole."""
    with _complaints():
        log = backend.log_open(path)
        if not log["handle"]:
            raise ValueError(
                "not a Darshan log, or of a version that is too old or new"
            )
        try:
            return _document(log)
        finally:
            backend.log_close(log)


@contextmanager
def _complaints() -> Iterator[None]:
    """Raise ValueError for what Darshan's C library says on stderr.

    PyDarshan drops its error codes: a torn log would look like one with fewer records.
    """
    sys.stderr.flush()
    before = os.dup(2)
    with tempfile.TemporaryFile() as printed:
        os.dup2(printed.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(before, 2)
            os.close(before)
        printed.seek(0)
        errors = [line for line in printed if line.startswith(b"Error")]
    if errors:
        raise ValueError(errors[0].decode(errors="replace").strip())


def _document(log: dict[str, Any]) -> dict[str, Any]:
    job = backend.log_get_job(log)
    processes = job["nprocs"]
    if job["start_time_sec"] <= 0 or processes < 1 or not job["run_time"] >= 0:
        raise ValueError("it does not say when its program ran")
    kept = backend.log_get_modules(log)
    names = backend.log_get_name_records(log)
    modules = {name: _module(log, name, processes) for name in _PREFIX if name in kept}
    files = _by_file(modules)
    return {
        "start": job["start_time_sec"] + job["start_time_nsec"] / 1e9,
        "seconds": job["run_time"],
        "command": _command(log),
        "partial": [name for name in modules if kept[name]["partial_flag"]],
        "unread": [name for name in _UNREAD if name in kept],
        "modules": {n: (m.read, m.written, *m.times) for n, m in modules.items()},
        "read": sum(file.read for file in files.values()),
        "written": sum(file.written for file in files.values()),
        **_calls(modules),
        "files": [
            (names[n], *file, _layers(modules, n, processes))
            for n, file in files.items()
            if n in names
        ],
    }


def _calls(modules: Mapping[str, _Module]) -> dict[str, float]:
    """Count the calls. STDIO's are in no other module; nearly all of MPI-IO's are in
    POSIX."""
    known = [modules[name] for name in ("POSIX", "STDIO") if name in modules]
    return {
        "data": sum(module.data for module in known),
        "metadata": sum(module.metadata for module in known),
        "meta_time": sum(module.times.meta_time for module in known),
    }


def _layers(
    modules: Mapping[str, _Module], file: int, processes: int
) -> dict[str, tuple[float, ...]]:
    return {
        name: (*module.files[file][:2], *times(module.spent[file], processes))
        for name, module in modules.items()
        if file in module.files
    }


def _command(log: dict[str, Any]) -> str:
    try:
        return str(backend.log_get_exe(log))
    except UnicodeDecodeError:  # it is cut after 4 KiB, maybe within a letter
        return ""


def _by_file(modules: Mapping[str, _Module]) -> dict[int, _Moved]:
    """Count every file's bytes once: MPI-IO calls POSIX for them, STDIO calls
    neither."""
    files: dict[int, _Moved] = {}
    for name, together in (("POSIX", _sum), ("MPI-IO", _below), ("STDIO", _sum)):
        for number, moved in modules[name].files.items() if name in modules else ():
            before = files.get(number)
            files[number] = moved if before is None else together(before, moved)
    return files


def _below(posix: _Moved, mpi: _Moved) -> _Moved:
    """Return what was moved in the end. POSIX does not see some of MPI's calls."""
    return _Moved(posix.read or mpi.read, posix.written or mpi.written, posix.size)


def _sum(one: _Moved, other: _Moved) -> _Moved:
    sizes = [size for size in (one.size, other.size) if size is not None]
    read = one.read + other.read
    written = one.written + other.written
    return _Moved(read, written, max(sizes, default=None))


def _module(log: dict[str, Any], name: str, processes: int) -> _Module:
    files: dict[int, _Moved] = {}
    spent: dict[int, list[Spent]] = {}
    data = metadata = 0
    prefix = _PREFIX[name]
    names = backend.counter_names(name)
    seconds = backend.fcounter_names(name)
    for record in iter(lambda: backend.log_get_generic_record(log, name), None):
        counters = dict(zip(names, record["counters"].tolist(), strict=True))
        moved = _moved(counters, prefix)
        data += _calls_of(counters, prefix, _DATA)
        metadata += _calls_of(counters, prefix, (*_OPENS, *_OPENS, *_OTHERS))
        before = files.get(record["id"])
        files[record["id"]] = moved if before is None else _sum(before, moved)
        counted = dict(zip(seconds, record["fcounters"].tolist(), strict=True))
        own = _spent(record["rank"], counted, prefix)
        spent.setdefault(record["id"], []).append(own)
    ours = times([own for some in spent.values() for own in some], processes)
    return _Module(files, spent, ours._replace(processes=processes), data, metadata)


def _spent(rank: int, counted: Mapping[str, float], prefix: str) -> Spent:
    names = [f"{prefix}_F_{kind}_TIME" for kind in _KINDS]
    return Spent(rank, *(max(0.0, counted[name]) for name in names))


def _moved(counters: Mapping[str, int], prefix: str) -> _Moved:
    read, written = (counters[f"{prefix}_BYTES_{way}"] for way in ("READ", "WRITTEN"))
    if read < 0 or written < 0:
        raise ValueError(f"{prefix} counted less than no bytes")
    last = counters.get(f"{prefix}_MAX_BYTE_WRITTEN")  # MPI-IO has none
    return _Moved(read, written, None if last is None or not written else last + 1)
