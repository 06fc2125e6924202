"""``streams: auto``: the policy with which a flash drive copies the least.

Write amplification with 40 workflows of four users at a time on eight streams, 92 % of
the drive in use, simulated over a page-mapped translation layer with greedy collection
(docs/streams.md). A simulation of the files at hand can take the place of the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean

# Need no times; each figure is of another seed.
_WITHOUT_TIMES = {"workflow": (1.142, 1.109, 1.078), "cohort": (1.135, 1.124, 1.095)}
# Four classes of remaining life, by the sigma of ln(predicted / true life).
_LIFETIME = ((0.0, 1.108), (0.5, 1.194), (1.0, 1.263))


def choose_policy(lives: Sequence[float], error: float | None) -> tuple[str, str]:
    """The policy, and why. ``lives``: of each file, as a part of the workflow.
    ``error``: sigma of ln(seconds) of the predicted lives; None if it is unknown."""
    found = {policy: fmean(each) for policy, each in _WITHOUT_TIMES.items()}
    if error is not None and len(set(lives)) > 1:
        found["lifetime"] = _between(error)
    best = min(found, key=lambda policy: found[policy])
    known = "unknown" if error is None else f"sigma {error:.2f}"
    return best, f"the error of run times is {known}, {_listed(found)}"


def _between(error: float) -> float:
    """The table's figure, by a line between its rows and beyond the last."""
    rows = pairwise(_LIFETIME)
    (x, y), (next_x, next_y) = next(
        (pair for pair in rows if error <= pair[1][0]), _LIFETIME[-2:]
    )
    return y + (error - x) * (next_y - y) / (next_x - x)


def _listed(found: dict[str, float]) -> str:
    return ", ".join(f"{policy} {factor:.3f}" for policy, factor in found.items())
