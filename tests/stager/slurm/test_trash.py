"""Folders go, whatever their users do meanwhile."""

from __future__ import annotations

import asyncio
import errno
import os
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, cast
from unittest.mock import Mock

import pytest

from pegasus_bb.core.removal import remove
from pegasus_bb.stager.slurm import space_folders
from pegasus_bb.stager.slurm.granted_space import Pools
from pegasus_bb.stager.slurm.job import SlurmJob
from pegasus_bb.stager.slurm.job_storage import JobStorage
from pegasus_bb.stager.slurm.slurm_config import GranulePool
from pegasus_bb.stager.slurm.space_folders import Trash
from pegasus_bb.stager.store import Records, Store
from tests.support.fakelua.site import store_in

MIB = 1 << 20
ANN = 61001
PATIENCE = 10  # seconds


@pytest.fixture
def pool(tmp_path: Path) -> GranulePool:
    (tmp_path / "bb").mkdir()
    return GranulePool("flash", str(tmp_path / "bb"), 10 * MIB, MIB)


class Garbage:
    """What cannot be removed until it is ``mended``."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.why, self.tries = "", 0
        self.endless = set[str]()  # names of those with which no slice is enough
        monkeypatch.setattr(space_folders, "remove", self.remove)
        monkeypatch.setattr(space_folders, "_AGAIN", 0.02)

    def remove(self, path: str, deadline: float) -> None:
        self.tries += 1
        if path.rpartition(".gone.")[2].partition(".")[0] in self.endless:
            time.sleep(0.01)
            raise TimeoutError("not emptied in time")
        if self.why:
            raise OSError(errno.EBUSY, self.why, path)
        remove(path, deadline)


@pytest.fixture
def garbage(monkeypatch: pytest.MonkeyPatch) -> Garbage:
    return Garbage(monkeypatch)


async def is_so(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until
        await asyncio.sleep(0.01)


def test_what_cannot_be_removed_is_named_once_and_tried_again(
    pool: GranulePool, garbage: Garbage, capfd: pytest.CaptureFixture[str]
) -> None:
    gone, garbage.why = list[str](), "it is busy"
    (Path(pool.path) / "data").mkdir()

    async def drop() -> None:
        trash = Trash(asyncio.get_running_loop(), [pool], bool)
        trash.drop(pool, "data", lambda: gone.append("data"))
        await is_so(lambda: garbage.tries > 3)
        assert gone == []
        trash.drop(pool, "data", lambda: gone.append("data, asked again"))
        assert gone == []
        garbage.why = ""
        await is_so(lambda: gone == ["data", "data, asked again"])

    asyncio.run(drop())
    said = capfd.readouterr().err
    assert said.count("not removed") == 1 and ": it is busy" in said


def test_removals_without_end_keep_no_other_waiting(
    pool: GranulePool, garbage: Garbage
) -> None:
    gone, garbage.endless = list[str](), {"a", "b", "c"}
    for name in "abcd":
        (Path(pool.path) / name).mkdir()

    async def drop() -> None:
        trash = Trash(asyncio.get_running_loop(), [pool], bool)
        for name in "abcd":
            trash.drop(pool, name, partial(gone.append, name))
        await is_so(lambda: gone == ["d"])
        garbage.endless.clear()
        await is_so(lambda: sorted(gone) == ["a", "b", "c", "d"])

    asyncio.run(drop())


class Life:
    """A service's pool, and the jobs that have a part of it."""

    def __init__(self, pool: GranulePool, store: Store) -> None:
        self.trash = Trash(asyncio.get_running_loop(), [pool], bool)
        self.jobs = Records(store, SlurmJob)
        self.pools = Pools([pool], self.trash, [self.jobs])
        others = (cast(Any, Mock()), self.trash, cast(Any, Mock()))
        self.storage = JobStorage({}, self.pools, *others, self.jobs)

    def end(self, job: SlurmJob) -> None:
        self.storage.end(job)


def test_space_is_in_use_until_its_bytes_are_gone(
    pool: GranulePool, garbage: Garbage, tmp_path: Path
) -> None:
    """Of a job that runs once more, and of one that a later service has forgotten."""

    def job() -> SlurmJob:
        found = SlurmJob(7, os.getuid(), os.getgid())
        found.lines = ["#BB_LUA jobbb capacity=4MiB pool=flash"]
        return found

    async def first_service() -> None:
        life = Life(pool, store)
        pools = life.pools
        first = job()
        second = job()
        second.noted_at += 60
        assert life.storage.make(first)
        life.end(first)
        assert life.storage.make(second) and pools.free(pool) == 2 * MIB
        garbage.why = ""
        await is_so(lambda: pools.free(pool) == 6 * MIB)
        garbage.why = "it is busy"
        life.end(second)
        await is_so(lambda: garbage.tries > 5)
        assert pools.free(pool) == 6 * MIB

    async def later_service() -> None:
        pools = Life(pool, store).pools
        assert pools.free(pool) == 6 * MIB
        await is_so(lambda: garbage.tries > 10)
        garbage.why = ""
        await is_so(lambda: pools.free(pool) == 10 * MIB)

    garbage.why = "it is busy"
    with closing(store_in(tmp_path / "state")) as store:
        asyncio.run(first_service())
        asyncio.run(later_service())
    assert list(Path(pool.path).iterdir()) == []
