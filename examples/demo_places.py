"""What the demo's two places are: folder, file system, speed measured there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pegasus_bb.core.units import format_size, parse_size

_NAMES = {"pfs": "PFS", "bb": "Burst buffer"}
_MOUNTS = Path("/proc/self/mounts")


@dataclass(frozen=True)
class Place:
    """One side of an example."""

    folder: str
    file_system: str
    speeds: Mapping[str, str]  # of speeds.yml: job_write -> 1500MB/s

    def described(self, side: str) -> str:
        """A sentence for the reader of a result, and one on speed where it is known."""
        what = f"{_NAMES[side]}: {self.folder}, {self.file_system}."
        if not self.speeds:
            return what
        write, read = (_rate(self.speeds[f"job_{way}"]) for way in ("write", "read"))
        return (
            f"{what} One process wrote {write} and read {read} there before the runs, "
            "through the page cache."
        )

    def slower_than(self, pfs: Place) -> str:
        """A sentence if this storage wrote and read no faster than ``pfs``."""
        ways = [f"job_{way}" for way in ("write", "read")]
        if not (self.speeds and pfs.speeds) or any(
            _bytes(self.speeds[way]) > _bytes(pfs.speeds[way]) for way in ways
        ):
            return ""
        return (
            "The burst buffer of this machine wrote and read no faster than its PFS "
            "before the runs: a difference comes from elsewhere."
        )


def place(folder: Path, speeds: Mapping[str, str] | None) -> Place:
    return Place(str(folder), file_system(folder), speeds or {})


def file_system(folder: Path, mounts: Path = _MOUNTS) -> str:
    """Of ``folder``: ext4 on /dev/sda1; or tmpfs (memory)."""
    path, found = os.path.realpath(folder), ("", "", "file system unknown")
    for line in mounts.read_text(errors="replace").splitlines():
        device, mounted, kind = line.split(" ")[:3]
        mounted = mounted.replace("\\040", " ")
        below = os.path.commonpath([mounted, path]) == mounted
        if below and len(mounted) >= len(found[1]):
            found = (device, mounted, kind)
    device, _, kind = found
    if kind == "tmpfs":
        return "tmpfs (memory)"
    return f"{kind} on {device}" if device.startswith("/") else kind


def _rate(rate: str) -> str:
    """1500MB/s -> 1.4 GiB/s, in the units of the report."""
    return f"{format_size(_bytes(rate))}/s"


def _bytes(rate: str) -> int:
    return parse_size(rate.removesuffix("/s"))
