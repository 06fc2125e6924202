"""A tier whose quota is above what its file system holds."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from pegasus_bb.core.errors import ReservationFailed
from pegasus_bb.core.units import MIB
from pegasus_bb.model.reservation import Request, State
from pegasus_bb.runtime.backends.folder_tier import FolderBackend
from tests.support.backend_contract import REQUEST

ONE = REQUEST._replace(capacity=8 * MIB)
OTHER = ONE._replace(name="pbbother", uuid="other")
TOO_LARGE = ONE._replace(capacity=20 * MIB)


class Disk:
    def __init__(self, root: Path) -> None:
        self.free = 16 * MIB
        self.tier = FolderBackend({"path": str(root), "quota": "1GiB"})

    def statvfs(self, path: object) -> SimpleNamespace:
        return SimpleNamespace(f_bavail=self.free // 4096, f_frsize=4096)

    def state(self, request: Request) -> State:
        return self.tier.status(request).state


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    disk = Disk(tmp_path)
    monkeypatch.setattr(os, "statvfs", disk.statvfs)
    return disk


def test_more_than_the_file_system_holds_is_refused(disk: Disk) -> None:
    with pytest.raises(ReservationFailed, match=r"has 16\.0 MiB in all"):
        disk.tier.create(TOO_LARGE)
    [pool] = disk.tier.pools()
    assert (pool.total, pool.free) == (16 * MIB, 16 * MIB)


def test_a_request_waits_while_other_files_fill_the_file_system(disk: Disk) -> None:
    disk.tier.create(ONE)
    disk.free = 3 * MIB
    disk.tier.create(OTHER)
    assert disk.state(OTHER) is State.PENDING
    assert "3.0 MiB free" in disk.tier.status(OTHER).message
    disk.free = 8 * MIB
    assert disk.state(OTHER) is State.PENDING  # to ask changes nothing
    disk.tier.settle()
    assert disk.state(OTHER) is State.READY
