#!/usr/bin/env python3
"""A story on the simulator's kernel: is it better to write checkpoints in turn?

Three jobs compute, and write a checkpoint after each interval. All write to one burst
buffer, which shares its bandwidth fairly. In one story each job writes when it wants
to. In the other one a token goes round, and its holder writes alone. The measure is the
part of its time that each job computes.
"""

from random import Random

from pegasus_bb.forecast.fair_sharing import Lane, SharedServer
from pegasus_bb.forecast.simulated_clock import Simulation, Slots, Steps

SEED = 42
DAY = 24 * 3600.0  # seconds
GB = 1e9  # bytes

# The machine: one burst buffer.
BANDWIDTH = 100 * GB  # bytes per second, of all jobs together
OF_ONE_JOB = 80 * GB  # at most

# The jobs: name -> bytes of a checkpoint.
JOBS = {"small": 5_000 * GB, "middle": 20_000 * GB, "large": 40_000 * GB}
INTERVAL = 1800.0  # seconds of computing between two checkpoints
JITTER = 0.1  # an interval is longer or shorter by up to this part


class Machine:
    """The buffer, and the token that some jobs wait for."""

    def __init__(self, simulation: Simulation) -> None:
        self.writing = Lane(BANDWIDTH, OF_ONE_JOB)
        SharedServer(simulation, [self.writing])
        self.token = Slots(1)


class Job:
    """It computes and writes until the day is over."""

    def __init__(self, name: str, size: float, random: Random) -> None:
        self.name, self.size, self.random = name, size, random
        self.computed = 0.0  # seconds

    def run(self, machine: Machine, in_turn: bool) -> Steps:
        while True:
            pause = INTERVAL * self.random.uniform(1 - JITTER, 1 + JITTER)
            yield pause
            self.computed += pause
            if in_turn:
                yield machine.token.take()
            yield machine.writing.request(self.size)
            if in_turn:
                machine.token.give()


def simulate(in_turn: bool) -> list[Job]:
    simulation = Simulation()
    machine = Machine(simulation)
    random = Random(SEED)
    jobs = [Job(name, size, random) for name, size in JOBS.items()]
    for job in jobs:
        simulation.start(job.run(machine, in_turn))
    simulation.run(until=DAY)
    return jobs


def main() -> None:
    for in_turn in (False, True):
        print("in turn" if in_turn else "side by side")
        for job in simulate(in_turn):
            print(f"  {job.name:6}  {job.computed / DAY:.1%} of its time computes")


if __name__ == "__main__":
    main()
