"""How the results of a run will leave the tier; bb/drain.json has it for the run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pegasus_bb.model.dag.joblists import JobLists
from pegasus_bb.model.dag.roles import Role, of_role
from pegasus_bb.model.drain_policies import DrainRule

if TYPE_CHECKING:
    from pegasus_bb.forecast.drain_windows import Window
    from pegasus_bb.model.tier_drain import DrainTarget

_Rate = tuple[float, float, int]  # from, until, bytes


@dataclass(frozen=True)
class StageOutFlow:
    """The results of one stage-out job."""

    begin: float  # when they are written
    stop: float  # when they are safe, at full speed
    size: int  # bytes
    lfns: Sequence[str] = ()
    due: float | None = None  # when the next phase needs it gone; None: end of run


@dataclass(frozen=True)
class DrainForecast:
    """Times of the simulated run, in seconds since its start."""

    gate: float  # the reservation is ready
    end: float  # the last job has computed
    flows: Sequence[StageOutFlow]

    def windows(self, slack: float) -> list[Window]:
        """The window of each flow. Flows with the same due time get the lowest peak."""
        from pegasus_bb.forecast.drain_windows import windows  # slow to load

        last = self.end * (1 + slack)
        by_flow: dict[int, Window] = {}
        for due in {flow.due for flow in self.flows}:
            here = [at for at, flow in enumerate(self.flows) if flow.due == due]
            dumps = [(self.flows[at].begin, self.flows[at].size) for at in here]
            each = windows(dumps, last if due is None else min(due, last))
            by_flow.update(zip(here, each, strict=True))
        return [by_flow[at] for at in range(len(self.flows))]

    def peaks(self, slack: float, aim: float) -> tuple[float, float]:
        """The peak rates to the PFS, in bytes per second: at full speed, and paced."""
        now = [(flow.begin, flow.stop, flow.size) for flow in self.flows]
        paced = []
        for flow, window in zip(self.flows, self.windows(slack), strict=True):
            fastest = window.begin + flow.stop - flow.begin
            end = window.begin + aim * (window.end - window.begin)
            paced.append((window.begin, max(fastest, end), flow.size))
        return _peak(now), _peak(paced)


@dataclass(frozen=True)
class DrainPlan:
    rule: DrainRule
    target: DrainTarget | None = None
    slack: float = 0.0  # part of the run
    aim: float = 1.0  # part of each window that is used: the forecast may be wrong
    forecast: DrainForecast | None = None  # None: a rate needs none

    @property
    def is_late(self) -> bool:
        """Whether results wait until the last job has computed."""
        return self.rule.policy.is_late

    def to_json(
        self, run: str, nodes: Iterable[str], entries: JobLists
    ) -> dict[str, Any]:
        """The contents of bb/drain.json. ``entries`` gives the job list of a node."""
        forecast = self.forecast
        return {
            "version": 1,
            "run": run,
            "rate": self.rule.rate,
            "target": None if self.target is None else self.target.to_json(),
            "slack": self.slack,
            "aim": self.aim,
            "gate": 0.0 if forecast is None else forecast.gate,
            "end": 0.0 if forecast is None else forecast.end,
            "windows": self._windows(forecast, nodes, entries) if forecast else {},
        }

    def _windows(
        self,
        forecast: DrainForecast,
        nodes: Iterable[str],
        entries: JobLists,
    ) -> dict[str, list[float]]:
        """Stage-out node -> its window, from its first result to its last."""
        flows = forecast.flows
        each = forecast.windows(self.slack)
        by_lfn = {
            lfn: window
            for flow, window in zip(flows, each, strict=True)
            for lfn in flow.lfns
        }
        by_node: dict[str, list[float]] = {}
        for name in of_role(nodes, Role.STAGE_OUT):
            lfns = (str(entry.get("lfn", "")) for entry in entries(name))
            known = [by_lfn[lfn] for lfn in lfns if lfn in by_lfn]
            if known:
                made, begin, end = zip(*known, strict=True)
                by_node[name] = [min(made), min(begin), max(end)]
        return by_node


def _peak(rates: Iterable[_Rate]) -> float:
    changes: list[tuple[float, float]] = []
    for begin, stop, size in rates:
        if stop > begin and size:
            rate = size / (stop - begin)
            changes += [(begin, rate), (stop, -rate)]
    most = now = 0.0
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most
