"""What the cost model is told of a tier: a few figures out of all cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pegasus_bb.bench.cache import Cache
from pegasus_bb.bench.measuring import Measuring
from pegasus_bb.bench.plan import Cell, Layout, Mode
from pegasus_bb.bench.session import Tier
from pegasus_bb.errors import NotMeasured
from pegasus_bb.model.stat import Stat
from pegasus_bb.units import KIB, MIB, format_size

# Jobs write through the page cache, each its own files, and what counts is on storage.
_MODES = (Mode.FSYNC, Mode.DIRECT, Mode.BUFFERED)
_LAYOUTS = (Layout.FILES, Layout.SHARED)


@dataclass(frozen=True, slots=True)
class Figures:
    """As x-storage-speeds has them. Bytes per second; seconds."""

    read: float  # of all processes together
    write: float
    job_read: float  # of one process
    job_write: float
    latency: float
    writes: Cell  # of job_write: with one process, or the fewest
    reads: Cell  # of job_read

    @property
    def how(self) -> str:
        """Which cells they are from, for a person."""
        if self.writes == self.reads:
            return _words(self.writes)
        return f"{_words(self.writes)}; reads: {_words(self.reads)}"

    def as_speeds(self) -> dict[str, str]:
        """Text that model.speeds reads."""
        rates = ("read", "write", "job_read", "job_write")
        found = {name: _rate(getattr(self, name)) for name in rates}
        return {**found, "latency": f"{self.latency * 1e6:.1f}us"}


def figures(tier: Tier) -> Figures:
    """Those of ``tier``, from the cells that are likest to jobs.

    Raises NotMeasured where there is none.
    """
    measured = list(tier.measured())
    if not measured or tier.latency is None:
        raise NotMeasured(
            f"tier {tier.place.name}: there was no time to measure anything; --within "
            "has more"
        )
    cold = [one for one in measured if one.cache is not Cache.WARM]
    writes, reads = _likest(measured), _likest(cold or measured)
    writer, reader = _fewest(writes), _fewest(reads)
    return Figures(
        read=max(_mean(one.read) for one in reads),
        write=max(_mean(one.write) for one in writes),
        job_read=_mean(reader.read) / reader.cell.processes,
        job_write=_mean(writer.write) / writer.cell.processes,
        latency=tier.latency.mean,
        writes=writer.cell,
        reads=reader.cell,
    )


def _likest(measured: Sequence[Measuring]) -> list[Measuring]:
    """Of one mode, one layout and one size of blocks: the largest that there is."""
    for mode in _MODES:
        for layout in _LAYOUTS:
            cells = [
                one
                for one in measured
                if one.cell.mode is mode and one.cell.layout is layout
            ]
            if cells:
                block = max(one.cell.block for one in cells)
                return [one for one in cells if one.cell.block == block]
    return []


def _fewest(cells: Sequence[Measuring]) -> Measuring:
    return min(cells, key=lambda one: one.cell.processes)


def _words(cell: Cell) -> str:
    job = "a process alone" if cell.processes == 1 else f"one of {cell.processes}"
    return (
        f"{cell.mode.value}, {cell.layout.value}, blocks of {format_size(cell.block)}, "
        f"a job being {job}"
    )


def _mean(value: Stat | None) -> float:
    return value.mean if value else 0.0


def _rate(value: float) -> str:
    """Whole numbers: ``parse_size`` takes no others."""
    if value >= 100 * MIB:
        return f"{round(value / MIB)}MiB/s"
    return f"{max(1, round(value / KIB))}KiB/s"
