"""The evenest draining that is never late: the line to compare every policy with."""

from __future__ import annotations

from collections.abc import Iterable

from pegasus_bb.forecast.drain_windows import Gap, Point, taut_string
from pegasus_bb_lab.provision.application_dumps import Client, dumps_of


def optimum(clients: Iterable[Client]) -> list[Point]:
    """The bytes that are drained at each corner of the taut string.

    At every moment, at most what was made and at least what is due is drained. Each
    policy that is never late obeys that, so none has a lower peak. The string knows the
    future, and only the sums of all dumps: if a later dump is due before an earlier
    one, even the best order of them may need more.
    """
    return taut_string(production_and_deadline(clients))


def production_and_deadline(clients: Iterable[Client]) -> list[Gap]:
    """Both are steps. The string has to pass below a step of the production at its
    foot, and above a step of the deadline at its top."""
    dumps = dumps_of(clients)
    steps: dict[float, list[int]] = {}  # seconds -> bytes made, bytes due
    for dump in dumps:
        steps.setdefault(dump.made, [0, 0])[0] += dump.size
        steps.setdefault(dump.due, [0, 0])[1] += dump.size
    made = 0
    due = 0
    gaps = []
    for time in sorted(steps):
        if time > 0:
            gaps.append(Gap(time, due + steps[time][1], made))
        made += steps[time][0]
        due += steps[time][1]
    return gaps
