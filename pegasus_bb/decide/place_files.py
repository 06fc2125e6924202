"""Decides a plan: the tier of every file, the capacity, pools and streams."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pegasus_bb.decide.decision import PlacementDecision, PlanningInput
from pegasus_bb.decide.lint_files import lint_links, lint_names, lint_nested
from pegasus_bb.decide.liveness import lives_of
from pegasus_bb.decide.sizing import reserve_shared, wanted_capacity
from pegasus_bb.decide.survey import survey
from pegasus_bb.decide.tier_choice import choose_tier, lint_tier, rule_of
from pegasus_bb.decide.tier_rules import JOB, homes
from pegasus_bb.model.history import declared_past
from pegasus_bb.model.placement import PFS, PlacedFile, Placement
from pegasus_bb.model.settings import AUTO
from pegasus_bb.model.tiers import Tier


def decide(given: PlanningInput) -> PlacementDecision | None:
    """The decision with its capacity; None in mode off. Raises CatalogError."""
    decision = place(given)
    return None if decision is None else with_capacity(given, decision)


def place(given: PlanningInput) -> PlacementDecision | None:
    """Where every file lives, without a capacity; None in mode off.

    Where results leave late, they live longer. Raises CatalogError.
    """
    settings = given.settings
    if not settings.mode.uses_tier:
        if given.data_configuration.is_private:
            graph = given.graph
            lfns = graph.producer | graph.consumers
            lint_nested(given, lfns)
        return None
    tier = choose_tier(given.catalogs, settings, given.site.name)
    rule = rule_of(settings, tier)
    late = replace(given, ending=replace(given.ending, late=True))
    if rule.policy.is_late:
        return place_files(late, tier)
    if rule.needs_forecast:  # paced to the end of the run, or of a phase
        decision = place_files(late, tier)
        wanted = wanted_capacity(tier, settings)
        if wanted == AUTO or wanted >= decision.placement.need:
            return decision
    return place_files(given, tier)


def with_capacity(
    given: PlanningInput, decision: PlacementDecision
) -> PlacementDecision:
    """``decision`` with the capacity to reserve and the stream of each file. Raises
    CatalogError."""
    decision = reserve(given, decision)
    placement = decision.placement
    if placement.job_tier.request is not None:
        from pegasus_bb.decide.lint_requests import lint_requests  # few tiers ask

        lint_requests(given, placement)
    # In modes other than persistent files live as long as a job.
    if placement.tier.streams == "off" or not given.settings.mode.is_only_shared:
        return decision
    from pegasus_bb.decide.stream_choice import with_streams  # few tiers have them

    return with_streams(given, decision)


def place_files(given: PlanningInput, tier: Tier) -> PlacementDecision:
    """The decision where every file lives in a run on ``tier``, without a capacity.

    The narrowest rule wins: tier, job profile, file metadata, placement file. Reads the
    sizes of local files. Raises CatalogError for every mistake of the user.
    """
    decision = place_by_rules(given, tier)
    if not given.settings.mode.is_both:
        return decision
    from pegasus_bb.decide.hybrid_mode import apply_hybrid_mode  # slow to load

    return apply_hybrid_mode(given, decision)


def place_by_rules(given: PlanningInput, tier: Tier) -> PlacementDecision:
    """``place_files`` without the changes of mode hybrid."""
    lint_tier(given.catalogs, tier, given.settings.mode)
    files = survey(given)
    lint_names(given, files)
    found = homes(given, tier, files)
    lives = lives_of(given, files)
    seconds = _lifetimes(given, lives)
    placed: dict[str, PlacedFile] = {}
    made_inside = given.workflow.made_by_own_runs
    for file, on, how, rule, _ in found:
        if file.lfn in made_inside and how == "link":
            how = "copy"  # it is not there yet
        size = (
            given.history.largest_sizes.get(file.lfn)
            if file.size is None
            else file.size
        )
        if size is not None and not file.executable:
            size *= given.scale
        first, last = lives[file.lfn]
        life = last - first + 1, seconds.get(file.lfn), last
        placed[file.lfn] = PlacedFile(
            file.lfn, file.role, on, how, size, rule.reason, *life
        )
    lint_links(given.catalogs, tier, placed.values())
    pinned = {home.file.lfn for home in found if home.is_narrow and home.tier != PFS}
    for_jobs = {home.file.lfn for home in found if home.rule.where == JOB} & pinned
    return PlacementDecision(
        Placement(tier, placed), frozenset(pinned - for_jobs), frozenset(for_jobs)
    )


def _lifetimes(
    given: PlanningInput, lives: Mapping[str, tuple[int, int]]
) -> dict[str, float]:
    """LFN -> seconds between its first level and its last, if run times are known."""
    declared = (given.profile(x, "runtime") for x in given.workflow)
    if not given.history.has_times and not any(map(declared_past, declared)):
        return {}
    from pegasus_bb.decide.run_times import LevelClock  # a first plan knows none

    return LevelClock.of(given).seconds(lives)


def reserve(given: PlanningInput, decision: PlacementDecision) -> PlacementDecision:
    """``decision`` with a capacity, changed if the files would not fit. Raises
    CatalogError. Call it once for each decision.
    """
    placement = decision.placement
    settings = given.settings
    if settings.mode.is_only_for_jobs:
        from pegasus_bb.decide.job_reservations import reserve_for_jobs  # slow to load

        decision = replace(decision, placement=reserve_for_jobs(given, placement))
        if settings.chains == "off":
            return decision
        from pegasus_bb.decide.chains import with_chains  # slow to load

        return with_chains(given, decision)
    decision = reserve_shared(given, decision)
    tier = placement.tier
    # Only mode persistent has pools: in others files of the tier live as long as a job.
    if not tier.pools or not settings.mode.is_only_shared:
        return decision
    from pegasus_bb.decide.pool_choice import with_pools  # few tiers have them

    return replace(decision, placement=with_pools(given, decision.placement))
