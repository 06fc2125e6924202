"""How much to reserve: the bytes of all files on the tier.

The sum over all files is enough in any order of the jobs and with any cleanup. An order
may have a smaller peak, but nothing enforces it, unless the user gives less capacity.

Then, with in-place clean-up, the jobs may run in phases, each of which waits for the
clean-ups of the phase before. If that is not enough, or if no file is removed during
the run, the files that tasks read and write the least go to the PFS.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from typing import NamedTuple

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.core.units import MIB, format_size, parse_size, room_for, round_up
from pegasus_bb.decide.decision import MovedFiles, PlacementDecision, PlanningInput
from pegasus_bb.decide.lint_files import lint_replicas
from pegasus_bb.decide.liveness import (
    Lives,
    flow,
    largest_phase,
    lifetimes,
    phase_ends,
    sizes,
)
from pegasus_bb.decide.survey import program_users, searched_pfns
from pegasus_bb.model.catalogs import Catalogs, Site
from pegasus_bb.model.placement import PFS, PlacedFile, Placement, PlannedPhases
from pegasus_bb.model.settings import AUTO, Settings
from pegasus_bb.model.tiers import Tier
from pegasus_bb.model.workflow import Workflow

_PROPERTY = "pegasus.bb.capacity"
_HISTORY = "pegasus.bb.history"
_LIMIT = 1 << 62  # Slurm counts in 64 bits, and adds requests up


def reserve_shared(
    given: PlanningInput, decision: PlacementDecision
) -> PlacementDecision:
    """``decision`` with the capacity of the reservation that jobs share; files and
    phases change if they would not fit. Raises CatalogError."""
    placement = decision.placement
    tier = placement.tier
    unknown = placement.unknown
    need = placement.need
    wanted = wanted_capacity(tier, given.settings)
    short = wanted != AUTO and wanted < need
    if short or wanted == AUTO:  # these need every size
        files = (placement.files[lfn] for lfn in unknown)
        lint_replicas(given.workflow, given.catalogs, files)
    if short:
        decision, need = fit_into_capacity(given, decision)
    capacity = choose_capacity(given, tier, need, unknown)
    return replace(decision, placement=replace(decision.placement, capacity=capacity))


def wanted_capacity(tier: Tier, settings: Settings) -> int:
    """The bytes that the user wants, in whole granules: so many will be reserved. Or
    AUTO."""
    return round_up(given_capacity(tier, settings), tier.granularity)


def given_capacity(tier: Tier, settings: Settings) -> int:
    """The bytes that the user gave, or AUTO: from the setting, else from the tier."""
    if settings.capacity is not None:
        return settings.capacity
    return AUTO if tier.capacity is None else tier.capacity


def automatic_capacity(tier: Tier, headroom: int, need: int) -> int:
    """``need`` and ``headroom`` per cent, rounded up; one granule at least."""
    return room_for(need, headroom, tier.granularity)


def choose_capacity(
    given: PlanningInput, tier: Tier, need: int, unknown: Sequence[str]
) -> int:
    """Bytes to reserve, a multiple of the granule.

    Raises CatalogError: auto with unknown sizes, a capacity below ``need``, above
    what the tier has, or beyond counting.
    """
    wanted = wanted_capacity(tier, given.settings)
    if wanted == AUTO:
        capacity = automatic_capacity(tier, given.settings.headroom, need)
        if unknown:
            share = share_of_free(given, tier)
            if share is None:
                raise unknown_sizes(given, tier, unknown, need)
            capacity = max(capacity, share)
    else:
        if wanted < need:
            raise too_small(given, tier, need)
        capacity = wanted
    _check_limits(given, tier, capacity)
    return capacity


def needs_sizes(
    catalogs: Catalogs, settings: Settings, workflow: Workflow, site: Site
) -> bool:
    """Whether a capacity depends on sizes that the workflow does not have."""
    if not settings.mode.uses_tier or settings.capacity not in (None, AUTO):
        return False
    if _HISTORY in catalogs.properties:
        return False
    tiers = catalogs.tiers.get(site.name, ())
    is_auto = settings.capacity == AUTO or any(tier.capacity is None for tier in tiers)
    jobs = workflow.jobs.values()
    return is_auto and any(u.size is None for job in jobs for u in job.outputs())


def share_of_free(given: PlanningInput, tier: Tier) -> int | None:
    """What an automatic capacity is where sizes are not known: a share of what the
    tier has free, in whole granules. None where that is not known, and for job
    reservations, which many jobs have at a time."""
    free = None if given.settings.mode.is_only_for_jobs else given.free_on(tier)
    if free is None:
        return None
    wanted = free * given.settings.share // 100
    return wanted // tier.granularity * tier.granularity or tier.granularity


def _error(
    given: PlanningInput, tier: Tier, what: str, found: object, would_do: str
) -> CatalogError:
    """An error about the capacity, at the property or the tier that sets it."""
    properties = given.catalogs.properties
    entry = given.catalogs.tier_entry(tier)
    if given.settings.capacity is not None and _PROPERTY in properties:
        return properties.error(_PROPERTY, what, would_do)
    return entry.below("capacity").error(what, found, would_do)


def unknown_sizes(
    given: PlanningInput, tier: Tier, unknown: Sequence[str], need: int
) -> CatalogError:
    """``need``: bytes of the files whose size is known."""
    wanted = wanted_capacity(tier, given.settings)
    first = sorted(unknown)[:10]
    names = [_with_searched_pfns(lfn, given.catalogs, tier.site) for lfn in first]
    shown = ", ".join(names) + (", ..." if len(unknown) > 10 else "")
    learn = (
        "learn the sizes from one run (--bb-history SUBMIT_DIR), or write them into "
        "the workflow (`pegasus-bb sizes`)"
    )
    if wanted == AUTO:
        what = (
            "an automatic capacity needs the size of every file on tier "
            f"{tier.name}; it is not known for {len(unknown)}: {shown}"
        )
        would_do = (
            f"say how much to reserve, such as {example_option(tier)}; or {learn}"
        )
        return _error(given, tier, what, "auto", would_do)
    have = "file has" if len(unknown) == 1 else "files have"
    what = (
        f"{format_size(wanted)} is less than the {format_size(need)} that are known to "
        f"be needed on tier {tier.name}, and {len(unknown)} {have} no known size: "
        f"{shown}"
    )
    return _error(given, tier, what, wanted, f"reserve more, or {learn}")


def example_option(tier: Tier) -> str:
    """An option for an error's text; its capacity is within the quota of ``tier``."""
    quota = quota_of(tier)
    is_less = quota is not None and quota < 64 * MIB
    return f"--bb-capacity {tier.settings['quota'] if is_less else '64MiB'}"


