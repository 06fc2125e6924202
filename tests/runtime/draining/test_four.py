"""Four drains share a target's limit, and one of them is killed: by real processes.

Programs, each beside its drain; and workflows, whose transfer jobs drain.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.drain_four import killed, speed, speeds_up_after
from benchmarks.throttled import Throttled
from tests.support.reflinks import skip_if_shared

MIB = 1 << 20
LIMIT = 8 * MIB  # bytes per second
EXPIRES = 1.5  # seconds, in place of 20: so long the dead one may hold others back

HURRIED = f"""
import sys
from pegasus_bb.runtime.draining import target_folder
from pegasus_bb.cli import main
target_folder.EXPIRES = {EXPIRES}
main()
"""


class Plain(Throttled):
    """As fast as this disk is; drains take others for dead sooner than usual."""

    def module(self, name: str, *words: str) -> list[str]:
        python, *_ = super().module(name)
        return [python, "-c", HURRIED, *words]


def test_the_limit_is_kept_and_a_dead_one_frees_its_share(tmp_path: Path) -> None:
    skip_if_shared(tmp_path)
    pfs = Plain(tmp_path / "pfs", "as it is")
    every, others, when = killed(tmp_path, pfs, LIMIT, 14 * MIB, wait=1.5)
    # The first one has used its slot only at the begin of the second.
    assert speed(every, every[0][1], when) <= 1.05 * LIMIT
    shared = sum(size for _, end, size in others if end <= when)
    whole = sum(size for _, end, size in every if end <= when)
    assert shared < 0.9 * whole, "four of them share it: segments go by turns"
    assert speeds_up_after(others, when, LIMIT, window=1.0) <= EXPIRES + 1.5
