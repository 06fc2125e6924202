"""The hint of each file on the tier, by the tier's policy (docs/streams.md)."""

from __future__ import annotations

import getpass
import os
from collections.abc import Callable
from dataclasses import replace
from zlib import crc32

from pegasus_bb.decide.decision import PlacementDecision, PlanningInput
from pegasus_bb.decide.job_reservation_lint import profile_sources
from pegasus_bb.decide.lifetimes import LifetimeShare
from pegasus_bb.decide.survey import runs_on
from pegasus_bb.model.placement import HINTS, PFS, PlacedFile, Placement
from pegasus_bb.model.workflow import Job

OFF = "off"
STREAMS = tuple(HINTS)
_PROFILE = "bb.hints"


Choose = Callable[[PlanningInput, Placement], tuple[str, str]]  # a policy, and why


def with_streams(
    given: PlanningInput, decision: PlacementDecision, choose: Choose
) -> PlacementDecision:
    """Mode persistent: ``decision`` with a stream for each file on the tier. ``choose``
    picks the policy if the tier's is auto. In other modes files live as long as a
    job."""
    placement = decision.placement
    policy, why = placement.tier.streams, ""
    if policy == OFF or given.settings.mode != "persistent":
        return decision
    if policy == "auto":
        policy, why = choose(given, placement)
    if policy == OFF:
        return replace(decision, streams=(policy, why))
    files, share = dict(placement.files), LifetimeShare(given)
    for file in files_on_tier(placement):
        stream = _stream(policy, file, share, given.workflow.name)
        reason = f"{file.reason}; stream {stream} (by {policy}: it {share.text(file)})"
        files[file.lfn] = replace(file, stream=stream, reason=reason)
    return replace(
        decision, placement=replace(placement, files=files), streams=(policy, why)
    )


def files_on_tier(placement: Placement) -> list[PlacedFile]:
    return [file for file in placement.files.values() if file.tier != PFS]


def stream_of_life(share: LifetimeShare, file: PlacedFile) -> str:
    """The stream of a file by the policy lifetime."""
    return share.class_of(file, STREAMS)


def _stream(policy: str, file: PlacedFile, share: LifetimeShare, workflow: str) -> str:
    """The kernel has four streams: users, workflows and cohorts share them."""
    if policy == "lifetime":
        return stream_of_life(share, file)
    number = os.getuid()
    if policy != "user":
        number = crc32(f"{getpass.getuser()}/{workflow}".encode())
    if policy == "cohort":
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
    for job in given.workflow.jobs.values():
        if _wants_hints(given, job):
            outputs = (placement.files[use.lfn] for use in job.outputs())
            by_job[job.id] = {f.lfn: HINTS[f.stream] for f in outputs if f.stream}
    return {job: hints for job, hints in by_job.items() if hints}


def _wants_hints(given: PlanningInput, job: Job) -> bool:
    if not runs_on(job, given.site.name):
        return False
    for profiles in profile_sources(job, given.catalogs, given.site.name):
        value = (profiles.get("pegasus") or {}).get(_PROFILE)
        if value is not None and str(value) not in ("on", "off"):
            raise given.workflow.document.error(
                f"job {job.id} or its program has an odd profile {_PROFILE}",
                ["jobs", job.index],
                str(value),
                "on: the launcher makes its outputs beforehand; or off",
            )
        if value is not None:
            return str(value) == "on"
    return False
