"""Which stream each file goes to."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Hashable, Sequence
from itertools import accumulate
from math import exp
from random import Random

from pegasus_bb_lab.flash.stream_table import StreamTable
from pegasus_bb_lab.flash.trace import Files

LEGACY = "legacy"
USER = "user"
WORKFLOW = "workflow"
COHORT = "cohort"
LIFETIME = "lifetime"
DEATH = "death"
CLASSES = 4  # of lifetimes, as the kernel's hints: short, medium, long, extreme
_LONGEST = 0.99  # this share of files lives no longer than "the longest"

Assign = Callable[[Files, int], bytes]  # files, streams -> the stream of each file
Predicted = Callable[[float, int, Files, int], bytes]  # error, seed, then the same


def to_legacy(files: Files, streams: int) -> bytes:
    """No streams."""
    return bytes(len(files))


def by_table(keys: Callable[[Files], Sequence[Hashable]]) -> Assign:
    def assign(files: Files, streams: int) -> bytes:
        table = StreamTable(streams)
        return bytes(table.open(key) for key in keys(files))

    return assign


def by_lifetime(error: float, seed: int, files: Files, streams: int) -> bytes:
    """Classes of the remaining life, each with as many of the bytes."""
    borders = _borders(files, min(CLASSES, streams))
    return bytes(bisect(borders, life) for life in predict(files, error, seed))


def by_death(error: float, seed: int, files: Files, streams: int) -> bytes:
    """Files that die in the same window of time. The windows of all streams cover the
    longest lifetime, so that two windows seldom share a stream."""
    lives = sorted(_lives(files))
    window = max(1.0, lives[int(_LONGEST * len(lives))] / (streams - 1 or 1))
    lives = predict(files, error, seed)
    deaths = (a + b for a, b in zip(files.opened, lives, strict=True))
    return bytes(int(death / window) % streams for death in deaths)


def predict(files: Files, error: float, seed: int) -> list[float]:
    """The life of each file, off by a log-normal factor of sigma ``error``."""
    random = Random(f"{seed} lifetimes")  # noqa: S311 - no secret
    return [life * exp(error * random.gauss(0, 1)) for life in _lives(files)]


def _lives(files: Files) -> list[float]:
    return [b - a for a, b in zip(files.opened, files.deleted, strict=True)]


def _borders(files: Files, classes: int) -> list[float]:
    rows = sorted(zip(_lives(files), files.stripes, strict=True))
    sums = list(accumulate(stripes for _, stripes in rows))
    shares = (sums[-1] * place / classes for place in range(1, classes))
    return [rows[bisect(sums, share)][0] for share in shares]


WITHOUT_TIMES: dict[str, Assign] = {
    LEGACY: to_legacy,
    USER: by_table(lambda files: files.user),  # BIOS's own rule
    WORKFLOW: by_table(lambda files: files.workflow),
    COHORT: by_table(lambda files: list(zip(files.workflow, files.level, strict=True))),
}
PREDICTED: dict[str, Predicted] = {LIFETIME: by_lifetime, DEATH: by_death}
