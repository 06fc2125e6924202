"""What a reader looks for first: the whole workflow, and each transformation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pegasus_bb.model.parts import PARTS
from pegasus_bb.page.figure import Cell, Number, Table
from pegasus_bb.page.quantity import RATIO, TO_ONE

_WORDS = {
    **PARTS,
    "jobs": "jobs",
    "run_time": "run time",
    "mean_time": "mean time of a job",
    "bytes_read": "bytes read",
    "bytes_written": "bytes written",
    "bytes_moved": "bytes read and written",
    "queue": "queueing, added up",
    "ready_wait": "ready and not submitted, added up",
    "bandwidth": "bandwidth of all at once",
    "block_read": "bytes from block devices",
    "block_written": "bytes to block devices",
    "io_time": "time in calls",
    "io_rate": "bytes per second in calls",
    "user_time": "CPU time in user mode",
    "system_time": "CPU time in the kernel",
    "user_system": "user to system time",
}
_HEAD = ("PFS", "standard error", "BB", "standard error", "PFS/BB", "difference")
_UNITS = {"jobs": "jobs", "user_system": TO_ONE}
# Of these a quotient would read the other way round, or say nothing.
_NO_RATIO = ("jobs", "io_rate", "bandwidth", "user_system", "in_rate", "out_rate")


def workflow(document: Mapping[str, Any]) -> Table:
    """Makespan and its parts."""
    rows = (
        (_word(key, document), *_pair(pair, "s"))
        for key, pair in document["workflow"].items()
        if isinstance(pair, Mapping) and "pfs" in pair and (pair["pfs"] or pair["bb"])
    )
    return Table("The whole workflow", ("", *_HEAD), tuple(rows))


_CLOCK = {
    "compute": "a job of the user's",
    "stage_in": "staging in",
    "stage_out": "staging out",
    "auxiliary": "other jobs of Pegasus's",
    "reserve": "reserving (bb_setup)",
    "release": "giving back (bb_delete)",
    "gate_wait": "waiting for the reservation (gate)",
    "queue": "queueing: a job was submitted and did not run",
    "ready_wait": "a job was ready and not submitted: limits, looks at intervals",
    "other": "nothing: the engine's own time",
}
_STAGING = {
    "in_bytes": "bytes staged in",
    "in_rate": "bytes staged in per second",
    "out_bytes": "bytes staged out",
    "out_rate": "bytes staged out per second",
    "results_safe": "until the last result was safe",
    "footprint": "all files of the workflow",
}


def clock(document: Mapping[str, Any]) -> Table:
    """Where the makespan went: each second once."""
    pairs = document["clock"]
    units = dict.fromkeys(pairs, "s")
    caption = (
        "By the clock: each second once, for the first of these that went on in it"
    )
    return _quantities(caption, pairs, units, _CLOCK)


def staging(document: Mapping[str, Any]) -> Table:
    """What staging moved."""
    pairs = document["staging"]
    return _quantities("Staging and results", pairs, pairs["units"], _STAGING)


def _quantities(
    caption: str,
    pairs: Mapping[str, Any],
    units: Mapping[str, str],
    words: Mapping[str, str],
) -> Table:
    rows = (
        (words.get(key, key), *_cells(key, pairs[key], unit))
        for key, unit in units.items()
        if pairs[key]["pfs"] or pairs[key]["bb"]
    )
    return Table(caption, ("", *_HEAD), tuple(rows))


def transformations(document: Mapping[str, Any]) -> Iterator[Table]:
    """A table for each, then one for all of them and those of auxiliary jobs."""
    rows = [*document["compute"]]
    rows += [document["all_compute"]] if len(rows) > 1 else []
    for row in rows:
        yield Table(row["name"], ("", *_HEAD), tuple(_metrics(row, document)))
    for row in document["auxiliary"]:
        name = f"auxiliary jobs: {row['name']}"
        yield Table(name, ("", *_HEAD), tuple(_metrics(row, document)))


def _metrics(
    row: Mapping[str, Any], document: Mapping[str, Any]
) -> Iterator[tuple[Cell, ...]]:
    for key, unit in document["units"].items():
        pair = row.get(key)
        if isinstance(pair, Mapping) and (pair["pfs"] or pair["bb"]):
            cells = _cells(key, pair, _UNITS.get(key, unit))
            yield (_word(key, document), *cells)


def _cells(key: str, pair: Mapping[str, Any], unit: str) -> list[Cell]:
    cells = _pair(pair, unit)
    return [*cells[:-2], "", ""] if key in _NO_RATIO else cells


def _word(key: str, document: Mapping[str, Any]) -> str:
    if key == "io_wait":
        return "I/O wait" if document["io_wait"] == "measured" else "time off CPU"
    return _WORDS.get(key, key.replace("_", " "))


def _pair(pair: Mapping[str, Any], unit: str) -> list[Cell]:
    stats = [pair[side] for side in ("pfs", "bb")]
    numbers = [cell for stat in stats for cell in mean_and_error(stat, unit)]
    beyond = {True: "beyond error", False: "within error", None: ""}
    return [*numbers, Number(pair["ratio"], RATIO), beyond[pair["beyond_error"]]]


def mean_and_error(stat: Mapping[str, Any] | None, unit: str) -> tuple[Cell, Cell]:
    """Two cells; what was measured once has no error."""
    if stat is None:
        return Number(None, unit), ""
    error = stat["error"]
    return Number(stat["mean"], unit), (
        "one run" if error is None else Number(error, unit)
    )
