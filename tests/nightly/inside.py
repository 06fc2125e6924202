#!/usr/bin/python3
"""The only program of the guest, its process 1: every round on a new file system.

It has Debian's Python and our `staging`, no more. plan.json says what to write; each
round's figures go to the second serial line, a JSON object per line.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
MOUNTED = Path("/mnt")
SOURCES = Path("/tmp/sources")
ZONED = "/dev/nvme0n1"
META = "/dev/vdb"
sys.path.insert(0, str(HERE))
os.environ["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
GRAIN = 64 << 10  # bytes; all sizes are multiples, so that files share their sources

from pegasus_bb.runtime.staging.hints import hint_of  # noqa: E402
from pegasus_bb.runtime.staging.items import Folder, Item  # noqa: E402
from pegasus_bb.runtime.staging.mover import Mover  # noqa: E402


class User:
    """One who runs workflows, with a folder on the disk and a mover."""

    def __init__(self, number: int, steps: list[Any], share: float, hinted: bool):
        self._steps, self._share, self._hinted = steps, share, hinted
        path = MOUNTED / f"user{number}"
        path.mkdir()
        self._folder, self._sources = Folder.open(str(path)), Folder.open(str(SOURCES))
        self.steps = len(steps)
        self.written = self.kept = 0  # bytes; copies whose hint the kernel has

    def write(self, number: int) -> None:
        """What is born in a level."""
        for outcome in Mover(digest=None, threads=2).move(self._items(number)):
            if outcome.failure is not None:
                raise outcome.failure
            item = outcome.item
            self.written += item.size
            self.kept += item.hint != 0 and hint_of(item.dest_path) == item.hint

    def remove(self, number: int) -> None:
        """What dies in a level."""
        for name in self._steps[number]["dying"]:
            Path(self._folder.at(name)).unlink()

    def _items(self, number: int) -> list[Item]:
        found = []
        for name, size, hint in self._steps[number]["born"]:
            size = scaled(size, self._share)
            hint = hint if self._hinted else 0
            item = Item(self._sources, str(size), self._folder, name, size, hint=hint)
            found.append(item)
        return found


def scaled(size: int, share: float) -> int:
    return max(1, round(size * share / GRAIN)) * GRAIN


def run_round(campaign: dict[str, Any], fill: float, hinted: bool) -> dict[str, Any]:
    """What users have written and what the zoned device has, in bytes."""
    call("mkfs.xfs", "-f", "-q", "-r", f"zoned=1,rtdev={ZONED}", META)
    call("mount", "-o", f"rtdev={ZONED}", META, str(MOUNTED))
    every = campaign["users"]
    capacity = free()
    share = fill * capacity / campaign["peak"]
    make_sources(every, share)
    before = device_writes()
    begin = time.monotonic()
    done = play([User(n, each, share, hinted) for n, each in enumerate(every)])
    os.sync()
    found = {
        **done,
        "seed": campaign["seed"],
        "hinted": hinted,
        "kernel": os.uname().release,
        "files": sum(len(step["born"]) for steps in every for step in steps),
        "device": device_writes() - before,
        "capacity": capacity,
        "seconds": time.monotonic() - begin,
    }
    call("umount", str(MOUNTED))
    return found


def play(users: list[User]) -> dict[str, Any]:
    """All steps, each by all users at a time."""
    free_then = []  # bytes, when all have written and before any removes
    with ThreadPoolExecutor(len(users)) as pool:
        for number in range(users[0].steps):
            list(pool.map(lambda user: user.write(number), users))  # noqa: B023
            free_then.append(free())
            list(pool.map(lambda user: user.remove(number), users))  # noqa: B023
    return {
        "users": sum(user.written for user in users),
        "kept_hints": sum(user.kept for user in users),
        "free": free_then,
    }


def free() -> int:
    """Bytes that users may still write."""
    disk = os.statvfs(MOUNTED)
    return disk.f_bavail * disk.f_frsize


def make_sources(users: list[Any], share: float) -> None:
    """In memory: a file of each size, with bytes that are no zeros."""
    SOURCES.mkdir(exist_ok=True)
    steps = (step for steps in users for step in steps)
    sizes = {scaled(size, share) for step in steps for _, size, _ in step["born"]}
    grain = os.urandom(GRAIN)
    for size in sizes:
        path = SOURCES / str(size)
        if not path.exists():
            path.write_bytes(grain * (size // GRAIN))


def device_writes() -> int:
    """Bytes that the kernel has written on the zoned device, its own copies as well:
    Documentation/block/stat.rst counts sectors of 512 bytes."""
    line = Path("/sys/block", Path(ZONED).name, "stat").read_text()
    return int(line.split()[6]) * 512


def call(*argv: str) -> None:
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(argv)}: {done.stdout.decode()}")


def main() -> None:
    for kind, where in (("proc", "/proc"), ("sysfs", "/sys"), ("tmpfs", "/tmp")):
        subprocess.run(["mount", "-t", kind, kind, where], stderr=subprocess.DEVNULL)
    plan = json.loads((HERE / "plan.json").read_text())
    with open("/dev/ttyS1", "w") as results:  # noqa: PTH123
        try:
            call("modprobe", "xfs")
            for number, hinted in plan["rounds"]:
                campaign = plan["campaigns"][number]
                found = run_round(campaign, plan["fill"], hinted)
                print(json.dumps(found), file=results, flush=True)
        except Exception:
            failed = {"failed": traceback.format_exc()}
            print(json.dumps(failed), file=results, flush=True)


if __name__ == "__main__":
    try:
        main()
    finally:
        Path("/proc/sysrq-trigger").write_text("o")  # power off
        time.sleep(60)
