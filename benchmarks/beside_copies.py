"""How much slower a job on every processor is while the service copies beside it.

The speed of a processor differs by a third from minute to minute on a shared machine.
So one job runs all the time, and the service is paused and resumed beneath it: each
time of copying is held against the quiet times before and after it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from statistics import mean, median
from typing import Any, NamedTuple

from pegasus_bb.core.units import MIB
from pegasus_bb.runtime.stager_client.client import Client

TURNS = 80  # times of copying, each between two quiet ones
TURN = 0.25  # seconds of one
SETTLES = 0.1  # of them, until a pause or its end has taken effect
# more than the service copies meanwhile
SIZE = 32 * MIB
TASKS = 100
# Prints when each small piece of its work began, and its seconds.
JOB = """
import hashlib, json, sys, time
pieces, digest, began = [], bytes(4096), time.time()
end = began + float(sys.argv[1])
while began < end:
    for _ in range(1500):
        digest = hashlib.sha256(digest).digest()
    ended = time.time()
    pieces.append((began, ended - began))
    began = ended
print(json.dumps(pieces))
"""
Pieces = list[tuple[float, float]]


class Turn(NamedTuple):
    """A time in which the service copied, or in which it was paused. Unix times."""

    begins: float
    ends: float

    def piece(self, pieces: Pieces) -> float:
        """Seconds that a piece of the job's work took."""
        inside = [
            took
            for began, took in pieces
            if self.begins + SETTLES <= began and began + took <= self.ends
        ]
        return mean(inside)


def slowdown(
    client: Client, copy_of: Callable[[int], dict[str, Any]]
) -> tuple[float, float]:
    """The median, over all turns and processors, of a job's seconds beside copies for
    one second of the job alone; and the bytes a second that went meanwhile.
    ``copy_of`` makes a task of SIZE bytes, each to another place."""
    client.ask("pause")
    numbers = client.submit([copy_of(number) for number in range(TASKS)])
    argv = [sys.executable, "-c", JOB, str((2 * TURNS + 3) * TURN)]
    jobs = [
        subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        for _ in range(os.cpu_count() or 1)
    ]
    time.sleep(TURN)  # they start
    turns = [turn(client, ("pause", "resume")[n % 2]) for n in range(2 * TURNS + 1)]
    pieces = [json.loads(job.communicate()[0]) for job in jobs]
    done = sum(task["state"] == "done" for task in client.status(numbers))
    client.cancel(numbers)
    client.ask("resume")
    slower = median(ratio for job in pieces for ratio in ratios(turns, job))
    return slower, done * SIZE / (TURNS * TURN)


def turn(client: Client, word: str) -> Turn:
    """The next one, which begins with ``word`` to the service."""
    client.ask(word)
    begins = time.time()
    time.sleep(TURN)
    return Turn(begins, time.time())


def ratios(turns: list[Turn], pieces: Pieces) -> Iterator[float]:
    """Of each turn of copying to the quiet ones before and after it."""
    took = [turn.piece(pieces) for turn in turns]
    for before, beside, after in zip(took[::2], took[1::2], took[2::2], strict=False):
        yield 2 * beside / (before + after)
