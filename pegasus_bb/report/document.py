"""A comparison as a JSON document, version 1. docs/report.md describes its keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from pegasus_bb.errors import UsageError
from pegasus_bb.model.run import FileUse, Run, Task
from pegasus_bb.model.stat import Stat
from pegasus_bb.report.compare import Comparison, Row
from pegasus_bb.report.metrics import IOWait, off_cpu
from pegasus_bb.report.stats import Pair

VERSION = 1


def to_document(comparison: Comparison) -> dict[str, Any]:
    """A mapping of plain values; what nobody measured is null, never zero."""
    return {
        "version": VERSION,
        "io_wait": comparison.io_wait.value,
        "units": {metric.key: metric.unit for metric in comparison.metrics},
        "notes": list(comparison.notes),
        "workflow": {key: _pair(pair) for key, pair in comparison.workflow.items()},
        "compute": [_row(row) for row in comparison.compute],
        "all_compute": _row(comparison.all_compute),
        "auxiliary": [_row(row) for row in comparison.auxiliary],
        "runs": {
            "pfs": [_run(run, comparison.io_wait) for run in comparison.pfs],
            "bb": [_run(run, comparison.io_wait) for run in comparison.bb],
        },
    }


def write_document(path: Path, document: dict[str, Any]) -> None:
    """Write ``document`` to ``path``. Raises UsageError where that cannot be."""
    text = orjson.dumps(
        document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    )
    try:
        path.write_bytes(text)
    except OSError as error:
        raise UsageError(
            f"{path}: cannot be written ({error.strerror}); name a file in a folder "
            "that exists and is yours"
        ) from error


def _row(row: Row) -> dict[str, Any]:
    cells = {key: _pair(pair) for key, pair in row.cells.items()}
    return {"name": row.name, **cells}


def _pair(pair: Pair) -> dict[str, Any]:
    return {
        "pfs": _stat(pair.pfs),
        "bb": _stat(pair.bb),
        "ratio": pair.ratio,
        "beyond_error": pair.beyond_error,
    }


def _stat(value: Stat | None) -> dict[str, Any] | None:
    if value is None:
        return None
    return {"mean": value.mean, "error": value.error, "n": value.n}


def _run(run: Run, io_wait: IOWait) -> dict[str, Any]:
    return {
        "label": run.label,
        "mode": run.mode,
        "tier": run.tier,
        "backend": run.backend,
        "fallback": {"to": "pfs", "because": run.fallback} if run.fallback else None,
        "submit_dir": run.submit_dir,
        "uuid": run.uuid,
        "makespan": run.makespan,
        "makespan_from": run.makespan_from,
        "predicted_makespan": run.predicted,
        "reserved_byte_hours": run.reserved,
        "span": run.span,
        "gate_wait": run.gate_wait,
        "retries": run.retries,
        "missing": list(run.missing),
        "problems": [{"file": p.file, "why": p.why} for p in run.problems],
        "tasks": [_task(task, io_wait) for task in run.tasks],
    }


def _task(task: Task, io_wait: IOWait) -> dict[str, Any]:
    waited = task.iowait if io_wait is IOWait.MEASURED else off_cpu(task)
    return {
        "transformation": task.transformation,
        "job": task.job,
        "node": task.node,
        "kind": task.kind.value,
        "site": task.site,
        "host": task.host,
        "start": task.start,
        "duration": task.duration,
        "exit_code": task.exit_code,
        "retry": task.retry,
        "utime": task.utime,
        "stime": task.stime,
        "maxrss": task.maxrss,
        "bytes_read": task.rchar,
        "bytes_written": task.wchar,
        "block_read": task.rbytes,
        "block_written": task.wbytes,
        "io_wait": waited,
        "io_time": task.calls.seconds if task.calls else None,
        "files": [_file(file) for file in task.files if _counted(file)],
    }


def _counted(file: FileUse) -> bool:
    return file.bytes_read is not None or file.bytes_written is not None


def _file(file: FileUse) -> dict[str, Any]:
    return {
        "name": file.name,
        "size": file.size,
        "bytes_read": file.bytes_read,
        "bytes_written": file.bytes_written,
    }
