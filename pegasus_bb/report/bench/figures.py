"""The few figures of a tier that the cost model reads, and a file of them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from pegasus_bb.core.errors import NotMeasured, UsageError
from pegasus_bb.core.files import write_text
from pegasus_bb.core.units import KIB, MIB, format_size
from pegasus_bb.model.catalogs import SPEEDS
from pegasus_bb.model.mean_and_error import Stat
from pegasus_bb.model.placement import PFS
from pegasus_bb.model.speeds import SLOTS
from pegasus_bb.report.bench.cells import Cell, Measurement
from pegasus_bb.report.bench.session import TierSession

# Of all processes together, and of one.
RATES = ("read", "write", "job_read", "job_write")  # bytes per second
OPERATIONS = ("ops", "job_ops")  # operations on small files per second


class Figures(NamedTuple):
    """What the cost model reads of a tier."""

    speeds: dict[str, str]  # the keys of x-storage-speeds, with their units
    source: str  # from which cells


def figures(tier: TierSession) -> Figures:
    """Return the figures of ``tier``, from the cells with the largest block.

    Raises NotMeasured if there is no cell.
    """
    measured = tier.measured()
    if not measured or tier.latency is None:
        raise NotMeasured(f"tier {tier.place.name}: nothing was measured")
    cold = [one for one in measured if not one.warm] or measured
    writes = _of_largest_block(measured)
    reads = _of_largest_block(cold)
    writer = _fewest_processes(writes)
    reader = _fewest_processes(reads)
    rates = (
        max(_mean(one.read) for one in reads),
        max(_mean(one.write) for one in writes),
        _mean(reader.read) / reader.cell.processes,
        _mean(writer.write) / writer.cell.processes,
    )
    speeds = dict(zip(RATES, map(_rate, rates), strict=True))
    speeds["latency"] = f"{tier.latency.mean * 1e6:.1f}us"
    return Figures({**speeds, **_operations(tier)}, _source(writer.cell))


def _source(cell: Cell) -> str:
    count = cell.processes
    job = "a job is one process" if count == 1 else f"a job is one of {count}"
    return f"blocks of {format_size(cell.block)}, {job}"


def _operations(tier: TierSession) -> dict[str, str]:
    known = {of.processes: of.rate.mean for of in tier.operations if of.rate}
    if not known:
        return {}
    most = max(known.values())
    rates = zip(OPERATIONS, (most, known.get(1, most)), strict=True)
    return {name: f"{max(1, round(rate))}/s" for name, rate in rates}


def _of_largest_block(measured: list[Measurement]) -> list[Measurement]:
    largest = max(one.cell.block for one in measured)
    return [one for one in measured if one.cell.block == largest]


def _fewest_processes(measured: list[Measurement]) -> Measurement:
    return min(measured, key=lambda one: one.cell.processes)


def _mean(value: Stat | None) -> float:
    return value.mean if value else 0.0


def _rate(value: float) -> str:
    """Write whole numbers, because ``parse_size`` takes no others."""
    if value >= 100 * MIB:
        return f"{round(value / MIB)}MiB/s"
    return f"{max(1, round(value / KIB))}KiB/s"


def check_speeds(path: Path, names: list[str]) -> None:
    """Raise UsageError if ``path`` cannot be made, or if the PFS is not measured."""
    folder = path.absolute().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"--speeds {path}: {folder} is no folder of yours to write to")
    if os.path.lexists(path):
        raise UsageError(f"--speeds {path}: it exists; name a new file")
    if PFS not in names:
        raise UsageError(
            f"--speeds {path}: tiers are compared with the PFS; measure it too: "
            f"--tier {PFS}=DIR"
        )


def write_speeds(
    path: Path, site: str, places: Mapping[str, Mapping[str, str]], comment: str
) -> None:
    """Write the figures of ``places`` below ``comment``, with the slots that the local
    engine has on this machine. Raises UsageError."""
    import yaml  # only a speeds file needs a writer of YAML

    slots = len(os.sched_getaffinity(0))
    comment += (
        "\n# slots: the processors of that machine; of a pool, your jobs at a time"
    )
    figures = {name: dict(speeds) for name, speeds in places.items()}
    text = yaml.safe_dump(
        {SPEEDS: {site: {SLOTS: slots, **figures}}},
        sort_keys=False,
        default_flow_style=None,  # a place in a line
        allow_unicode=True,
        width=1000,
    )
    try:
        write_text(str(path), f"# {comment}\n{text}")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error}") from error
