"""Every file's place: the rules of the tier, then whatever narrower rule there is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pegasus_bb.errors import CatalogError
from pegasus_bb.files import is_there
from pegasus_bb.model.catalogs import environment
from pegasus_bb.model.placement import PFS, PlacedFile, Placement
from pegasus_bb.model.properties import AUTO
from pegasus_bb.model.tiers import Tier
from pegasus_bb.placement.decision import PlacementDecision
from pegasus_bb.placement.executables import staged_executables
from pegasus_bb.placement.fitting import fitted
from pegasus_bb.placement.hybrid_mode import apply_hybrid_mode
from pegasus_bb.placement.job_reservations import reserve_for_jobs
from pegasus_bb.placement.lint import (
    job_tier,
    lint_links,
    lint_names,
    lint_replicas,
    lint_tier,
)
from pegasus_bb.placement.overrides import by_jobs, by_metadata
from pegasus_bb.placement.patterns import PlacementFile, read_placement_file
from pegasus_bb.placement.planning_input import PlanningInput
from pegasus_bb.placement.policy import (
    JOB,
    Rule,
    defaults,
    for_executables,
    home,
)
from pegasus_bb.placement.sizing import choose_capacity, wanted_capacity
from pegasus_bb.placement.survey import File, size_of, survey
from pegasus_bb.placement.words import Words

_Chooser = Callable[[File], tuple[Rule, bool]]  # and: is it narrower than the tier's?


def place_files(given: PlanningInput, tier: Tier) -> PlacementDecision:
    """Where every file lives in a run on ``tier``, without a capacity.

    Narrowest wins: tier, job profile, file metadata, placement file. Looks at the
    sizes of local files, changes nothing. Raises CatalogError for every mistake in what
    the user said.
    """
    decision = place_by_rules(given, tier)
    hybrid = given.settings.mode == "hybrid"
    return apply_hybrid_mode(given, decision) if hybrid else decision


def place_by_rules(given: PlanningInput, tier: Tier) -> PlacementDecision:
    """``place_files`` without what mode hybrid changes."""
    lint_tier(given.catalogs, tier, given.settings.mode)
    files = _all_files(given, tier)
    lint_names(given.workflow, files)
    choose = _chooser(given, tier, files)
    placed: dict[str, PlacedFile] = {}
    pinned: list[str] = []
    for_jobs: list[str] = []
    for file in files.values():
        rule, narrow = choose(file)
        on, how = home(rule.where, file.role, tier)
        if narrow and on != PFS:
            (for_jobs if rule.where == JOB else pinned).append(file.lfn)
        size = size_of(file, given.catalogs.replicas, tier.site)
        if size is None:
            size = given.history.sizes.get(file.lfn)
        placed[file.lfn] = PlacedFile(file.lfn, file.role, on, how, size, rule.reason)
    lint_links(given.catalogs, tier, placed.values())
    placement = Placement(tier, placed)
    return PlacementDecision(placement, frozenset(pinned), frozenset(for_jobs))


def reserve(given: PlanningInput, decision: PlacementDecision) -> PlacementDecision:
    """``decision`` with its capacity, and so that the files fit. Raises CatalogError.

    A decision that has its capacity must not come here again.
    """
    placement, settings = decision.placement, given.settings
    if settings.mode == "transient":
        return replace(decision, placement=reserve_for_jobs(given, placement))
    tier, unknown = placement.tier, placement.unknown
    wanted = wanted_capacity(tier, settings)
    short = wanted != AUTO and wanted < placement.need
    if short or wanted == AUTO:  # then every size is wanted
        files = (placement.files[lfn] for lfn in unknown)
        lint_replicas(given.workflow, given.catalogs, files)
    need = placement.need
    if short:
        decision, need = fitted(given, decision)
    capacity = choose_capacity(given.catalogs, tier, settings, need, unknown)
    return replace(decision, placement=replace(decision.placement, capacity=capacity))


def _all_files(given: PlanningInput, tier: Tier) -> dict[str, File]:
    files = survey(given.workflow)
    programs = given.catalogs.transformations
    staged = staged_executables(given.workflow, programs, tier.site)
    for lfn, executable in staged.items():
        files.setdefault(lfn, File(lfn, executable=executable.pfn))
    return files


def _chooser(given: PlanningInput, tier: Tier, files: dict[str, File]) -> _Chooser:
    """The function that gives a file's rule."""
    tiers = given.catalogs.tiers.get(tier.site, [tier])
    other = _other_job_tier(given, tier)
    words = Words.of(tier, tiers, other, given.graph.consumers)
    classes = defaults(tier)
    programs = for_executables(tier)
    jobs = by_jobs(given.workflow, given.graph, files, words)
    patterns = _patterns(given, files, words)

    def choose(file: File) -> tuple[Rule, bool]:
        rule = patterns.rule(file, words) if patterns else None
        if rule is None and file.tier:
            rule = by_metadata(given.workflow, file, words)
        if rule is None:
            rule = jobs.get(file.lfn)
        if rule is not None:
            return rule, True
        return (programs if file.executable else classes[file.role]), False

    return choose


def _other_job_tier(given: PlanningInput, tier: Tier) -> Tier | None:
    """The tier of job reservations in mode hybrid, if it is not ``tier``. Mode auto may
    come to mode hybrid."""
    if given.settings.mode not in ("hybrid", "auto"):
        return None
    try:
        found = job_tier(given.catalogs, given.settings, tier)
    except CatalogError:
        if given.settings.mode == "auto":  # which leaves mode hybrid aside then
            return None
        raise
    return None if found == tier else found


def _patterns(
    given: PlanningInput, files: dict[str, File], words: Words
) -> PlacementFile | None:
    file, properties = given.settings.placement, given.catalogs.properties
    if file is None:
        return None
    if not is_there(file):
        raise properties.error(
            "pegasus.bb.placement",
            f"{file}: there is no such file",
            "the path of a placement file, such as placement.yml",
        )
    patterns = read_placement_file(file, environment(properties))
    patterns.check(files, words)
    return patterns
