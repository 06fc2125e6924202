"""A comparison as a JSON document, version 2. docs/report.md describes its keys."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

import orjson

from pegasus_bb.model.mean_and_error import Pair
from pegasus_bb.model.run import Drained, FileUse, Layer, LiveBytes, Task
from pegasus_bb.report.breakeven import BreakEven
from pegasus_bb.report.columns import (
    LAYER_METRICS,
    STAGING,
    Metric,
    ReportedRun,
    TaskMetric,
)
from pegasus_bb.report.report_document import Comparison, Row
from pegasus_bb.report.run_clock import RunTime

VERSION = 2
_NODE = (
    "node",
    "ready",
    "submitted",
    "executing",
    "terminated",
    "ended",
    "attempts",
    "ready_wait",
    "pre_wait",
    "queue",
    "post_wait",
)
_SECONDS = ("won", "staging_in", "staging_out", "reserving", "rest", "net")


def to_document(comparison: Comparison) -> dict[str, Any]:
    """Return a mapping of plain values. What is not measured is null, never zero."""
    notes = (comparison.certainty, *comparison.warnings, *comparison.notes)
    (waited,) = (m for m in comparison.metrics if m.key == "io_wait")
    return {
        "version": VERSION,
        "io_wait": comparison.io_wait.value,
        "units": _units(comparison.metrics),
        "headline": comparison.headline,
        "notes": [note for note in notes if note],
        "workflow": _pairs(comparison.workflow),
        "clock": _pairs(comparison.clock),
        "staging": {"units": _units(STAGING), **_pairs(comparison.staging)},
        "break_even": _break_even(comparison.break_even),
        "compute": [_row(row) for row in comparison.compute],
        "all_compute": _row(comparison.all_compute),
        "auxiliary": [_row(row) for row in comparison.auxiliary],
        "jobs": [_row(row) for row in comparison.jobs],
        "darshan": {
            "units": _units(LAYER_METRICS),
            "layers": [_row(row) for row in comparison.layers],
            "widths": [_row(row) for row in comparison.widths],
            "files": [_row(row) for row in comparison.files],
        },
        "bench": comparison.benchmark and comparison.benchmark.document,
        "probe": [asdict(each) for each in comparison.probe],
        "runs": {
            "pfs": [_run(run, waited) for run in comparison.pfs],
            "bb": [_run(run, waited) for run in comparison.bb],
        },
    }


def as_text(document: dict[str, Any]) -> bytes:
    """Return ``document`` as JSON that people can read, too."""
    try:
        return orjson.dumps(
            document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
        )
    except TypeError:  # a name that is not UTF-8, a number of more than 64 bits
        return f"{json.dumps(document, indent=2)}\n".encode()


def _units(table: Iterable[Metric[Any]]) -> dict[str, str]:
    return {metric.key: metric.json_unit for metric in table}


def _row(row: Row) -> dict[str, Any]:
    names = {"file": row.file, "name": row.name, "job": row.job, "layer": row.layer}
    own = {key: text for key, text in names.items() if text or key == "name"}
    return {**own, **_pairs(row.cells), **row.gains}


def _break_even(found: BreakEven | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "units": {**dict.fromkeys(_SECONDS, "s"), "runs": "1", "footprint": "B"},
        **_picked(found, (*_SECONDS, "runs", "footprint")),
        "sentences": list(found.sentences),
    }


def _pairs(pairs: Mapping[str, Pair]) -> dict[str, Any]:
    return {key: _pair(pair) for key, pair in pairs.items()}


def _pair(pair: Pair) -> dict[str, Any]:
    return {
        "pfs": asdict(pair.pfs) if pair.pfs else None,
        "bb": asdict(pair.bb) if pair.bb else None,
        "ratio": pair.ratio,
        "beyond_error": pair.beyond_error,
    }


def _picked(source: object, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(source, name) for name in names}


def _run(reported: ReportedRun, waited: TaskMetric) -> dict[str, Any]:
    run = reported.run
    time = reported.time
    return {
        **_picked(run, ("label", "mode", "tier", "backend", "simulated")),
        "fallback": {"to": "pfs", "because": run.fallback} if run.fallback else None,
        "job_reservations": run.job_reservations,
        "on_pfs": [asdict(each) for each in run.jobs_on_pfs],
        **_picked(run, ("submit_dir", "uuid", "makespan", "makespan_from")),
        "begun": time.begun,
        "predicted_makespan": run.predicted,
        "predicted_range": run.predicted_range,
        "reserved_byte_hours": run.reserved,
        "span": run.span,
        "clock": dict(reported.clock),
        "gate_wait": run.gate_wait,
        "gate_offset": reported.gate_offset,
        "live": _live(run.live, time),
        "live_job_reservations": _live(run.live_job_reservations, time),
        "staged_in": run.brought,
        **_picked(run, ("cached", "cached_bytes", "stayed")),
        "staged_out": run.saved,
        "results_safe": run.safe,
        "footprint": run.footprint,
        "drain": _drain(run.drained, time),
        "retries": run.retries,
        "missing": list(run.missing),
        "problems": [asdict(problem) for problem in run.problems],
        "tasks": [_task(task, waited, time) for task in run.tasks],
        "nodes": [_picked(node, _NODE) for node in run.nodes],
    }


def _drain(found: Drained | None, time: RunTime) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "since": time.at(found.since),
        "until": time.at(found.until),
        **_picked(found, ("size", "peak", "mean")),
        "steps": [[time.at(since), rate] for since, rate in found.steps],
    }


def _live(live: LiveBytes | None, time: RunTime) -> dict[str, Any] | None:
    if live is None:
        return None
    return {
        "capacity": live.capacity,
        "unknown": live.unknown,
        "most": max((size for _, size in live.steps), default=None),
        "steps": [[time.at(since), size] for since, size in live.steps],
        "reserved": [[time.at(since), size] for since, size in live.reserved],
    }


def _task(task: Task, waited: TaskMetric, time: RunTime) -> dict[str, Any]:
    return {
        **_picked(task, ("transformation", "job", "node")),
        "kind": task.kind.value,
        "site": task.site,
        "host": task.host,
        "start": task.start,
        "offset": time.at(task.start),
        **_picked(task, ("duration", "exit_code", "retry")),
        "queue": task.queued,
        **_picked(task, ("ready_wait", "utime", "stime", "maxrss")),
        "bytes_read": task.rchar,
        "bytes_written": task.wchar,
        "block_read": task.rbytes,
        "block_written": task.wbytes,
        "io_wait": waited.of((task,)),
        "io_time": task.calls.seconds if task.calls else None,
        "layers": [_layer(layer) for layer in task.layers],
        "files": [
            _file(file)
            for file in task.files
            if (file.bytes_read, file.bytes_written) != (None, None)
        ],
    }


def _file(file: FileUse) -> dict[str, Any]:
    return {
        **_picked(file, ("name", "size", "bytes_read", "bytes_written")),
        "layers": [_layer(layer) for layer in file.layers],
    }


def _layer(layer: Layer) -> dict[str, Any]:
    numbers = {metric.key: metric.of(layer) for metric in LAYER_METRICS}
    return {"layer": layer.name, **numbers}
