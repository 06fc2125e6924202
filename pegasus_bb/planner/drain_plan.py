"""What a plan knows of how results will leave the tier; bb/drain.json tells it on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pegasus_bb.dag.joblists import Entries
from pegasus_bb.dag.roles import Role, of_role
from pegasus_bb.model.drain import NOW, OFF, DrainRule, DrainTarget
from pegasus_bb.model.properties import Settings
from pegasus_bb.model.tiers import Tier

_AIM = 0.9  # part of the time that is used, as draining/pace.py has it
Flow = tuple[float, float, int]  # from, until, bytes


def rule_of(settings: Settings, tier: Tier) -> DrainRule:
    """What the user said, else the tier."""
    return settings.drain or (tier.drain.rule if tier.drain else DrainRule(NOW))


@dataclass(frozen=True)
class Forecast:
    """Of the simulated run; seconds since it began."""

    gate: float  # the reservation is there
    end: float  # the last job has computed
    starts: Mapping[str, float]  # LFN of a result -> when its stage-out begins
    flows: tuple[Flow, ...]  # of stage-outs, at full speed

    def peaks(self, slack: float) -> tuple[float, float]:
        """Bytes per second to the PFS at most: at full speed, and paced."""
        paced = []
        for begin, stop, size in self.flows:
            left = self.end - begin + slack * self.end
            paced.append((begin, max(stop, begin + _AIM * left), size))
        return _peak(self.flows), _peak(paced)


@dataclass(frozen=True)
class DrainPlan:
    rule: DrainRule
    target: DrainTarget | None = None
    slack: float = 0.0  # part of the run
    forecast: Forecast | None = None  # None: a rate needs none

    @property
    def is_late(self) -> bool:
        """Whether results wait until the last job has computed."""
        return self.rule.when == OFF

    def to_json(
        self, run: str, nodes: Iterable[str], entries: Callable[[str], Entries]
    ) -> dict[str, Any]:
        """bb/drain.json. ``entries`` gives the job list of a node."""
        forecast = self.forecast
        return {
            "version": 1,
            "run": run,
            "rate": self.rule.rate,
            "target": None if self.target is None else self.target.to_json(),
            "slack": self.slack,
            "gate": 0.0 if forecast is None else forecast.gate,
            "end": 0.0 if forecast is None else forecast.end,
            "starts": _starts(nodes, entries, forecast.starts) if forecast else {},
        }


def _starts(
    nodes: Iterable[str], entries: Callable[[str], Entries], starts: Mapping[str, float]
) -> dict[str, float]:
    """Stage-out node -> when its first result is there."""
    found: dict[str, float] = {}
    for name in of_role(nodes, Role.STAGE_OUT):
        lfns = (str(entry.get("lfn", "")) for entry in entries(name))
        known = [starts[lfn] for lfn in lfns if lfn in starts]
        if known:
            found[name] = min(known)
    return found


def _peak(flows: Iterable[Flow]) -> float:
    changes: list[tuple[float, float]] = []
    for begin, stop, size in flows:
        if stop > begin and size:
            rate = size / (stop - begin)
            changes += [(begin, rate), (stop, -rate)]
    most = now = 0.0
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most
