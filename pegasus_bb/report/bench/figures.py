"""The few figures of a tier that the cost model reads, and a file of them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pegasus_bb.core.errors import NotMeasured, UsageError
from pegasus_bb.core.files import write_text
from pegasus_bb.core.units import KIB, MIB, format_size
from pegasus_bb.model.catalogs import SPEEDS
from pegasus_bb.model.placement import PFS
from pegasus_bb.model.speeds import SLOTS
from pegasus_bb.model.stat import Stat
from pegasus_bb.report.bench.cells import Cell, Measurement
from pegasus_bb.report.bench.session import TierSession

RATES = ("read", "write", "job_read", "job_write")
OPERATIONS = ("ops", "job_ops")


@dataclass(frozen=True, slots=True)
class Figures:
    """The keys of x-storage-speeds, in bytes per second and seconds."""

    read: float  # of all processes together
    write: float
    job_read: float  # of one process
    job_write: float
    latency: float
    job: Cell  # from which job_read and job_write are
    ops: float | None = None  # operations per second of all processes; None: unknown
    job_ops: float | None = None  # of one process

    @property
    def source(self) -> str:
        count = self.job.processes
        job = "a job is one process" if count == 1 else f"a job is one of {count}"
        return f"blocks of {format_size(self.job.block)}, {job}"

    def as_speeds(self) -> dict[str, str]:
        rates = {name: _rate(getattr(self, name)) for name in RATES}
        done = {name: getattr(self, name) for name in OPERATIONS}
        known = {n: f"{max(1, round(rate))}/s" for n, rate in done.items() if rate}
        return {**rates, "latency": f"{self.latency * 1e6:.1f}us", **known}


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
    return Figures(
        read=max(_mean(one.read) for one in reads),
        write=max(_mean(one.write) for one in writes),
        job_read=_mean(reader.read) / reader.cell.processes,
        job_write=_mean(writer.write) / writer.cell.processes,
        latency=tier.latency.mean,
        job=writer.cell,
        **_operations(tier),
    )


def _operations(tier: TierSession) -> dict[str, float]:
    known = {of.processes: of.rate.mean for of in tier.operations if of.rate}
    if not known:
        return {}
    return {"ops": max(known.values()), "job_ops": known.get(1, max(known.values()))}


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
