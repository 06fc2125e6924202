"""The disk of the service's state takes no more: memory says what the disk says."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any, NoReturn, cast

import pytest

from pegasus_bb.core.units import MIB
from pegasus_bb.stager.slurm.buffers import Buffer, Buffers
from pegasus_bb.stager.slurm.granted_space import Pools
from pegasus_bb.stager.slurm.job import SlurmJob
from pegasus_bb.stager.slurm.job_storage import JobStorage
from pegasus_bb.stager.slurm.slurm_config import GranulePool
from pegasus_bb.stager.store import Records
from tests.support.fakelua.site import TrashNow, store_in

ME = os.getuid()


def full(*_: Any) -> NoReturn:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "state")


class State:
    """Buffers in a pool of 10 MiB."""

    def __init__(self, folder: Path) -> None:
        self.bb = folder / "bb"
        self.bb.mkdir()
        self.store, self.trash = store_in(folder), TrashNow()
        pool = GranulePool("flash", str(self.bb), 10 * MIB, MIB)
        buffers = Records(self.store, Buffer)
        self.jobs = Records(self.store, SlurmJob)
        self.pools = Pools([pool], self.trash, [buffers, self.jobs])
        self.buffers = Buffers(buffers, self.pools, self.trash, lambda: None)

    def create(self) -> dict[str, Any]:
        return vars(self.buffers.create(ME, os.getgid(), "data", 6 * MIB, "u1", ""))

    def free(self) -> int:
        return self.pools.free(self.pools.pool("")) // MIB


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State(tmp_path)


def test_a_buffer_that_cannot_be_noted_was_never_asked_for(
    state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as disk, pytest.raises(OSError):
        disk.setattr(state.store, "write_now", full)
        state.create()
    assert state.buffers.as_json() == state.store.records("Buffer") == []
    assert (state.free(), [*state.bb.iterdir()]) == (10, [])
    assert state.create()["state"] == "ready"
    assert state.buffers.as_json() == state.store.records("Buffer")


def test_a_job_that_cannot_be_noted_has_nothing(
    state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = ({}, state.pools, state.buffers, state.trash, cast(Any, None), state.jobs)
    job = SlurmJob(7, ME, os.getgid())
    job.lines = ["#BB_LUA jobbb capacity=2MiB pool=flash"]
    with monkeypatch.context() as disk:
        disk.setattr(state.store, "write_now", full)
        for _ in range(2):
            with pytest.raises(OSError):
                JobStorage(*parts).make(job)
            assert (job.folder, state.free(), [*state.bb.iterdir()]) == ("", 10, [])
    JobStorage(*parts).make(job)
    assert (job.folder, state.free()) == ("job.7", 8)
