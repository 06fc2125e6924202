"""What the kernel lets through to a device: the blkio controller of cgroup v1, or
the io controller of v2.

v1 throttles a device for all who write. In v2 the root has no limits, so this process
goes into a group of its own, and with it all that it starts. Its memory is counted
there as well: only then is what the kernel writes later for the group throttled.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
_V1 = "blkio/blkio.throttle.write_bps_device"
_CONTROLLERS = ("io", "memory")
_GROUP = "pegasus_bb.report.bench"


def version(root: Path = ROOT) -> int:
    """1 or 2; 0 where none can throttle."""
    if (root / _V1).exists():
        return 1
    listed = root / "cgroup.controllers"
    found = listed.read_text().split() if listed.exists() else []
    return 2 if set(_CONTROLLERS) <= set(found) else 0


@contextmanager
def throttling(
    device: str, rate: int, root: Path = ROOT, own: Path = Path("/proc/self/cgroup")
) -> Iterator[None]:
    """``device`` (its numbers, 7:0) takes ``rate`` bytes per second meanwhile. Raises
    OSError."""
    if version(root) == 1:
        (root / _V1).write_text(f"{device} {rate}\n")
        try:
            yield
        finally:
            (root / _V1).write_text(f"{device} 0\n")
        return
    group = root / f"{_GROUP}.{os.getpid()}"
    home = _home(root, own)
    wanted = " ".join(f"+{name}" for name in _CONTROLLERS)
    (root / "cgroup.subtree_control").write_text(wanted)
    group.mkdir()
    try:
        (group / "io.max").write_text(f"{device} wbps={rate}\n")
        _go(group)
        yield
    finally:
        _go(home)
        group.rmdir()


def _home(root: Path, own: Path) -> Path:
    """The group of this process: ``0::/path`` of /proc/self/cgroup."""
    [path] = (
        line[3:] for line in own.read_text().splitlines() if line.startswith("0::")
    )
    return root / path.lstrip("/")


def _go(group: Path) -> None:
    (group / "cgroup.procs").write_text(f"{os.getpid()}\n")
