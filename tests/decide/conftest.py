from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.user_files import User, job, sized, use

MADE = ("in", "a", "b", "c", "out")


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


@pytest.fixture
def chain(user: User) -> User:
    """in -> a -> b -> c -> out of 10 bytes each; the first and the last job read
    `kept`."""
    user.jobs = [
        job(
            f"J{n}",
            use(reads, "input", **sized(10)),
            use(writes, "output", stageOut=writes == "out", **sized(10)),
        )
        for n, (reads, writes) in enumerate(pairwise(MADE))
    ]
    for entry in (user.jobs[0], user.jobs[-1]):
        entry["uses"].append(use("kept", "input", **sized(10)))
    user.defines = ["pegasus.bb.mode=persistent"]
    replica = [{"site": "far", "pfn": "http://x/y"}]
    user.replicas = dict.fromkeys((*MADE, "kept"), replica)
    return user
