"""What a report shows, typed: compare.py makes it; tables, page and JSON read it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from pegasus_bb.model.mean_and_error import Pair
from pegasus_bb.model.run import Run
from pegasus_bb.report.benchmark import Benchmark
from pegasus_bb.report.breakeven import BreakEven
from pegasus_bb.report.columns import IOWait, ReportedRun, TaskMetric
from pegasus_bb.report.probe import Probed

T = TypeVar("T")
SIDES = {"pfs": "PFS", "bb": "burst buffer"}
NamedRun = tuple[str, Run]  # "PFS run 1", run


def named(side: str, runs: Sequence[T]) -> list[tuple[str, T]]:
    return [(f"{side} run {number}", run) for number, run in enumerate(runs, start=1)]


class Sides(NamedTuple):
    """The runs on the PFS and on the burst buffer; those of a side are repetitions."""

    pfs: Sequence[Run]
    bb: Sequence[Run]

    @property
    def runs(self) -> list[Run]:
        return [*self.pfs, *self.bb]

    @property
    def is_simulated(self) -> bool:
        return any(run.simulated for run in self.runs)

    @property
    def named_pfs(self) -> list[NamedRun]:
        return named("PFS", self.pfs)

    @property
    def named_bb(self) -> list[NamedRun]:
        return named("BB", self.bb)

    @property
    def named(self) -> list[NamedRun]:
        return [*self.named_pfs, *self.named_bb]


@dataclass(frozen=True, slots=True)
class Row:
    """A group of tasks, or of Darshan's counters, on both sides."""

    name: str  # of the transformation; of auxiliary jobs their kind
    cells: Mapping[str, Pair]  # key of a metric -> pair
    job: str = ""  # id in the abstract workflow, else the node; empty: several jobs
    layer: str = ""  # POSIX, MPI-IO or STDIO
    file: str = ""  # LFN or path; empty: all files together
    # read_gain, write_gain -> side -> bandwidth to that of its fewest processes
    gains: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Runs on the PFS next to runs on a burst buffer; runs of a side are repetitions.

    One side may be empty: its half of every pair is None.

    Pairs of seconds add up jobs that may have run side by side, except ``clock``.
    """

    pfs: tuple[ReportedRun, ...]
    bb: tuple[ReportedRun, ...]
    io_wait: IOWait
    metrics: tuple[TaskMetric, ...]  # columns of the rows below, in their order
    compute: tuple[Row, ...]  # a row per transformation of compute jobs
    all_compute: Row  # those together
    auxiliary: tuple[Row, ...]  # a row per kind: create_dir, stage_in, ...
    jobs: tuple[Row, ...]  # a row per compute job
    layers: tuple[Row, ...]  # of Darshan logs: a row per transformation and layer
    widths: tuple[Row, ...]  # the same by number of processes, where several were used
    files: tuple[Row, ...]  # of Darshan logs: a row per transformation, file and layer
    workflow: Mapping[str, Pair]  # columns.WORKFLOW
    clock: Mapping[str, Pair]  # columns.CLOCK
    staging: Mapping[str, Pair]  # columns.STAGING
    headline: str  # what the burst buffer bought, in one sentence
    certainty: str  # what one run of a side leaves open; empty if nothing
    break_even: BreakEven | None  # None: a side has no records
    warnings: tuple[str, ...]  # why the sides may not be what they are called
    notes: tuple[str, ...]  # what else a reader must know to judge the numbers
    benchmark: Benchmark | None = None
    probe: tuple[Probed, ...] = ()  # empty: nothing was probed

    @property
    def sides(self) -> tuple[str, ...]:
        """The halves of a pair that have runs: pfs, bb."""
        return tuple(side for side in SIDES if getattr(self, side))

    @property
    def is_comparison(self) -> bool:
        return len(self.sides) > 1

    @property
    def repeated(self) -> bool:
        return max(len(self.pfs), len(self.bb)) > 1

    @property
    def tells_error(self) -> bool:
        """Whether a difference of the sides has an error."""
        return min(len(self.pfs), len(self.bb)) > 1

    @property
    def simulated(self) -> bool:
        """Whether a run of it never happened."""
        return any(reported.run.simulated for _, reported in self.named_runs())

    def typical(self, side: str) -> tuple[str, ReportedRun]:
        """Return the name and the run whose makespan is nearest to the mean of
        ``side``."""
        runs = named(side.upper(), getattr(self, side))
        stat = getattr(self.workflow["makespan"], side)
        mean = stat.mean if stat else 0.0

        def distance(named: tuple[str, ReportedRun]) -> float:
            makespan = named[1].run.makespan
            return math.inf if makespan is None else abs(makespan - mean)

        return min(runs, key=distance)

    def named_runs(self) -> list[tuple[str, ReportedRun]]:
        """Return ("PFS run 1", run), and so on, the PFS first."""
        return [*named("PFS", self.pfs), *named("BB", self.bb)]
