"""A site profile: the rates of a site's storage as learned from runs, in a YAML file
that ``--bb-speeds`` takes, and that grows as runs are added.

    x-storage-speeds:
      cluster: {slots: 12, pfs: {job_read: 85MB/s, ..., error_percent: 12}}
    x-learned-from:
      cluster: {pfs: {tasks: 120, runs: 2, date: 2026-11-20}}
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.files import write_text
from pegasus_bb.forecast.demands.effective_rates import (
    FEW,
    EffectiveRates,
    fit_rates,
    samples_of,
)
from pegasus_bb.model.catalogs import SPEEDS
from pegasus_bb.model.document import Document, load
from pegasus_bb.model.history import History
from pegasus_bb.model.placement import PFS
from pegasus_bb.model.speeds import SLOTS

LEARNED = "x-learned-from"
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
        weight = older.rates.tasks * 0.5 ** (age / _HALF_LIFE)
        share = weight / (weight + self.rates.tasks)
        new, old = self.rates, older.rates
        rates = EffectiveRates(
            _mean_rate(new.bytes, old.bytes, share),
            _mean_rate(new.calls, old.calls, share),
            max(new.together, old.together),
            new.error * (1 - share) + old.error * share,
            new.tasks + round(weight),
        )
        return LearnedPlace(rates, self.runs + older.runs, self.day)


def _mean_rate(new: float, old: float, share: float) -> float:
    each = (1 - share) / new + share / old
    return 1 / each if each else math.inf


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


def update_profile(
    path: Path, site: str, runs: Sequence[History], day: date
) -> dict[str, LearnedPlace]:
    """Write ``path``, or add to it; return what it has of ``site`` now.

    Raises UsageError if the runs show too little, or if the file is no profile.
    """
    learned = learn_places(runs, day)
    if not learned:
        raise UsageError(
            f"nothing can be learned: of no place have {FEW} tasks records of their "
            "user time and their bytes"
        )
    document = load(path, {}) if path.exists() else None
    data: dict[str, Any] = dict(document.data) if document is not None else {}
    if document is not None and LEARNED not in data:
        raise UsageError(f"{path}: it was not written by learn; name a new file")
    for place, older in _older(document, site).items():
        learned[place] = learned[place].merged(older) if place in learned else older
    if PFS not in learned:
        raise UsageError(
            f"{path}: tiers are compared with the PFS, and no run on it is named; plan "
            "one with --bb-mode off"
        )
    slots = max((run.at_once or 1 for run in runs), default=1)
    _write(path, data, site, learned, slots)
    return learned


def _older(document: Document | None, site: str) -> dict[str, LearnedPlace]:
    """What the profile has of ``site``. Raises CatalogError if it was damaged."""
    if document is None:
        return {}
    from pegasus_bb.model.speeds import read_speeds

    speeds = read_speeds(document, (SPEEDS,), site)
    if speeds is None:
        return {}
    found = {}
    for place, speed in speeds.places.items():
        entry = document.entry(LEARNED, site, place)
        try:
            tasks, runs = int(entry.data["tasks"]), int(entry.data["runs"])
            together = float(entry.data["together"])
            day = date.fromisoformat(str(entry.data["date"]))
        except (KeyError, TypeError, ValueError) as error:
            raise entry.error(
                "what learn wrote is damaged", entry.data, "name a new file"
            ) from error
        rates = EffectiveRates(
            speed.job_read, speed.job_ops, together, speed.error, tasks
        )
        found[place] = LearnedPlace(rates, runs, day)
    return found


def _write(
    path: Path,
    data: dict[str, Any],
    site: str,
    learned: Mapping[str, LearnedPlace],
    slots: int,
) -> None:
    import yaml  # only a profile needs a writer of YAML

    speeds = {place: _speed(of.rates) for place, of in learned.items()}
    origins = {
        place: {
            "tasks": of.rates.tasks,
            "runs": of.runs,
            "together": round(of.rates.together, 1),
            "date": of.day.isoformat(),
        }
        for place, of in learned.items()
    }
    sites = {**(data.get(SPEEDS) or {}), site: {SLOTS: slots, **speeds}}
    whole = {
        **data,
        SPEEDS: sites,
        LEARNED: {**(data.get(LEARNED) or {}), site: origins},
    }
    text = yaml.safe_dump(
        whole, sort_keys=False, default_flow_style=None, allow_unicode=True, width=1000
    )
    head = "# Rates of storage as tasks had them; pegasus-bb learn writes this file.\n"
    try:
        write_text(str(path), head + text)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error}") from error


def _speed(rates: EffectiveRates) -> dict[str, Any]:
    """The keys of x-storage-speeds. Reading and writing are not told apart."""
    whole = rates.together
    of_one = min(rates.bytes, _UNLIMITED)
    found: dict[str, Any] = {
        "read": _rate(of_one * whole),
        "write": _rate(of_one * whole),
        "job_read": _rate(of_one),
        "job_write": _rate(of_one),
    }
    if math.isfinite(rates.calls):
        found["ops"] = f"{max(1, round(rates.calls * whole))}/s"
        found["job_ops"] = f"{max(1, round(rates.calls))}/s"
    error = min(90, round(100 * rates.error))
    return {**found, "error_percent": error}


def _rate(value: float) -> str:
    return f"{max(1, round(value / 1000))}KB/s"


_UNLIMITED = 1e15  # bytes a second, where calls explain all of the time
