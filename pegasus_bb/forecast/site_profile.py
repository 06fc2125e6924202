"""A site profile: the rates of a site's storage as learned from runs, in a YAML file
that ``--bb-speeds`` takes, and that grows as runs are added.

    x-storage-speeds:
      cluster: {slots: 12, pfs: {job_read: 85MB/s, ..., error_percent: 12}}
    x-learned-from:
      cluster: {pfs: {tasks: 120, runs: 2, together: 4.0, date: 2026-11-20}}
    x-learned-runs:
      cluster: [65c1c1b5-... 1795200894, 0b5a6f3e-... 1795286312]

What the user adds to it stays: other places, startup, more slots, other keys.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.files import write_text
from pegasus_bb.forecast.demands.effective_rates import FEW, EffectiveRates
from pegasus_bb.forecast.learned_place import LearnedPlace, learn_places
from pegasus_bb.model.catalogs import SPEEDS
from pegasus_bb.model.document import Document, Entry, load
from pegasus_bb.model.history import History
from pegasus_bb.model.placement import PFS
from pegasus_bb.model.quantities import count, number
from pegasus_bb.model.records import key, read_record
from pegasus_bb.model.speeds import SLOTS, Speed, Speeds, read_speeds

LEARNED = "x-learned-from"
TAKEN = "x-learned-runs"
_MOST = 10**12  # tasks and runs of a profile
_FASTEST = 1e14  # bytes or calls a second: a longer number is no rate
# What learn writes of a place; all other keys are the user's.
_OWN = (
    "read",
    "write",
    "job_read",
    "job_write",
    "ops",
    "job_ops",
    "error_percent",
    "at_least",
    "task_bytes",
)


def _day(entry: Entry) -> date:
    try:
        return date.fromisoformat(str(entry.data))
    except ValueError as error:
        raise entry.error("not a date", would_do="such as 2026-11-28") from error


@dataclass(frozen=True)
class _Origin:
    tasks: int = key(count(_MOST))
    runs: int = key(count(_MOST))
    together: float = key(number(1, 1e6))
    day: date = key(_day, name="date")


class Learned(NamedTuple):
    places: dict[str, LearnedPlace]  # of the site, now and before
    again: list[History]  # runs that the profile had already


def update_profile(
    path: Path, site: str, runs: Sequence[History], day: date
) -> Learned:
    """Write ``path``, or add those of ``runs`` to it that it does not have.

    Raises UsageError if the runs show too little, or if the file is no profile.
    """
    data, speeds, older, taken = _profile(path, site)
    new, again = _new_and_again(runs, taken)
    if not new:
        return Learned(dict(older), again)
    learned = learn_places(new, day)
    if not learned:
        raise UsageError(
            f"nothing can be learned: of no place have {FEW} tasks records of their "
            "user time and their bytes"
        )
    for place, before in older.items():
        learned[place] = learned[place].merged(before) if place in learned else before
    if speeds is None and PFS not in learned:
        raise UsageError(
            f"{path}: tiers are compared with the PFS, and no run on it is named; plan "
            "one with --bb-mode off"
        )
    slots = max(run.at_once or 1 for run in new)
    if speeds is not None:
        slots = max(slots, speeds.slots)
    taken = [*taken, *(run.state_id for run in new if run.state_id)]
    _write(path, _with_taken(data, site, taken), site, learned, slots)
    return Learned(learned, again)


class _Profile(NamedTuple):
    """A profile before it is written, and what it has of the site."""

    data: Mapping[str, Any] = MappingProxyType({})
    speeds: Speeds | None = None
    older: Mapping[str, LearnedPlace] = MappingProxyType({})
    taken: Sequence[str] = ()  # runs, as histories name them


def _profile(path: Path, site: str) -> _Profile:
    """Raises UsageError if the file is no profile."""
    if not path.exists():
        return _Profile()
    document = load(path, {})
    if LEARNED not in document.data:
        raise UsageError(f"{path}: it was not written by learn; name a new file")
    speeds = read_speeds(document, (SPEEDS,), site)
    older = _older(document, site, speeds)
    return _Profile(document.data, speeds, older, _taken(document, site))


def _taken(document: Document, site: str) -> list[str]:
    """The runs of ``site`` that the profile has already, as histories name them."""
    if TAKEN not in document.data:
        return []
    return [str(run) for run in _mapping(document.entry(TAKEN)).items(site)]


def _new_and_again(
    runs: Sequence[History], taken: Sequence[str]
) -> tuple[list[History], list[History]]:
    """Part ``runs`` by whether they are in ``taken``, or came before."""
    seen = set(taken)
    new: list[History] = []
    again: list[History] = []
    for run in runs:
        (again if run.state_id in seen else new).append(run)
        if run.state_id:
            seen.add(run.state_id)
    return new, again


def _with_taken(
    data: Mapping[str, Any], site: str, taken: list[str]
) -> Mapping[str, Any]:
    return {**data, TAKEN: {**(data.get(TAKEN) or {}), site: taken}} if taken else data


def _older(
    document: Document, site: str, speeds: Speeds | None
) -> dict[str, LearnedPlace]:
    """What was learned of ``site`` before; other places are the user's. Raises
    CatalogError if it was damaged."""
    learned = _mapping(document.entry(LEARNED))
    if speeds is None or site not in learned.data:
        return {}
    origins = _mapping(learned.below(site))
    return {
        place: _older_place(speed, read_record(_Origin, origins.below(place)))
        for place, speed in speeds.places.items()
        if place in origins.data
    }


def _mapping(entry: Entry) -> Entry:
    if not isinstance(entry.data, dict):
        raise entry.error(f"{entry.key} is a mapping", would_do="name a new file")
    return entry


def _older_place(speed: Speed, origin: _Origin) -> LearnedPlace:
    seen = speed.slowest  # with the bounds, as they were learned
    rates = EffectiveRates(
        seen.job_read,
        seen.job_ops,
        origin.together,
        seen.error,
        origin.tasks,
        seen.at_least,
        seen.task_bytes,
    )
    return LearnedPlace(rates, origin.runs, origin.day)


def _write(
    path: Path,
    data: Mapping[str, Any],
    site: str,
    learned: Mapping[str, LearnedPlace],
    slots: int,
) -> None:
    import yaml  # only a profile needs a writer of YAML

    sites = data.get(SPEEDS) or {}
    before = sites.get(site) or {}
    speeds = {
        place: {**_users_own(before.get(place) or {}), **_speed(of.rates)}
        for place, of in learned.items()
    }
    origins = {
        place: {
            "tasks": of.rates.tasks,
            "runs": of.runs,
            "together": round(of.rates.together, 1),
            "date": of.day.isoformat(),
        }
        for place, of in learned.items()
    }
    whole = {
        **data,
        SPEEDS: {**sites, site: {**before, SLOTS: slots, **speeds}},
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


def _users_own(place: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in place.items() if name not in _OWN}


def _speed(rates: EffectiveRates) -> dict[str, Any]:
    """The keys of x-storage-speeds. Reading and writing are not told apart."""
    whole = rates.together
    found: dict[str, Any] = {
        "read": _rate(rates.bytes * whole),
        "write": _rate(rates.bytes * whole),
        "job_read": _rate(rates.bytes),
        "job_write": _rate(rates.bytes),
    }
    if math.isfinite(rates.calls):
        found["ops"] = f"{_number(rates.calls * whole)}/s"
        found["job_ops"] = f"{_number(rates.calls)}/s"
    found["error_percent"] = min(90, round(100 * rates.error))
    if rates.at_least:
        found["at_least"] = rates.at_least
    if rates.sizes:
        found["task_bytes"] = list(rates.sizes)
    return found


def _rate(value: float) -> str:
    return f"{_number(value / 1000)}KB/s"


def _number(value: float) -> int:
    return max(1, round(min(value, _FASTEST)))
