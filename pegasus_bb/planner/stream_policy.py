"""``streams: auto``: the policy with which flash copies the least.

It simulates a flash device full of workflows like this one, with the kernel's four
streams (simulation/flash/planned_load.py) and the known error of run times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pegasus_bb.model.placement import Placement
from pegasus_bb.placement.decision import PlanningInput
from pegasus_bb.placement.lifetimes import LifetimeShare
from pegasus_bb.placement.run_times import LevelClock, times_error
from pegasus_bb.placement.stream_choice import (
    OFF,
    STREAMS,
    files_on_tier,
    stream_of_life,
)

if TYPE_CHECKING:
    from pegasus_bb.simulation.flash.planned_load import Life

_UNKNOWN = 0.5  # sigma of run times without a known error


def choose_policy(given: PlanningInput, placement: Placement) -> tuple[str, str]:
    """The policy, and why. If the error is unknown, only policies that need no run
    times compete."""
    from pegasus_bb.simulation.flash.planned_load import LIFETIME, planned_load

    error = times_error(given)
    text = "unknown" if error is None else f"sigma {error:.2f}"
    ends = LevelClock.of(given).ends or tuple(range(1, given.levels + 1))
    load = planned_load(
        lives(given, placement), ends, _UNKNOWN if error is None else error
    )
    if load is None:
        return OFF, "no file of a known size lives on the tier"
    wafs = load.wafs()
    if error is None:
        del wafs[LIFETIME]
    best = min(wafs, key=lambda policy: wafs[policy])
    listed = ", ".join(f"{policy} {waf:.3f}" for policy, waf in wafs.items())
    return best, f"the error of run times is {text}; simulated: {listed}"


def lives(given: PlanningInput, placement: Placement) -> list[Life]:
    """The lives of the files on the tier; an unknown size counts as the mean size."""
    from pegasus_bb.simulation.flash.planned_load import Life

    files, share = files_on_tier(placement), LifetimeShare(given)
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
