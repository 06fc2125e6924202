"""All policies on the same dumps and the same target."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from random import Random

from pegasus_bb.core.units import format_number
from pegasus_bb.forecast.drain_windows import peak
from pegasus_bb_lab.model.applications import (
    AGGRESSIVE,
    Application,
    DrainingInput,
    Target,
)
from pegasus_bb_lab.provision.application_dumps import draw_clients
from pegasus_bb_lab.provision.application_map import least_stripes
from pegasus_bb_lab.provision.drain_outcome import Outcome
from pegasus_bb_lab.provision.optimum import optimum
from pegasus_bb_lab.provision.proactive import Proactive
from pegasus_bb_lab.provision.provision import provision
from pegasus_bb_lab.provision.reactive import Reactive

_INTERVALS = 4  # of the longest, in one run
_WINDOW = 10.0  # seconds at least, else a thousandth of the longest interval
_MOST = 5_000_000  # segments and dumps of one run: about a minute


@dataclass(frozen=True, slots=True)
class Comparison:
    """Of one seed. ``optimum`` is a peak in bytes per second that no draining without
    late dumps can stay below."""

    reactive: Outcome
    proactive: Outcome
    optimum: float


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one policy, over several seeds."""

    peaks: tuple[float, ...]  # bytes per second, the mean of a window, of each seed
    late: int
    dumps: int
    latest: float  # seconds after it was due; 0 if none is late


@dataclass(frozen=True, slots=True)
class PolicyFigures:
    """Bytes per second of all targets together."""

    groups: int  # targets
    window: float  # seconds
    load: float
    reactive: Figures
    proactive: Figures
    optimum: tuple[float, ...]  # the peak of each seed


def compare_policies(
    target: Target, applications: Iterable[Application], until: float, seed: int
) -> Comparison:
    """Dumps are made until the second ``until``; the seed says when each begins."""
    clients = draw_clients(applications, until, Random(seed))  # noqa: S311 - no secret
    return Comparison(
        Reactive(target).run(clients),
        Proactive(target).run(clients),
        peak(optimum(clients)),
    )


def figures(outcomes: Sequence[Outcome], window: float) -> Figures:
    delays = (
        end - dump.due
        for outcome in outcomes
        for dump, end in zip(outcome.dumps, outcome.ends, strict=True)
    )
    return Figures(
        peaks=tuple(outcome.peak(window) for outcome in outcomes),
        late=sum(len(outcome.late()) for outcome in outcomes),
        dumps=sum(len(outcome.dumps) for outcome in outcomes),
        latest=max([0.0, *delays]),
    )


def simulate_policies(
    wanted: DrainingInput, seeds: int, done: Callable[[int, int], None]
) -> PolicyFigures:
    """One of the targets that ``wanted`` needs with the aggressive strategy; every
    application drains an equal part to each. ``done`` is told of every run.

    Raises CatalogError: an overload, or too many segments to simulate.
    """
    found = provision(wanted)
    groups = ceil(found.strategies[AGGRESSIVE].groups)
    target = wanted.targets[AGGRESSIVE]
    parts = [
        replace(each, size=ceil(each.size / groups)) for each in wanted.applications
    ]
    longest = max(each.interval for each in parts)
    until = _INTERVALS * longest
    window = max(_WINDOW, longest / 1000)
    _check_effort(wanted, target, parts, until)
    runs = []
    for seed in range(seeds):
        runs.append(compare_policies(target, parts, until, seed))
        done(seed + 1, seeds)
    return PolicyFigures(
        groups=groups,
        window=window,
        load=found.ideal,
        reactive=_times(groups, figures([run.reactive for run in runs], window)),
        proactive=_times(groups, figures([run.proactive for run in runs], window)),
        optimum=tuple(groups * run.optimum for run in runs),
    )


def _times(groups: int, one: Figures) -> Figures:
    """All targets have the same dumps at the same time, so their peaks add up."""
    return replace(one, peaks=tuple(groups * each for each in one.peaks))


def _check_effort(
    wanted: DrainingInput, target: Target, parts: Sequence[Application], until: float
) -> None:
    """Segments are no smaller than those of an application that is alone."""
    segments = []
    for each in parts:
        n_io = least_stripes(target, each.size / each.interval) or target.upper
        of_a_dump = each.size / (n_io * target.stripe) + 1
        segments.append(until / each.interval * of_a_dump)
    if sum(segments) > _MOST:
        place = segments.index(max(segments))
        raise wanted.document.error(
            f"a run of {format_number(sum(segments), 2)} segments takes too long to "
            "simulate",
            ["applications", place],
            parts[place].name,
            "larger stripes, a longer interval, or smaller dumps",
        )
