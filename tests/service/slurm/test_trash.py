"""Folders go, whatever their users do meanwhile."""

from __future__ import annotations

import itertools
import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from pegasus_bb.service.slurm.config import Pool
from pegasus_bb.service.slurm.folders import Trash

MIB = 1 << 20
ANN = 61001
PATIENCE = 10  # seconds


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    return Pool("flash", str(tmp_path), 10 * MIB, MIB)


def make_names(folder: int) -> None:
    """As user ANN, for longer than the test waits."""
    os.setgroups([])
    os.setgid(ANN)
    os.setuid(ANN)
    until = time.monotonic() + 2 * PATIENCE
    for number in itertools.count():
        if time.monotonic() > until:
            os._exit(0)
        with suppress(OSError):  # it may come back
            os.mkdir(f"{os.getpid()}.{number}", dir_fd=folder)


@pytest.fixture
def growing(tmp_path: Path) -> Iterator[Path]:
    """A buffer whose user makes folders in it, faster than one process removes them."""
    if os.getuid() != 0:
        pytest.skip("only root removes folders of others")
    data, children = tmp_path / "data", list[int]()
    data.mkdir()
    os.chown(data, ANN, ANN)
    opened = os.open(data, os.O_RDONLY)
    for _ in range(4):
        children.append(os.fork())
        if children[-1] == 0:
            make_names(opened)
    os.close(opened)
    while len(list(data.iterdir())) < 100:
        time.sleep(0.01)
    yield data
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_folder_goes_though_its_user_makes_names_in_it(
    pool: Pool, growing: Path
) -> None:
    begun, gone = time.monotonic(), list[str]()
    Trash().drop(pool, growing.name, lambda: gone.append("all"))
    assert gone == ["all"] and list(growing.parent.iterdir()) == []
    assert time.monotonic() - begun < PATIENCE
