"""A whole benchmark: what is to be measured, and what has been measured so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from pegasus_bb.bench.choice import Chosen
from pegasus_bb.bench.measuring import Limits, Measuring
from pegasus_bb.bench.opening import opening
from pegasus_bb.bench.place import Place, check_room, our_folder, takes_direct
from pegasus_bb.bench.plan import Mode, Plan
from pegasus_bb.bench.rounds import Rounds, Tell
from pegasus_bb.errors import NotMeasured
from pegasus_bb.model.stat import Stat, stat

_OPENINGS = 5  # repetitions


@dataclass(slots=True)
class Tier:
    """One of those that are measured."""

    place: Place
    no_direct: str = ""  # why it takes no direct I/O
    openings: list[float] = field(default_factory=list)  # seconds of one open
    measurings: list[Measuring] = field(default_factory=list)

    @property
    def latency(self) -> Stat | None:
        """Seconds; None where it was not measured."""
        return stat(self.openings)

    def measured(self) -> Iterator[Measuring]:
        """Those of which something is known."""
        return (one for one in self.measurings if one.writes)


class Session:
    """Holds what was measured also where ``run`` is interrupted."""

    def __init__(self, places: Sequence[Place], plan: Plan, limits: Limits) -> None:
        """Raises UsageError where a tier has no room for ``plan``."""
        for place in places:
            check_room(place, plan)
        self.tiers = [Tier(place) for place in places]
        self.plan = plan
        self.limits = limits
        self.engine: Chosen | None = None

    def run(self, choose: Callable[[str], Chosen], tell: Tell) -> None:
        """Measure; ``choose`` is given a folder to try an engine in.

        Nothing that was made is there afterwards. Raises NotMeasured, UsageError.
        """
        with ExitStack() as stack:
            folders: dict[str, str] = {}
            for tier in self.tiers:
                name = tier.place.name
                folders[name] = stack.enter_context(our_folder(tier.place))
                _look(tier, folders[name])
            self.engine = choose(next(iter(folders.values())))
            stack.callback(self.engine.engine.close)  # before the folders go
            rounds = Rounds(self.engine.engine, folders, self.limits, tell)
            rounds.run(list(self._measurings()))

    def _measurings(self) -> Iterator[Measuring]:
        """Tiers take turns."""
        for cell in self.plan.cells():
            for tier in self.tiers:
                if cell.mode is not Mode.DIRECT or not tier.no_direct:
                    tier.measurings.append(Measuring(tier.place, cell))
                    yield tier.measurings[-1]


def _look(tier: Tier, folder: str) -> None:
    tier.no_direct = takes_direct(folder)
    try:
        tier.openings = [opening(folder) for _ in range(_OPENINGS)]
    except OSError as error:
        raise NotMeasured(f"tier {tier.place.name}: {error}") from error
