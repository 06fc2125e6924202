"""The hint of each file on the tier, by the tier's policy (docs/streams.md).

Policy ``auto`` is the one with which flash copies the least: pegasus_bb_lab simulates a
flash device full of workflows like this one, with the kernel's four streams and the
known error of run times.
"""

from __future__ import annotations

import getpass
import os
from dataclasses import replace
from typing import NamedTuple
from zlib import crc32

from pegasus_bb.core.plugins import STREAMS as ADDED
from pegasus_bb.core.plugins import plugin
from pegasus_bb.decide.decision import PlacementDecision, PlanningInput
from pegasus_bb.decide.run_times import LevelClock, LifetimeShare, times_error
from pegasus_bb.model.placement import HINTS, PFS, PlacedFile, Placement
from pegasus_bb.model.workflow import Job

OFF = "off"
STREAMS = tuple(HINTS)
_PROFILE = "bb.hints"
_COHORT = "cohort"
_LIFETIME = "lifetime"
_UNKNOWN = 0.5  # sigma of run times without a known error


class FileLife(NamedTuple):
    """A file of the workflow: bytes, and its first and last level, counted from 1.
    ``word``: the stream that policy lifetime gives it."""

    size: int
    first: int
    last: int
    word: int


def with_streams(
    given: PlanningInput, decision: PlacementDecision
) -> PlacementDecision:
    """``decision`` with a stream for each file on the tier, in mode persistent."""
    placement = decision.placement
    share = LifetimeShare(given)
    policy = placement.tier.streams
    why = ""
    if policy == "auto":
        policy, why = _choose_policy(given, placement, share)
    if policy == OFF:
        return replace(decision, streams=(policy, why))
    files = dict(placement.files)
    for file in _files_on_tier(placement):
        stream = _stream(policy, file, share, given.workflow.name)
        reason = f"{file.reason}; stream {stream} (by {policy}: it {share.text(file)})"
        files[file.lfn] = replace(file, stream=stream, reason=reason)
    return replace(
        decision, placement=replace(placement, files=files), streams=(policy, why)
    )


def _choose_policy(
    given: PlanningInput, placement: Placement, share: LifetimeShare
) -> tuple[str, str]:
    """The policy, and why. If the error is unknown, only policies that need no run
    times compete; without pegasus_bb_lab it is cohort."""
    write_amplification = plugin(ADDED, "auto")
    if write_amplification is None:
        return _COHORT, "pegasus_bb_lab, which compares policies, is not installed"
    error = times_error(given)
    text = "unknown" if error is None else f"sigma {error:.2f}"
    ends = LevelClock.of(given).ends or tuple(range(1, given.levels + 1))
    wafs: dict[str, float] = write_amplification(
        _lives(placement, share), ends, _UNKNOWN if error is None else error
    )
    if not wafs:
        return OFF, "no file of a known size lives on the tier"
    if error is None:
        del wafs[_LIFETIME]
    best = min(wafs, key=lambda policy: wafs[policy])
    listed = ", ".join(f"{policy} {waf:.3f}" for policy, waf in wafs.items())
    return best, f"the error of run times is {text}; simulated: {listed}"


def _lives(placement: Placement, share: LifetimeShare) -> list[FileLife]:
    """The lives of the files on the tier; an unknown size counts as the mean size."""
    files = _files_on_tier(placement)
    sizes = [file.size for file in files if file.size is not None]
    usual = sum(sizes) // len(sizes) if sizes else 1
    return [
        FileLife(
            usual if file.size is None else file.size,
            file.cohort - file.lifetime + 1,
            file.cohort,
            STREAMS.index(share.class_of(file, STREAMS)),
        )
        for file in files
    ]


def _files_on_tier(placement: Placement) -> list[PlacedFile]:
    return [file for file in placement.files.values() if file.tier != PFS]


def _stream(policy: str, file: PlacedFile, share: LifetimeShare, workflow: str) -> str:
    """The kernel has four streams: users, workflows and cohorts share them."""
    if policy == _LIFETIME:
        return share.class_of(file, STREAMS)
    number = os.getuid()
    if policy != "user":
        number = crc32(f"{getpass.getuser()}/{workflow}".encode())
    if policy == _COHORT:
        number += file.cohort
    return STREAMS[number % len(STREAMS)]


def outputs_to_make(
    given: PlanningInput, placement: Placement
) -> dict[str, dict[str, int]]:
    """Job -> LFN -> hint, of the outputs that the launcher creates before the task, if
    the job or its program has the profile ``pegasus: bb.hints: on``. Raises
    CatalogError."""
    if placement.tier.streams == OFF:
        return {}
    by_job = {}
    for job in given.workflow:
        if _wants_hints(given, job):
            outputs = (placement.files[use.lfn] for use in job.outputs())
            by_job[job.id] = {f.lfn: HINTS[f.stream] for f in outputs if f.stream}
    return {job: hints for job, hints in by_job.items() if hints}


def _wants_hints(given: PlanningInput, job: Job) -> bool:
    if not job.runs_on(given.site.name):
        return False
    would_do = "on: the launcher makes its outputs beforehand; or off"
    return given.is_asked_for(job, _PROFILE, ("on", "off"), would_do)