def _with_searched_pfns(lfn: str, catalogs: Catalogs, site: str) -> str:
    places = searched_pfns(lfn, catalogs.replicas, site)
    return f"{lfn} (no file here at {' or '.join(places)})" if places else lfn


def too_small(
    given: PlanningInput, tier: Tier, need: int, which: str = ""
) -> CatalogError:
    wanted = wanted_capacity(tier, given.settings)
    return _error(
        given,
        tier,
        f"the capacity of {format_size(wanted)} ({wanted} bytes) is below what the "
        f"files on tier {tier.name}{which} need, {format_size(need)} ({need} bytes)",
        wanted,
        "more capacity, or auto, or files on the PFS (bb.tier: pfs)",
    )


def _check_limits(given: PlanningInput, tier: Tier, capacity: int) -> None:
    if capacity > _LIMIT:
        what = "no scheduler can count so many bytes"
        raise _error(given, tier, what, capacity, f"such as {example_option(tier)}")
    quota = quota_of(tier)
    if quota is not None and capacity > quota:
        raise _error(
            given,
            tier,
            f"{format_size(capacity)} ({capacity} bytes) would be reserved, but the "
            f"quota of tier {tier.name} is {format_size(quota)} ({quota} bytes)",
            capacity,
            "a larger quota, files on the PFS (bb.tier: pfs), or --bb-capacity within "
            "the quota: jobs then run in phases (docs/placement.md)",
        )


def quota_of(tier: Tier) -> int | None:
    """The bytes that the tier grants at most; None if it declares no quota."""
    quota = tier.settings.get("quota")
    return None if quota is None else parse_size(quota)


# Only this clean-up lets us order its nodes, so only with it can barriers hold.
PHASED = "inplace"


