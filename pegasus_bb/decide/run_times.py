"""Run times of tasks, from earlier runs or profiles, and their error; lifetimes of
files as a share of the run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.model.graph import Graph
from pegasus_bb.model.history import declared_past
from pegasus_bb.model.mean_and_error import log_deviation
from pegasus_bb.model.placement import PlacedFile

Spans = dict[str, tuple[float, float]]  # job -> when it begins and ends, in seconds


def known_times(given: PlanningInput) -> dict[str, float]:
    """Job -> seconds, if an earlier run or the profile ``runtime`` has them."""
    history = given.history
    has_times = history.has_times
    times: dict[str, float] = {}
    for job in given.workflow:
        past = history.of(job.id, job.transformation) if has_times else None
        past = past or declared_past(given.profile(job, "runtime"))
        if past is not None:
            times[job.id] = past.duration
    return times


def job_spans(graph: Graph, known: Mapping[str, float]) -> Spans:
    """When each job runs if none waits for a slot. A job without a known time gets the
    median. Linear in the workflow, but for that median."""
    usual = median(known.values())
    spans = Spans()
    for ident in graph.order:
        begin = max((spans[parent][1] for parent in graph.parents[ident]), default=0.0)
        spans[ident] = begin, begin + known.get(ident, usual)
    return spans


def times_error(given: PlanningInput) -> float | None:
    """The error of predicted run times: the standard deviation of ln(seconds) of a job
    from run to run. None with fewer than two earlier runs on the same storage."""
    return log_deviation(_repeated(given)) if given.history.others else None


def _repeated(given: PlanningInput) -> Iterator[list[float]]:
    for job in given.workflow:
        pasts = given.history.pasts(job.id, job.transformation)
        yield [past.duration for place, past in pasts if place == pasts[0][0]]


@dataclass(frozen=True)
class LevelClock:
    """The seconds of the run at which each level begins and ends; empty if no run time
    is known."""

    begins: tuple[float, ...] = ()
    ends: tuple[float, ...] = ()

    @classmethod
    def of(cls, given: PlanningInput) -> LevelClock:
        known = known_times(given)
        if not known:
            return cls()
        begins = [math.inf] * given.levels
        ends = [0.0] * given.levels
        for ident, (begin, end) in job_spans(given.graph, known).items():
            level = given.graph.level[ident] - 1
            begins[level] = min(begins[level], begin)
            ends[level] = max(ends[level], end)
        return cls(tuple(begins), tuple(ends))

    @property
    def span(self) -> float:
        return max(self.ends, default=0.0)

    def seconds(self, lives: Mapping[str, tuple[int, int]]) -> dict[str, float]:
        """LFN -> seconds from the begin of its first level to the end of its last."""
        if not self.ends:
            return {}
        begins = self.begins
        ends = self.ends
        return {
            lfn: ends[last - 1] - begins[first - 1]
            for lfn, (first, last) in lives.items()
        }


class LifetimeShare:
    """The lifetime of a file as a share of the workflow, and its class by that."""

    def __init__(self, given: PlanningInput) -> None:
        self._levels = given.levels
        self._span = LevelClock.of(given).span

    def of(self, file: PlacedFile) -> float:
        """From 0, for a file that one level makes and uses, to 1. By seconds if run
        times are known, else by levels."""
        if self._span and file.seconds is not None:
            return file.seconds / self._span
        return (file.lifetime - 1) / self._levels

    def class_of(self, file: PlacedFile, classes: Sequence[str]) -> str:
        return classes[min(len(classes) - 1, int(self.of(file) * len(classes)))]

    def text(self, file: PlacedFile) -> str:
        if self._span and file.seconds is not None:
            return f"lives {file.seconds:.0f} of {self._span:.0f} s"
        return f"lives {file.lifetime} of {self._levels} levels"
