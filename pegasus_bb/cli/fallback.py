"""Messages about a run that went on on the PFS (--bb-fallback pfs), and about single
jobs that did because their tier was full."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pegasus_bb.runtime.bbdir import ELSEWHERE, BBDir
from pegasus_bb.runtime.storage_decision import on_the_pfs

_SHOWN = 8  # jobs; `pegasus-bb status --json` has all


def fallback_of(bb: Path) -> dict[str, Any] | None:
    """Where the run went in place of its reservation, why, and since when; None where
    it did not. Raises UsageError where that cannot be read."""
    folder = BBDir(str(bb))
    found = on_the_pfs(folder, folder.request()) if folder.has_request else None
    return found._asdict() if found else None


def pfs_lines(submit_dir: Path) -> Iterator[str]:
    """For a person: that the run, or which jobs of it, were on the PFS; mostly none.
    Raises UsageError as ``fallback_of`` does."""
    fallback = fallback_of(submit_dir / "bb")
    if fallback is not None:
        because = " ".join(str(fallback["because"]).split())
        yield f"ON THE PFS, NOT ON A BURST BUFFER (fallback): {because}"
    if (submit_dir / "bb" / ELSEWHERE).is_dir():  # few runs; the rest is slow to load
        yield from _jobs_on_pfs(submit_dir)


def _jobs_on_pfs(submit_dir: Path) -> Iterator[str]:
    from pegasus_bb.report.run_notes import count_job_reservations, jobs_on_pfs

    jobs, _ = jobs_on_pfs(submit_dir)
    if jobs:
        many = f"{len(jobs)} of {count_job_reservations(submit_dir)} jobs"
        yield f"ON THE PFS, BECAUSE THE TIER WAS FULL: {many}"
        yield from (f"  {job.node}: {job.because}" for job in jobs[:_SHOWN])
    if len(jobs) > _SHOWN:
        yield f"  and {len(jobs) - _SHOWN} more"
