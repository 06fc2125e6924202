"""Rates that were learned from runs of other workflows: how far they hold for this one.

What a task spends on calls looks like a slow place if its files are small, and a place
that is fast for large files is not for small ones. So rates that were learned from
tasks of other sizes are known to an order of magnitude. On two cores the tasks of
1000genome, of 1 to 50 MB, had 0.22 GB/s of the PFS, and that of CyberShake which writes
1 GB had 1.3 GB/s.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median

from pegasus_bb.core.units import format_size
from pegasus_bb.forecast.workflow.workload import Workload
from pegasus_bb.model.history import History
from pegasus_bb.model.speeds import BYTES, Speed, Speeds

_FAR = 10  # times the bytes of tasks, and as many times the rates
_OWN_START = 1 << 20  # bytes that a count may have of the program itself


def as_they_hold(speeds: Speeds, work: Workload, history: History) -> Speeds:
    """``speeds``, with a larger error where they were learned from unlike tasks. Where
    tasks of ``history`` ran, those tell: then no bound widens it."""
    sizes = _task_sizes(work)
    own = _places_of(history)
    places: dict[str, Speed] = {}
    for name, speed in speeds.places.items():
        places[name] = speed
        if name in own:
            places[name] = replace(speed, least=())
        elif _is_unlike(speed, sizes):
            places[name] = replace(speed, error=max(speed.error, _FAR - 1))
    return replace(speeds, places=places)


def rates_remarks(
    speeds: Speeds, work: Workload, history: History, used: Collection[str]
) -> Iterator[str]:
    """What is to be said of the rates of the places ``used``."""
    sizes = _task_sizes(work)
    own = _places_of(history)
    for name, speed in speeds.places.items():
        if name not in used or name in own:
            continue
        if speed.task_bytes and _is_unlike(speed, sizes):
            learned = " to ".join(dict.fromkeys(map(format_size, speed.task_bytes)))
            yield (
                f"the rates of {name} were learned from tasks of {learned}, and here "
                f"they have up to {format_size(max(sizes))}: it may be {_FAR} times "
                "as fast, or as slow"
            )
        if speed.least:
            yield _bound(name, speed)


def _bound(name: str, speed: Speed) -> str:
    known: Mapping[str, float] = dict(speed.least)
    if speed.at_least == BYTES:
        least = f"{format_size(int(known['job_read']))}/s"
    else:
        least = f"{known['job_ops']:,.0f}/s"
    return (
        f"the {speed.at_least} a second of {name} were not measured: a job has at "
        f"least {least}"
    )


def _is_unlike(speed: Speed, sizes: Sequence[int]) -> bool:
    if not speed.task_bytes or not sizes:
        return False
    least, most = speed.task_bytes
    usual = max(_OWN_START, median(sizes))
    return max(sizes) > _FAR * most or _FAR * usual < least


def _task_sizes(work: Workload) -> list[int]:
    sizes = (load.read + load.written for load in work.loads)
    return [size for size in sizes if size]


def _places_of(history: History) -> set[str]:
    runs = (history, *history.others)
    return {run.place for run in runs if run.jobs or run.transformations}
