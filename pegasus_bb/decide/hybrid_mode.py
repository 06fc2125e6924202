"""Mode hybrid: which files leave the shared reservation, and where they go.

It starts from the decision of mode persistent. An input that one job reads stays on the
PFS behind a link. Files that one job makes and no other reads may go to a job
reservation, from which they are copied back to the PFS. The user's own rules hold.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence, Set
from dataclasses import replace

from pegasus_bb.decide.decision import PlacementDecision, PlanningInput, Selection
from pegasus_bb.decide.job_reservation_selection import (
    Durations,
    JobCandidate,
    check_named,
    durations,
    find_candidates,
    job_reservation_selection,
    split_named,
)
from pegasus_bb.decide.job_reservations import capacity_maker
from pegasus_bb.decide.sizing import wanted_capacity
from pegasus_bb.decide.survey import INPUT
from pegasus_bb.decide.tier_choice import job_tier
from pegasus_bb.decide.tier_rules import LINK, tier_and_access
from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.placement import PFS, PlacedFile, Placement
from pegasus_bb.model.settings import AUTO

_LINKS = "pegasus.transfer.links"


def apply_hybrid_mode(
    given: PlanningInput, decision: PlacementDecision
) -> PlacementDecision:
    """Turn ``decision``, which is persistent's, into that of mode hybrid, without a
    capacity. O((V + E) log V) in jobs and files.
    """
    tier = decision.placement.tier
    other = job_tier(given.catalogs, given.settings, tier)
    whole = replace(decision.placement, other_tier=None if other == tier else other)
    linked = _with_files(whole, dict(_read_once(given, decision)))
    lasts = durations(given)
    candidates = find_candidates(given, linked, decision.pinned, lasts)
    named, asked = split_named(decision, candidates)
    check_named(given, decision, named)
    why_none = _why_none(given, whole)
    if why_none:
        asked = []
    more, selection = _select(given, (whole, linked), named, asked, lasts)
    reservations = {each.job: each.reservation for each in (*named, *more)}
    every = [*named, *asked]
    moved = dict(_private_files(linked, decision.for_jobs, every, reservations))
    return replace(
        decision,
        placement=replace(_with_files(linked, moved), job_reservations=reservations),
        selection=replace(selection, why_none="" if named else why_none),
        persistent=replace(decision, placement=whole),
    )


def _select(
    given: PlanningInput,
    placements: tuple[Placement, Placement],
    named: Sequence[JobCandidate],
    asked: Sequence[JobCandidate],
    lasts: Durations,
) -> tuple[Sequence[JobCandidate], Selection]:
    """The jobs that get a reservation in addition to ``named``, and the figures.
    ``placements``: of mode persistent, and of mode hybrid without job reservations."""
    whole, linked = placements
    needs = (whole.need, linked.need - sum(each.saved for each in named))
    reserve = capacity_maker(whole.tier, given.settings)
    one_tier = whole.other_tier is None
    more, selection = job_reservation_selection(
        asked, needs, reserve, lasts, one_tier=one_tier
    )
    fixed = sum(each.reserved * each.duration for each in named)
    return more, replace(
        selection,
        job_reservations=selection.job_reservations + fixed,
        asked=selection.asked + len(named),
    )


def _why_none(given: PlanningInput, placement: Placement) -> str:
    if wanted_capacity(placement.tier, given.settings) != AUTO:
        return "the capacity was given: a job reservation would save nothing of it"
    if given.has_sub_workflows:
        return "which files a sub-workflow reads is not known"
    return ""


def _with_files(placement: Placement, files: Mapping[str, PlacedFile]) -> Placement:
    return replace(placement, files={**placement.files, **files})


def _read_once(
    given: PlanningInput, decision: PlacementDecision
) -> Iterator[tuple[str, PlacedFile]]:
    """Inputs that one job reads. Staged programs are left out: Pegasus would change the
    mode of the user's file."""
    placement = decision.placement
    graph = given.graph
    for lfn, file in placement.files.items():
        if file.role != INPUT or file.tier == PFS or lfn in decision.pinned:
            continue
        readers = set(graph.consumers.get(lfn, ()))
        if len(readers) != 1:
            continue
        (reader,) = readers
        if given.workflow.jobs[reader].kind == "job":
            where = _read_in_place(given.catalogs, placement.tier.site, lfn)
            on, how = tier_and_access(where, file.role, placement.tier)
            why = f"an input that job {reader} alone reads: it stays on the PFS"
            yield lfn, file.placed(on, how, why)


def _read_in_place(catalogs: Catalogs, site: str, lfn: str) -> str:
    """How an input that leaves the tier is read: from a copy in the site's scratch,
    or, if the user wants links, from its replica on the site, which a task may then
    change."""
    linked = catalogs.properties.flag(_LINKS, default=False)
    is_on_site = catalogs.link_target(site, lfn) is not None
    return LINK if linked and is_on_site else PFS


def _private_files(
    placement: Placement,
    for_jobs: Set[str],
    asked: Sequence[JobCandidate],
    taken: Container[str],
) -> Iterator[tuple[str, PlacedFile]]:
    """Files that no other job reads, with where they go or why they stay. ``taken`` are
    the jobs of ``asked`` that get a reservation."""
    there = "a reservation of that job's own"
    if placement.other_tier is not None:
        there += f" on tier {placement.other_tier.name}"
    for candidate in asked:
        job = candidate.job
        if job in taken:
            why = f"job {job} makes it, no other reads it: on {there}, then on the PFS"
        else:
            why = f"job {job} makes it, no other reads it; {there} would "
            why += "take more than it saves" if candidate.reserved else "save nothing"
        for lfn in candidate.reservation.stage_out:
            file = placement.files[lfn]
            tier = PFS if job in taken else file.tier
            named = f"{file.reason}: on {there}, then on the PFS"
            reason = named if lfn in for_jobs else why
            yield lfn, file.placed(tier, file.how, reason)
