"""A registry that others may write to costs the pace at most, never a copy."""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pegasus_bb.runtime.draining.pace import Drain, DrainTargetPace, Pace
from pegasus_bb.runtime.staging.digests import SHA256
from pegasus_bb.runtime.staging.items import Folder, item_of
from pegasus_bb.runtime.staging.mover import Mover
from tests.support.reflinks import skip_if_shared

MIB = 1 << 20


def lease_of(*values: object) -> Callable[[Path], object]:
    return lambda path: path.write_text(json.dumps(values))


def held_fifo(path: Path) -> None:
    os.mkfifo(path)
    os.open(path, os.O_RDWR)


def opened(folder: Path) -> list[str]:
    """What this process has open below ``folder``."""
    handles = [Path(os.path.realpath(p)) for p in Path("/proc/self/fd").iterdir()]
    return sorted(str(path) for path in handles if folder in path.parents)


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
    drain = Drain("mine", 3 * MIB, 0.0, [DrainTargetPace("pfs", str(tmp_path), 1e9)])
    pace = Pace(drain)
    before = opened(tmp_path)
    for _ in range(3):
        with pace.take(MIB):
            pass
    pace.close()
    assert opened(tmp_path) == before


class FillsUp(Pace):
    """The destination is full when the second segment is written."""

    full = 2

    def _note(self, begin: float, size: int) -> None:
        self.full -= 1
        if not self.full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_destination_that_fills_up_within_a_segment_costs_that_file(
    tmp_path: Path,
) -> None:
    """Nothing waits for it, nothing half is left, and the others arrive."""
    skip_if_shared(tmp_path)
    for name in ("from", "to"):
        (tmp_path / name).mkdir()
    names = {"a": 20 * MIB, "b": 20 * MIB, "c": 100}
    for name, size in names.items():
        (tmp_path / "from" / name).write_bytes(os.urandom(size))
    pace = FillsUp(Drain("mine", sum(names.values()), 0.5))
    source, dest = (Folder.open(str(tmp_path / name)) for name in ("from", "to"))
    stats = {name: (tmp_path / "from" / name).stat() for name in names}
    items = [
        item_of(source, n, dest, as_name=n, status=stats[n], mark=n) for n in names
    ]
    mover = Mover(SHA256, threads=1, segments=pace)
    outcomes = {each.item.mark: each for each in mover.move(items)}
    failed = [name for name, each in outcomes.items() if each.landed is None]
    assert len(failed) == 1
    assert "No space left on device" in str(outcomes[failed[0]].failure)
    arrived = {path.name: path.read_bytes() for path in (tmp_path / "to").iterdir()}
    assert arrived == {
        name: (tmp_path / "from" / name).read_bytes()
        for name in names.keys() - set(failed)
    }
