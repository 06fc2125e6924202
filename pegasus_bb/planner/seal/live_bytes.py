"""Checks that a DAG in phases fits into its capacity in every legal order of its nodes.

Barriers run one after the other, and each ends a period. A node starts at the earliest
in the period after the last barrier above it, and ends at the latest with the first
barrier below it. A file can be on the tier from the earliest period of the node that
brings it to the latest period of the node that removes it. So no legal order has more
on the tier in a period than the files that can be there in that period.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import accumulate

from pegasus_bb.core.errors import NotSealed
from pegasus_bb.core.units import format_size
from pegasus_bb.model.dag.nodes import Dag
from pegasus_bb.planner.seal.lives import parents_first
from pegasus_bb.planner.seal.phases import SealedPhases


def check_phases(dag: Dag, phases: SealedPhases) -> None:
    """Raises NotSealed if more than the limit could be on the tier."""
    broken = [_message(phases, *each) for each in _overfull_periods(dag, phases)]
    if broken:
        raise NotSealed(
            "this DAG would fill the tier and is not submitted:\n"
            + "\n".join(f"  - {text}" for text in broken)
        )


def live_bytes(dag: Dag, phases: SealedPhases) -> list[int]:
    """The most that can be on the tier in each period. Linear. Raises NotSealed."""
    change = [0] * (len(phases.barriers) + 2)
    for lfn, (first, last) in _spans(dag, phases).items():
        change[first] += phases.lives.size[lfn]
        change[last + 1] -= phases.lives.size[lfn]
    return list(accumulate(change[:-1]))


def _overfull_periods(
    dag: Dag, phases: SealedPhases
) -> Iterator[tuple[int, int, list[str]]]:
    for period, held in enumerate(live_bytes(dag, phases)):
        if held > phases.limit:
            spans = _spans(dag, phases).items()
            yield period, held, [lfn for lfn, (a, z) in spans if a <= period <= z]


def _message(phases: SealedPhases, period: int, held: int, lfns: list[str]) -> str:
    largest = sorted(lfns, key=lambda lfn: -phases.lives.size[lfn])[:3]
    limit = f"{format_size(phases.limit)} ({phases.limit} bytes)"
    return (
        f"in phase {period + 1} of {len(phases.barriers) + 1} there could be "
        f"{format_size(held)} ({held} bytes) on the tier, and its capacity is {limit}. "
        f"The largest of these {len(lfns)} files are {', '.join(largest)}. More "
        "capacity, or --cleanup leaf, with which the files that are used the least go "
        "to the PFS"
    )


def _spans(dag: Dag, phases: SealedPhases) -> dict[str, tuple[int, int]]:
    """LFN -> the first and the last period in which it may be there."""
    order = parents_first(dag)
    number = {name: place for place, name in enumerate(phases.barriers)}
    earliest = _earliest(dag, order, number)
    for name, place in number.items():
        if earliest.get(name) != place:
            raise NotSealed(
                f"{name} does not wait for the clean-ups of the phase before its own, "
                "so more files could be on the tier than it has room for. Plan again"
            )
    latest = _latest(dag, order, number)
    return phases.lives.spans(earliest, latest, len(number))


def _earliest(dag: Dag, order: list[str], number: Mapping[str, int]) -> dict[str, int]:
    earliest = dict.fromkeys(order, 0)
    for name in order:
        after = number[name] + 1 if name in number else earliest[name]
        for child in dag.children.get(name, ()):
            earliest[child] = max(earliest[child], after)
    return earliest


def _latest(dag: Dag, order: list[str], number: Mapping[str, int]) -> dict[str, int]:
    latest: dict[str, int] = {}
    for name in reversed(order):
        below = (latest[child] for child in dag.children.get(name, ()))
        latest[name] = number.get(name, min(below, default=len(number)))
    return latest
