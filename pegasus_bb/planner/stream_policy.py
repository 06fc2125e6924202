"""``streams: auto``: the policy with which flash copies the least.

pegasus_bb_lab simulates a flash device full of workflows like this one, with the
kernel's four streams and the known error of run times.
"""

from __future__ import annotations

from typing import NamedTuple

from pegasus_bb.core.plugins import STREAMS as ADDED
from pegasus_bb.core.plugins import plugin
from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.decide.lifetimes import LifetimeShare
from pegasus_bb.decide.run_times import LevelClock, times_error
from pegasus_bb.decide.stream_choice import OFF, STREAMS, files_on_tier, stream_of_life
from pegasus_bb.model.placement import Placement

_COHORT, _LIFETIME = "cohort", "lifetime"
_UNKNOWN = 0.5  # sigma of run times without a known error


class Life(NamedTuple):
    """A file of the workflow: bytes, and its first and last level, counted from 1.
    ``word``: the stream that policy lifetime gives it."""

    size: int
    first: int
    last: int
    word: int


def choose_policy(given: PlanningInput, placement: Placement) -> tuple[str, str]:
    """The policy, and why. If the error is unknown, only policies that need no run
    times compete; without pegasus_bb_lab it is cohort."""
    write_amplification = plugin(ADDED, "auto")
    if write_amplification is None:
        return _COHORT, "pegasus_bb_lab, which compares policies, is not installed"
    error = times_error(given)
    text = "unknown" if error is None else f"sigma {error:.2f}"
    ends = LevelClock.of(given).ends or tuple(range(1, given.levels + 1))
    wafs: dict[str, float] = write_amplification(
        lives(given, placement), ends, _UNKNOWN if error is None else error
    )
    if not wafs:
        return OFF, "no file of a known size lives on the tier"
    if error is None:
        del wafs[_LIFETIME]
    best = min(wafs, key=lambda policy: wafs[policy])
    listed = ", ".join(f"{policy} {waf:.3f}" for policy, waf in wafs.items())
    return best, f"the error of run times is {text}; simulated: {listed}"


def lives(given: PlanningInput, placement: Placement) -> list[Life]:
    """The lives of the files on the tier; an unknown size counts as the mean size."""
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
