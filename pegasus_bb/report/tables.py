"""The tables of a report as text: which there are, and what is in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich import box
from rich.table import Table

from pegasus_bb.model.run import PARTS
from pegasus_bb.model.stat import Pair
from pegasus_bb.model.text import readable
from pegasus_bb.report.layout import jobs_table, pairs_table
from pegasus_bb.report.metrics import IOWait
from pegasus_bb.report.report_document import Comparison, Row
from pegasus_bb.report.rows import JOB_COLUMNS

PLAIN = box.Box("    \n    \n -- \n    \n    \n    \n    \n    \n", ascii=True)
MOST = 8  # rows of single jobs, and of files: the JSON has all

CLOCK = {
    "compute": "jobs of the workflow",
    "stage_in": "else staging in",
    "stage_out": "else staging out",
    "auxiliary": "else other jobs of Pegasus",
    "reserve": "else reserving",
    "release": "else giving back",
    "gate_wait": "else waiting at the gate",
    "queue": "else queueing",
    "ready_wait": "else waiting for a slot",
    "other": "else engine",
}
STAGING = {
    "in_bytes": "staged in",
    "in_rate": "staged in, per s",
    "out_bytes": "staged out",
    "out_rate": "staged out, per s",
    "results_safe": "until the last result is safe, s",
    "footprint": "all files",
}
LAYER = {
    "read_bandwidth": "read\nper s",
    "write_bandwidth": "written\nper s",
    "read_time": "reading\ns",
    "write_time": "writing\ns",
    "meta_time": "meta\ns",
    "slowest_to_average": "slowest\n/mean",
}
WAIT = {IOWait.MEASURED: "I/O wait\ns", IOWait.OFF_CPU: "off CPU\ns"}


def tables(comparison: Comparison, style: box.Box) -> tuple[Table, ...]:
    """What is printed one after the other; the JSON has more columns."""
    rows = _compute(comparison)
    shown = _shown(comparison.io_wait, rows)
    found = [
        *_workflow_tables(comparison, style),
        jobs_table("transformation", rows, shown, comparison.sides, style),
    ]
    if len(comparison.jobs) > len(comparison.compute):
        few = [
            Row(_two_lines(row.name, row.job), row.cells)
            for row in _most_different(comparison.jobs)
        ]
        own = {key: head for key, head in shown.items() if key in JOB_COLUMNS}
        columns = {"run_time": own.pop("run_time"), "queue": "queue\ns", **own}
        found.append(jobs_table("jobs", few, columns, comparison.sides, style))
    if comparison.auxiliary:
        shown = _shown(comparison.io_wait, comparison.auxiliary)
        found.append(
            jobs_table(
                "auxiliary jobs", comparison.auxiliary, shown, comparison.sides, style
            )
        )
    found.extend(_layer_tables(comparison, style))
    if comparison.simulated:
        for table in found:
            table.columns[0].header = f"{table.columns[0].header}\n(simulated)"
    return tuple(found)


def _layer_tables(comparison: Comparison, style: box.Box) -> Iterator[Table]:
    calls = [
        Row(_two_lines(row.name, row.layer), row.cells) for row in comparison.layers
    ]
    files = [
        Row(_two_lines(row.file, row.layer), row.cells)
        for row in _longest(comparison.files)
    ]
    if calls:
        yield jobs_table("calls,\nper process", calls, LAYER, comparison.sides, style)
    if files:
        yield jobs_table("files,\nper process", files, LAYER, comparison.sides, style)


def _most_different(jobs: Iterable[Row]) -> Sequence[Row]:

    def difference(row: Row) -> float:
        pair = row.cells["run_time"]
        return abs(pair.pfs.mean - pair.bb.mean) if pair.pfs and pair.bb else -1.0

    return sorted(jobs, key=difference, reverse=True)[:MOST]


def _longest(files: Iterable[Row]) -> Sequence[Row]:

    def seconds(row: Row) -> float:
        pair = row.cells["slowest_time"]
        return max(side.mean for side in (pair.pfs, pair.bb) if side is not None)

    return sorted(files, key=seconds, reverse=True)[:MOST]


def _two_lines(name: str, more: str) -> str:
    """One name over two lines; beside a side each, they would read as two."""
    return readable(name) if more == name else f"{readable(name)}\n({readable(more)})"


def _logged(rows: Iterable[Row]) -> bool:
    pairs = [row.cells["io_time"] for row in rows]
    return any(pair.pfs is not None or pair.bb is not None for pair in pairs)


def _shown(io_wait: IOWait, rows: Iterable[Row]) -> dict[str, str]:
    calls = {"io_time": "in calls\ns", "io_rate": "in calls\nper s"}
    return {
        "jobs": "jobs",
        "run_time": "run time\ns",
        "bytes_read": "read",
        "bytes_written": "written",
        **(calls if _logged(rows) else {}),
        "io_wait": WAIT[io_wait],
        "user_system": "user/\nsystem",
    }


def _compute(comparison: Comparison) -> tuple[Row, ...]:
    named = tuple(Row(readable(row.name), row.cells) for row in comparison.compute)
    return named + ((comparison.all_compute,) if len(named) > 1 else ())


def _workflow_tables(comparison: Comparison, style: box.Box) -> Iterator[Table]:
    for head, pairs, names in (
        ("workflow, seconds", comparison.workflow, PARTS),
        ("by the clock, seconds", comparison.clock, CLOCK),
        ("staging", comparison.staging, STAGING),
    ):
        known = {key: pairs[key] for key in names if _has_any(pairs[key])}
        if known:
            yield pairs_table(head, known, names, comparison.sides, style)


def _has_any(pair: Pair) -> bool:
    return any(side and side.mean for side in (pair.pfs, pair.bb))
