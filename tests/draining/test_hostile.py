"""A registry that others may write to costs the pace at most, never a copy."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pegasus_bb.draining.pace import Drain, Pace, Target
from pegasus_bb.draining.registry import Lease, Registry

MIB = 1 << 20


def lease_of(*values: object) -> Callable[[Path], object]:
    return lambda path: path.write_text(json.dumps(values))


def held_fifo(path: Path) -> None:
    os.mkfifo(path)
    os.open(path, os.O_RDWR)


def opened() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


NOW = time.time()
HOSTILE = {
    "more bytes than a float": lease_of("b", 10**400, NOW + 9, NOW, None),
    "an infinite load": lease_of("b", 10**308, NOW + 1e-3, NOW, None),
    "a deadline that is no number": lease_of("b", 1, float("nan"), NOW, NOW),
    "a wait since ever": lease_of("b", 1, NOW, NOW, float("-inf")),
    "a folder": Path.mkdir,
    "a FIFO that is held": held_fifo,
    "a link": lambda path: path.symlink_to("/etc/passwd"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_copy_goes_on(name: str, tmp_path: Path) -> None:
    HOSTILE[name](tmp_path / "b.lease")
    drain = Drain("mine", 3 * MIB, 0.0, [Target("pfs", str(tmp_path), 1e9)])
    pace = Pace(drain)
    before = opened()
    for _ in range(3):
        with pace.take(MIB):
            pass
    pace.close()
    assert opened() == before


@pytest.mark.parametrize("name", HOSTILE)
def test_what_no_process_would_write_counts_for_nothing(
    name: str, tmp_path: Path
) -> None:
    HOSTILE[name](tmp_path / "b.lease")
    registry = Registry(str(tmp_path))
    now = time.time()
    assert registry.ask(Lease("mine", 100, now + 10, now, now), 0.001) == 0.0
    assert registry.load == pytest.approx(10, rel=0.1)
