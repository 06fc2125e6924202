"""What runs show of one place of a site's storage, and what further runs add to it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from pegasus_bb.forecast.demands.effective_rates import (
    EffectiveRates,
    fit_rates,
    samples_of,
)
from pegasus_bb.model.history import History
from pegasus_bb.model.speeds import BYTES, CALLS

_HALF_LIFE = 180.0  # days in which what was learned loses half of its weight


@dataclass(frozen=True)
class LearnedPlace:
    rates: EffectiveRates
    runs: int
    day: date  # when it was learned

    def merged(self, older: LearnedPlace) -> LearnedPlace:
        """Means of seconds by byte and by call, weighted by tasks; the older ones count
        less as they age."""
        age = max(0, (self.day - older.day).days)
        weight = max(1e-9, older.rates.tasks * 0.5 ** (age / _HALF_LIFE))
        share = weight / (weight + self.rates.tasks)
        new, old = self.rates, older.rates
        both = ((new, 1 - share), (old, share))
        rates = EffectiveRates(
            _mean([(x.bytes, x.at_least != BYTES, w) for x, w in both]),
            _mean([(x.calls, x.at_least != CALLS, w) for x, w in both]),
            max(new.together, old.together),
            new.error * (1 - share) + old.error * share,
            new.tasks + round(weight),
            _still_at_least(new, old),
            _both_sizes(new.sizes, old.sizes),
        )
        return LearnedPlace(rates, self.runs + older.runs, self.day)


def _mean(rates: Sequence[tuple[float, bool, float]]) -> float:
    """The mean by the seconds of (rate, is measured, weight): of those that were
    measured, else of lower bounds. A rate that is infinite is unknown."""
    finite = [each for each in rates if math.isfinite(each[0])]
    known = [each for each in finite if each[1]] or finite
    seconds = sum(weight / rate for rate, _, weight in known)
    return sum(weight for *_, weight in known) / seconds if known else math.inf


def _still_at_least(new: EffectiveRates, old: EffectiveRates) -> str:
    if new.at_least == old.at_least:
        return new.at_least
    no_calls = math.inf in (new.calls, old.calls)  # then one of both tells of calls
    return CALLS if no_calls and CALLS in (new.at_least, old.at_least) else ""


def _both_sizes(
    new: tuple[int, int] | None, old: tuple[int, int] | None
) -> tuple[int, int] | None:
    known = [sizes for sizes in (new, old) if sizes]
    if not known:
        return None
    return min(least for least, _ in known), max(most for _, most in known)


def learn_places(runs: Sequence[History], day: date) -> dict[str, LearnedPlace]:
    """Place -> what ``runs`` show of it. A place with too few tasks is left out."""
    places: dict[str, list[History]] = {}
    for run in runs:
        places.setdefault(run.place, []).append(run)
    found = {}
    for place, of_place in places.items():
        samples = [s for run in of_place for s in samples_of(run.jobs.values())]
        rates = fit_rates(samples)
        if rates is not None:
            found[place] = LearnedPlace(rates, len(of_place), day)
    return found
