"""The disk of the service's state takes no more: memory says what the disk says."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn, cast

import pytest

from pegasus_bb.core.files import write_json
from pegasus_bb.stager.slurm import buffers as module
from pegasus_bb.stager.slurm.buffers import Buffers, read_buffers
from pegasus_bb.stager.slurm.granted_space import Pools
from pegasus_bb.stager.slurm.job import SlurmJob
from pegasus_bb.stager.slurm.job_storage import JobStorage
from pegasus_bb.stager.slurm.slurm_config import GranulePool
from tests.support.fakelua.site import TrashNow

ME = os.getuid()
MIB = 1 << 20


class State:
    """Buffers in a pool of 10 MiB, and a disk that can be full."""

    def __init__(self, folder: Path) -> None:
        self.path, self.bb = folder / "buffers.json", folder / "bb"
        self.bb.mkdir()
        self.room = 1000  # times that the disk takes something
        self.freed = 0  # times that space came back
        self.rest: list[Callable[[], None]] = []  # of removals
        self.at_once = True
        self.begin()

    def begin(self) -> None:
        """The service is started."""
        self.pools = Pools([GranulePool("flash", str(self.bb), 10 * MIB, MIB)])
        trash = TrashNow()
        trash._remove = self.remove  # type: ignore[method-assign]
        self.buffers = Buffers(str(self.path), self.pools, trash, self.free_one)
        self.buffers.resume()

    def write(self, path: str, data: Any, *mode: int) -> None:
        self.room -= 1
        if self.room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
        write_json(path, data, *mode)

    def remove(self, path: str, then: Callable[[], None]) -> None:
        Path(path).rmdir()
        if self.at_once:
            then()
        else:
            self.rest.append(then)

    def free_one(self) -> None:
        self.freed += 1

    def create(self, name: str = "data", size: int = 6) -> dict[str, Any]:
        return self.buffers.create(ME, os.getgid(), name, size * MIB, "u1", "")

    def names(self) -> dict[str, str]:
        """Name -> state; memory and disk agree."""
        in_memory = self.buffers.as_json()
        assert read_buffers(str(self.path)) == in_memory
        return {record["name"]: record["state"] for record in in_memory}

    def free(self) -> int:
        return self.pools.free(self.pools.pool("")) // MIB

    def check_all_again(self) -> None:
        """There is room again, and a new service knows the same."""
        self.room = 1000
        self.buffers.resume()
        before = self.names(), self.free()
        self.begin()
        assert (self.names(), self.free()) == before


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[State]:
    found = State(tmp_path)
    monkeypatch.setattr(module, "write_json", found.write)
    yield found
    found.check_all_again()


def test_a_buffer_that_cannot_be_noted_was_never_asked_for(state: State) -> None:
    state.room = 0
    with pytest.raises(OSError):
        state.create()
    assert (state.names(), state.free(), [*state.bb.iterdir()]) == ({}, 10, [])
    state.room = 1000
    assert state.create()["state"] == "ready"


def test_one_that_cannot_be_granted_waits(state: State) -> None:
    state.room = 1
    assert state.create()["state"] == "pending"
    assert (state.names(), state.free()) == ({"data": "pending"}, 10)
    state.room = 1000
    state.buffers.resume()
    assert (state.names(), state.free()) == ({"data": "ready"}, 4)


def test_one_whose_folder_cannot_be_made_keeps_no_other_waiting(state: State) -> None:
    (state.bb / "data").touch()
    os.chown(state.bb / "data", ME + 1, -1) if ME == 0 else None
    if ME != 0:
        state.bb.chmod(0o500)
    assert state.create()["state"] == "pending"
    state.bb.chmod(0o700)
    assert state.create("other", 9)["state"] == "ready"
    assert state.names() == {"data": "pending", "other": "ready"}


def test_a_deletion_whose_end_cannot_be_noted_is_ended_later(state: State) -> None:
    state.create()
    state.create("next")
    state.room = 1
    state.buffers.delete(ME, "data")
    assert state.names() == {"data": "deleting", "next": "pending"}
    assert (state.free(), state.freed) == (4, 0)
    state.room = 1000
    state.buffers.resume()
    assert (state.names(), state.free()) == ({"next": "ready"}, 4)
    assert state.freed == 1


def test_a_folder_that_cannot_be_taken_away_is_taken_away_later(
    state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    state.create()

    def rename(*_: str) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO), "data")

    with monkeypatch.context() as broken:
        broken.setattr(os, "rename", rename)
        state.buffers.delete(ME, "data")
        assert (state.names(), state.free()) == ({"data": "deleting"}, 4)
    state.buffers.resume()
    assert (state.names(), state.free()) == ({}, 10)


def test_while_a_folder_is_being_removed_its_space_is_not_free(state: State) -> None:
    state.at_once = False
    state.create()
    for _ in range(3):
        state.buffers.delete(ME, "data")
        state.buffers.resume()
        assert (state.names(), state.free()) == ({"data": "deleting"}, 4)
    [then] = state.rest
    then()
    assert (state.names(), state.free()) == ({}, 10)


def full(*_: Any) -> NoReturn:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "state")


def test_a_job_that_cannot_be_noted_has_nothing(state: State) -> None:
    parts = ({}, state.pools, state.buffers, TrashNow(), cast(Any, None))
    job = SlurmJob(7, ME, os.getgid())
    job.lines = ["#BB_LUA jobbb capacity=2MiB pool=flash"]
    for save in (full, full, lambda job: None):
        assert (job.folder, state.free(), [*state.bb.iterdir()]) == ("", 10, [])
        with suppress(OSError):
            JobStorage(*parts, save, state.free_one).make(job)
    assert (job.folder, state.free()) == ("job.7", 8)
    state.pools.release(f"job.7 of {job.life}", "flash")
