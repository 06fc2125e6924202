"""What eight users write on one burst buffer, by what the planner knows of their files.

Each user runs one workflow after another, and none of them is at the same level as the
next user. The hint of a file is the one of policy `lifetime` in the placement; it is
born and dies in the levels that the placement tells.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pegasus_bb.model.placement import HINTS, PlacedFile
from tests.support.user_files import User, job, sized, use

USERS = 8
LEVELS = 16
STEPS = 2 * LEVELS + LEVELS // 2  # in each of them every user does a level
JOBS = 4  # of a level
FILES = 20  # more of a level
MIB = 1 << 20


@dataclass
class Step:
    """What a user does in one level: write some files, then remove others."""

    born: list[tuple[str, int, int]] = field(default_factory=list)  # name, bytes, hint
    dying: list[str] = field(default_factory=list)


def campaign(folder: Path, seed: int) -> dict[str, Any]:
    """The steps of each user, and the most bytes that are alive at once. A guest makes
    them larger or smaller, by one factor, to fill its disk."""
    rng = random.Random(seed)
    users = [_steps_of(folder, rng, user * LEVELS // USERS) for user in range(USERS)]
    steps = [[vars(step) for step in user] for user in users]
    return {"seed": seed, "users": steps, "peak": _peak(users)}


def _steps_of(folder: Path, rng: random.Random, first: int) -> list[Step]:
    steps = [Step() for _ in range(STEPS)]
    for begin in range(first, STEPS, LEVELS):
        for file in _placed(folder, rng):
            name = f"{begin}-{file.lfn}"
            last = begin + file.cohort - 1
            born = last - file.lifetime + 1
            if born < STEPS:
                steps[born].born.append((name, file.size or 0, HINTS[file.stream]))
            if last < STEPS:
                steps[last].dying.append(name)
    for step in steps:
        rng.shuffle(step.born)
    return steps


def _placed(folder: Path, rng: random.Random) -> list[PlacedFile]:
    user = User(folder, defines=["pegasus.bb.mode=persistent"])
    user.tier["streams"] = "lifetime"
    user.jobs, inputs = _workflow(rng)
    user.replicas = {lfn: [{"site": "far", "pfn": f"http://x/{lfn}"}] for lfn in inputs}
    return list(user.decide().files.values())


def _workflow(rng: random.Random) -> tuple[list[dict[str, Any]], list[str]]:
    """Its jobs and its inputs. Of 24 files of a level, eleven are read by the next one,
    and nine some levels later. Four are read to the end: inputs that many levels use,
    and what the last jobs put together."""
    uses: dict[tuple[int, int], list[dict[str, Any]]] = {
        (level, number): [] for level in range(1, LEVELS + 1) for number in range(JOBS)
    }
    inputs = []
    for level in range(1, LEVELS + 1):
        for number in range(JOBS + FILES):
            lfn = f"f{level}.{number}"
            size = sized(_size(rng))
            chain = number < JOBS  # it leads from each job to one of the next level
            at = number if chain else rng.randrange(JOBS)
            until = min(level + 1, LEVELS) if chain else _last_reader(rng, level)
            staged_in = not chain and until == LEVELS and rng.random() < 0.5
            kind = "input" if staged_in else "output"
            more = {} if staged_in else {"stageOut": level == LEVELS}
            uses[level, at].append(use(lfn, kind, **size, **more))
            if until > level:
                uses[until, at].append(use(lfn, "input"))
            if staged_in:
                inputs.append(lfn)
    jobs = [job(f"J{level}.{number}", *of) for (level, number), of in uses.items()]
    return jobs, inputs


def _last_reader(rng: random.Random, level: int) -> int:
    """A level, for a file that is not of the chain."""
    drawn = rng.random()
    if drawn < 0.33:
        return min(level + 1, LEVELS)
    if drawn < 0.8:
        return min(level + rng.randint(LEVELS // 4 + 1, LEVELS // 2), LEVELS)
    return LEVELS


def _size(rng: random.Random) -> int:
    return int(rng.lognormvariate(0, 0.5) * MIB)


def _peak(users: list[list[Step]]) -> int:
    alive = peak = 0
    sizes: dict[tuple[int, str], int] = {}
    for step in range(STEPS):
        for number, user in enumerate(users):
            for name, size, _ in user[step].born:
                sizes[number, name] = size
                alive += size
        peak = max(peak, alive)
        for number, user in enumerate(users):
            alive -= sum(sizes.pop((number, name)) for name in user[step].dying)
    return peak
