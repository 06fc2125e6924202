"""``streams: auto``: the policy with which flash copies the least.

Simulated: flash that is full of workflows like this one, with the kernel's four streams
(simulation/flash/planned_load.py), and with run times as far off as is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pegasus_bb.model.placement import Placement
from pegasus_bb.placement.decision import PlanningInput
from pegasus_bb.placement.lifetimes import Share
from pegasus_bb.placement.run_times import LevelClock, times_error
from pegasus_bb.placement.stream_choice import (
    OFF,
    STREAMS,
    files_on_tier,
    stream_of_life,
)

if TYPE_CHECKING:
    from pegasus_bb.simulation.flash.planned_load import Life

_UNKNOWN = 0.5  # sigma of run times of which nothing is known


def choose_policy(given: PlanningInput, placement: Placement) -> tuple[str, str]:
    """The policy, and why. Without a known error it is one that needs no times."""
    from pegasus_bb.simulation.flash.planned_load import LIFETIME, planned_load

    error = times_error(given)
    known = "unknown" if error is None else f"sigma {error:.2f}"
    ends = LevelClock.of(given).ends or tuple(range(1, given.levels + 1))
    load = planned_load(
        lives(given, placement), ends, _UNKNOWN if error is None else error
    )
    if load is None:
        return OFF, "no file of a known size lives on the tier"
    found = load.wafs()
    if error is None:
        del found[LIFETIME]
    best = min(found, key=lambda policy: found[policy])
    listed = ", ".join(f"{policy} {waf:.3f}" for policy, waf in found.items())
    return best, f"the error of run times is {known}; simulated: {listed}"


def lives(given: PlanningInput, placement: Placement) -> list[Life]:
    """A file whose size is unknown counts as a mean one."""
    from pegasus_bb.simulation.flash.planned_load import Life

    files, share = files_on_tier(placement), Share(given)
    sizes = [file.size for file in files if file.size is not None]
    usual = sum(sizes) // len(sizes) if sizes else 1
    return [
        Life(
            usual if file.size is None else file.size,
            file.cohort - file.lifetime + 1,
            file.cohort,
            STREAMS.index(stream_of_life(share, file)),
        )
        for file in files
    ]