def fit_into_capacity(
    given: PlanningInput, decision: PlacementDecision
) -> tuple[PlacementDecision, int]:
    """``decision`` with its phases, and the bytes that the tier has to hold.

    Raises CatalogError if a size is unknown, if files that the user pinned to the tier
    do not fit, and for sub-workflows, whose files are unknown.
    """
    placement = decision.placement
    tier = placement.tier
    limit = wanted_capacity(tier, given.settings)
    if placement.unknown:
        raise unknown_sizes(given, tier, placement.unknown, placement.need)
    if given.has_sub_workflows:
        raise too_small(given, tier, placement.need)
    phased = given.ending.cleanup == PHASED
    levels = given.levels if phased else 1
    whole: Lives = dict.fromkeys(sizes(placement), (1, 1))
    lives = lifetimes(placement) if phased else whole
    phases = _phases(placement, lives, levels, limit)
    if phases is not None:
        fits = replace(placement, phases=phases)
        return replace(decision, placement=fits), phases.peak
    free = _free(decision, lives, levels, limit)
    if min(free) < 0:
        pinned = " by rules of their own"
        raise too_small(given, tier, limit - min(free), pinned)
    return _move_files(given, decision, lives, free, limit)


def _move_files(
    given: PlanningInput,
    decision: PlacementDecision,
    lives: Lives,
    free: list[int],
    limit: int,
) -> tuple[PlacementDecision, int]:
    kept = _keep(_candidates(given, decision, lives), free)
    stays = decision.pinned.union(each.lfn for each in kept)
    smaller = _with_moved(decision.placement, stays, limit)
    left = {lfn: life for lfn, life in lives.items() if smaller.on_tier(lfn)}
    phases = _phases(smaller, left, len(free), limit)
    if phases is None:  # no level has more than the limit
        raise too_small(given, smaller.tier, smaller.need)
    lfns = tuple(lfn for lfn in lives if lfn not in left)
    moved = MovedFiles(lfns, benefit=sum(each.benefit for each in kept))
    fits = replace(smaller, phases=phases)
    rules = decision.persistent or decision
    fitted = replace(decision, placement=fits, moved=moved, persistent=rules)
    return fitted, phases.peak


def _phases(
    placement: Placement, lives: Lives, levels: int, limit: int
) -> PlannedPhases | None:
    born, dying = flow(lives, sizes(placement), levels)
    ends = phase_ends(born, dying, limit)
    if ends is None:
        return None
    return PlannedPhases(limit, tuple(ends), largest_phase(born, dying, ends))


def _free(
    decision: PlacementDecision, lives: Lives, levels: int, limit: int
) -> list[int]:
    pinned = {lfn: lives[lfn] for lfn in decision.pinned}
    born, dying = flow(pinned, sizes(decision.placement), levels)
    free = []
    held = 0
    for more, less in zip(born, dying, strict=True):
        held += more
        free.append(limit - held)
        held -= less
    return free


class FileCandidate(NamedTuple):
    """A file that may stay on the tier or move to the PFS."""

    lfn: str
    size: int  # bytes
    uses: int  # how often tasks read or write it
    first: int  # level, counted from 1
    last: int

    @property
    def benefit(self) -> int:
        return self.size * self.uses

    @property
    def rank(self) -> tuple[float, int]:
        """For sorting, best first: the benefit per byte and level, then the size."""
        return -self.uses / (self.last - self.first + 1), -self.size


def _keep(candidates: Iterable[FileCandidate], free: list[int]) -> list[FileCandidate]:
    """The files that stay: the best first, each if all its levels have space."""
    left = list(free)
    kept = []
    for each in sorted(candidates, key=lambda each: each.rank):
        levels = slice(each.first - 1, each.last)
        if min(left[levels]) >= each.size:
            left[levels] = [there - each.size for there in left[levels]]
            kept.append(each)
    return kept


def _candidates(
    given: PlanningInput, decision: PlacementDecision, lives: Lives
) -> Iterator[FileCandidate]:
    placement = decision.placement
    programs = program_users(given)
    for lfn, (first, last) in lives.items():
        file = placement.files[lfn]
        if lfn not in decision.pinned:
            readers = given.graph.consumers.get(lfn) or programs.get(lfn) or []
            uses = len(readers) + (file.how == "write")
            yield FileCandidate(lfn, file.size or 0, uses, first, last)


def _with_moved(placement: Placement, stays: Set[str], limit: int) -> Placement:
    files: dict[str, PlacedFile] = {}
    why = f"capacity is short ({format_size(limit)}): others are read and written more"
    for lfn, file in placement.files.items():
        goes = file.tier != PFS and lfn not in stays
        files[lfn] = replace(file, tier=PFS, reason=why) if goes else file
    return replace(placement, files=files)
