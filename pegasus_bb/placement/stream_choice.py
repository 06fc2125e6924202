"""The hint of each file on the tier, by the tier's policy (docs/streams.md)."""

from __future__ import annotations

import getpass
import os
from dataclasses import replace
from zlib import crc32

from pegasus_bb.model.placement import HINTS, PFS, PlacedFile, Placement
from pegasus_bb.model.workflow import Job
from pegasus_bb.placement.decision import PlacementDecision, PlanningInput
from pegasus_bb.placement.job_reservation_lint import profile_sources
from pegasus_bb.placement.lifetimes import Share
from pegasus_bb.placement.run_times import times_error
from pegasus_bb.placement.stream_policy import choose_policy
from pegasus_bb.placement.survey import runs_on

_STREAMS = tuple(HINTS)
_PROFILE = "bb.hints"


def with_streams(
    given: PlanningInput, decision: PlacementDecision
) -> PlacementDecision:
    placement, share = decision.placement, Share(given)
    on_tier = [file for file in placement.files.values() if file.tier != PFS]
    policy, why = placement.tier.streams, ""
    if policy == "auto":
        lives = [share.of(file) for file in on_tier]
        policy, why = choose_policy(lives, times_error(given))
    files = dict(placement.files)
    for file in on_tier:
        stream = _stream(policy, file, share, given.workflow.name)
        reason = f"{file.reason}; stream {stream} (by {policy}: it {share.told(file)})"
        files[file.lfn] = replace(file, stream=stream, reason=reason)
    return replace(
        decision, placement=replace(placement, files=files), streams=(policy, why)
    )


def _stream(policy: str, file: PlacedFile, share: Share, workflow: str) -> str:
    """The kernel has four streams: users, workflows and cohorts share them."""
    if policy == "lifetime":
        return share.word(file, _STREAMS)
    number = os.getuid()
    if policy != "user":
        number = crc32(f"{getpass.getuser()}/{workflow}".encode())
    if policy == "cohort":
        number += file.cohort
    return _STREAMS[number % len(_STREAMS)]


def outputs_to_make(
    given: PlanningInput, placement: Placement
) -> dict[str, dict[str, int]]:
    """Job -> LFN -> hint, of the outputs that the launcher makes before their task:
    the profile ``pegasus: bb.hints: on`` of the job or its program wants that. Raises
    CatalogError."""
    if placement.tier.streams == "off":
        return {}
    found = {}
    for job in given.workflow.jobs.values():
        if _wants_hints(given, job):
            outputs = (placement.files[use.lfn] for use in job.outputs())
            found[job.id] = {f.lfn: HINTS[f.stream] for f in outputs if f.stream}
    return {job: hints for job, hints in found.items() if hints}


def _wants_hints(given: PlanningInput, job: Job) -> bool:
    if not runs_on(job, given.site.name):
        return False
    for profiles in profile_sources(job, given.catalogs, given.site.name):
        said = (profiles.get("pegasus") or {}).get(_PROFILE)
        if said is not None and str(said) not in ("on", "off"):
            raise given.workflow.document.error(
                f"job {job.id} or its program has an odd profile {_PROFILE}",
                ["jobs", job.index],
                str(said),
                "on: the launcher makes its outputs beforehand; or off",
            )
        if said is not None:
            return str(said) == "on"
    return False
