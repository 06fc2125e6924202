"""A job that is tried again asks for more of its node's disk.

DAGMan submits the same file at each try, and says which try it is (DAGNodeRetry, as
both planners write it). So the size is an expression, which HTCondor evaluates when it
reads the file. Memory is left alone: Pegasus takes no expression for it.
"""

from __future__ import annotations

import re

from pegasus_bb.model.disk_request import DISK, MEMORY, UNITS, DiskRequest
from pegasus_bb.model.placement import Placement
from pegasus_bb.planner.rewrite.disk_requests import ALONE

_MACRO = "bb_request"  # of the submit file
_TRY = "$(My.DAGNodeRetry:0)"
_QUEUE = re.compile(r"^queue\b", re.MULTILINE | re.IGNORECASE)


def with_growth(text: str, placement: Placement, job: str, growth: float) -> str:
    """The submit file ``text`` of ``job``, whose request is ``growth`` times as large
    at each further try, up to the tier's ``largest``."""
    tier = placement.job_tier
    request = tier.request
    own = placement.job_reservations.get(job)
    if request is None or own is None or growth == 1 or request.key == MEMORY:
        return text
    unit = request.unit
    if unit is None:
        return text
    most = tier.largest // UNITS[unit] if tier.largest else None
    if request.key == DISK:
        return _grown_disk(text, growth, most)
    return _grown_argument(text, request, own.capacity, (growth, most))


def _grown_disk(text: str, growth: float, most: int | None) -> str:
    """With the number that the file has: a larger one of the user's stays."""
    line = re.compile(rf"^{DISK} = (\d+)$", re.MULTILINE)
    return line.sub(
        lambda found: f"{DISK} = {_expression(int(found[1]), growth, most)}", text
    )


def _grown_argument(
    text: str, request: DiskRequest, size: int, limits: tuple[float, int | None]
) -> str:
    literal = ALONE.format(re.escape(request.of(size)))
    grown = request.with_number(f"$INT({_MACRO})")
    changed, count = re.subn(literal, lambda _: grown, text)
    if not count:
        return text
    line = f"{_MACRO} = {_expression(request.number(size), *limits)}\n"
    return _QUEUE.sub(lambda found: line + found[0], changed, count=1)


def _expression(first: int, growth: float, most: int | None) -> str:
    """A ClassAd expression, rounded up."""
    grown = f"{first} * pow({growth:g}, {_TRY})"
    if most is None:
        return f"ceiling({grown})"
    return f"ceiling(min({{{grown}, {max(first, most)}}}))"
