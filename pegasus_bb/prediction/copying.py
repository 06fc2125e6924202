"""Staging: which files are copied in and out, and how long that takes."""

from __future__ import annotations

from collections.abc import Callable

from pegasus_bb.model.placement import PFS, Placement
from pegasus_bb.model.speeds import Speed
from pegasus_bb.prediction.load import Workload


def staged(
    work: Workload, placement: Placement, of: Callable[[str], bool]
) -> tuple[list[int], list[int]]:
    """Sizes of the inputs that are copied in and of the results that are copied out."""
    into: list[int] = []
    out: list[int] = []
    for lfn, file in placement.files.items():
        if not of(lfn):
            continue
        if file.how == "copy":
            into.append(work.sizes.get(lfn, 0))
        elif file.role == "output":
            out.append(work.sizes.get(lfn, 0))
    return into, out


def copy_time(sizes: list[int], source: Speed, dest: Speed) -> float:
    """Seconds for several files at a time."""
    size = sum(sizes)
    moving = max(size / source.read, size / dest.write)
    return moving + len(sizes) * (source.latency + dest.latency)


def one_copy(sizes: list[int], source: Speed, dest: Speed) -> float:
    """Seconds for the files of one job, one after the other."""
    size = sum(sizes)
    moving = max(size / source.job_read, size / dest.job_write)
    return moving + len(sizes) * (source.latency + dest.latency)


def sizes_on_tier(work: Workload, placement: Placement) -> dict[str, int]:
    """LFN -> size, of the files on the tier."""
    files, sizes = placement.files, work.sizes
    return {lfn: sizes.get(lfn, 0) for lfn in files if files[lfn].tier != PFS}
