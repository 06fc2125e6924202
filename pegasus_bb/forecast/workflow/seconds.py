"""What a simulated run did in every second, each second counted once."""

from __future__ import annotations

from pegasus_bb.forecast.kernel import Simulation

PARTS = ("wait", "compute", "stage_in", "stage_out", "other")
WAIT, COMPUTE, STAGE_IN, STAGE_OUT, OTHER = range(len(PARTS))


class Clock:
    """A second belongs to the first of PARTS that is under way in it."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._since = 0.0
        self._going = [0] * len(PARTS)
        self.seconds = [0.0] * len(PARTS)

    def change(self, part: int, step: int) -> None:
        going = self._going[part]
        now = self._simulation.now
        if going > 1 or (going and step > 0):  # it goes on: nothing changes hands
            self._going[part] = going + step
            return
        if now > self._since:
            part_now = OTHER
            for each in (WAIT, COMPUTE, STAGE_IN, STAGE_OUT):
                if self._going[each]:
                    part_now = each
                    break
            self.seconds[part_now] += now - self._since
            self._since = now
        self._going[part] += step
