"""What planning chose, and the file or option that set it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from pegasus_bb.core.units import abbreviate, format_files, format_size
from pegasus_bb.decide.decision import PlacementDecision, PlanningInput, Selection
from pegasus_bb.decide.sizing import wanted_capacity
from pegasus_bb.decide.tier_choice import rule_of, usual_mode
from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.dag.blahp import CONDOR
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.settings import AUTO, PREFIX, Settings
from pegasus_bb.model.tiers import KEY, SUBMIT_DIR, Tier
from pegasus_bb.model.workflow import OWN_RUN
from pegasus_bb.planner.node_programs import untested_notes
from pegasus_bb.planner.reading import CHOSEN_MODE
from pegasus_bb.planner.run_plan import RunPlan, output_folders

_NO_CHAINS = "chains:   none: only mode transient has them"


def summary(
    given: PlanningInput, decision: PlacementDecision | None
) -> tuple[str, ...]:
    """Lines for a person: mode, tier, capacity; unused tiers, an untested Python."""
    catalogs = given.catalogs
    settings = given.settings
    site = given.site.name
    by = _origin(catalogs, "mode") or "the default"
    mode = f"mode:     {settings.mode} ({by})"
    untested = untested_notes(settings)
    folders = folders_line(given)
    if decision is None:
        has_own_runs = any(j.kind == OWN_RUN for j in given.workflow)
        is_known = has_own_runs or by == CHOSEN_MODE  # sub-workflows may use a tier
        tiers = [] if is_known else catalogs.tiers.get(site, [])
        return (
            mode,
            folders,
            *([] if settings.chains == "off" else [_NO_CHAINS]),
            *unused_tier_notes(tiers, settings),
            *untested,
        )
    placement = decision.placement
    tier = decision.placement.tier
    chosen = _origin(catalogs, "tier") or f"the first of {_tier_file(catalogs)}"
    return (
        mode,
        f"tier:     {tier.name} of site {site}, {tier.backend} ({chosen})",
        folders,
        *_nodes(given, tier),
        _capacity(catalogs, settings, placement),
        *fit_lines(decision),
        *reservation_lines(decision),
        *node_disk_lines(decision, settings),
        *_pools_and_streams(decision),
        *_draining(catalogs, settings, tier),
        *_unknown_sizes(placement),
        *untested,
    )


def folders_line(given: PlanningInput) -> str:
    """Say where the jobs work, and which setting decides that."""
    configuration = given.data_configuration
    if not configuration.is_private:
        how = "all jobs work in the workflow directory"
    elif given.settings.private == "node":
        how = "each job has a private folder on its node"
    else:
        how = "each job has a private folder"
    return f"folders:  {how} (data.configuration: {configuration})"


def result_lines(given: PlanningInput, run: RunPlan) -> Iterator[str]:
    """Say where the results will be; a note of the planner says that they stay."""
    for folder, site in output_folders(run, given.catalogs).items():
        yield f"results:  to {folder} (site {site})"


def _nodes(given: PlanningInput, tier: Tier) -> Iterator[str]:
    """A line where Pegasus takes it that nodes share no folder with this machine."""
    is_pool = given.data_configuration.is_private and given.site.style == CONDOR
    if tier.is_all_nodes_see or is_pool:
        yield f"nodes:    {what_nodes_see(tier)}"


def what_nodes_see(tier: Tier) -> str:
    """Whether nodes see the submit directory, and whether that is a guess."""
    if tier.is_all_nodes_see and not tier.is_reserved:
        return (
            "need not see anything of this machine: HTCondor brings what a job needs, "
            f"and takes its results back (submit_dir: local in tier {tier.name})"
        )
    if tier.is_all_nodes_see:
        return (
            "need not see the submit directory: if it is not on the tier, a job brings "
            f"what it needs of it (submit_dir: local in tier {tier.name})"
        )
    is_stated = SUBMIT_DIR in tier.settings
    mend = "; if they do not: submit_dir: local in the tier"
    guess = mend if tier.kind.is_one_folder else ""
    where = f"stated in tier {tier.name}" if is_stated else f"assumed{guess}"
    return f"have to see the submit directory under its path here ({where})"


def node_disk_lines(decision: PlacementDecision, settings: Settings) -> Iterator[str]:
    """What stays on the disks of nodes, which parallelism that takes, and which inputs
    come once to a node."""
    has_cache = decision.placement.tier.has_cache
    if settings.chains == "off" and not has_cache:
        return
    from pegasus_bb.planner import node_disk_summary  # few plans have either

    if settings.chains != "off" and settings.mode.is_chosen:
        yield "chains:   those of mode transient are in its row of the table"
    elif settings.chains != "off" and not settings.mode.is_only_for_jobs:
        yield _NO_CHAINS
    elif settings.chains != "off":
        yield node_disk_summary.what_chains_do(decision, settings)
        yield from node_disk_summary.compared_cuts(decision)
    if has_cache and (line := node_disk_summary.what_the_cache_does(decision)):
        yield line


def _pools_and_streams(decision: PlacementDecision) -> Iterator[str]:
    """Lines if files with different lifetimes are separated on the tier."""
    files = decision.placement.files.values()
    counts = Counter(file.pool for file in files if file.pool)
    if counts:
        shares = (f"{format_files(n)} in {pool}" for pool, n in sorted(counts.items()))
        yield f"pools:    {', '.join(shares)}"
    if decision.streams is not None:
        policy, why = decision.streams
        yield f"streams:  by {policy}" + (f" (auto: {why})" if why else "")


def _draining(catalogs: Catalogs, settings: Settings, tier: Tier) -> Iterator[str]:
    """Lines if results do not leave at once."""
    rule = rule_of(settings, tier)
    origin = _origin_or_tier(catalogs, "drain", tier)
    if rule.rate:
        yield f"draining: at most {format_size(rule.rate)}/s ({origin})"
    elif rule.policy.about:
        yield f"draining: {rule.policy.about} ({origin})"
    service = tier.settings.get("service")
    if rule.policy.is_paced and service:
        yield f"draining: staging service {service} keeps the pace"


def unused_tier_notes(tiers: Sequence[Tier], settings: Settings) -> list[str]:
    """A note if a site has ``tiers``, which mode off does not use."""
    named = [tier for tier in tiers if tier.name == settings.tier]
    return [
        f"mode off: tier {tier.name} of site {tier.site} is not used; "
        f"--bb-mode {usual_mode(tier)} uses it"
        for tier in [*named, *tiers][:1]
    ]


def _capacity(catalogs: Catalogs, settings: Settings, placement: Placement) -> str:
    if settings.mode.is_only_for_jobs:
        return _per_job(catalogs, settings, placement)
    size = placement.capacity
    tier = placement.tier
    origin = _origin_or_tier(catalogs, "capacity", tier)
    is_auto = wanted_capacity(tier, settings) == AUTO
    if is_auto and placement.unknown:
        origin = (
            f"auto: {settings.share} % of what the tier has free "
            f"({_origin(catalogs, 'share') or 'the default of pegasus.bb.share'}), "
            f"without the size of {format_files(len(placement.unknown))}; {origin}"
        )
    elif is_auto:
        headroom = _origin(catalogs, "headroom") or "the default"
        origin = (
            f"auto: {format_size(placement.need)} of files and {settings.headroom} % "
            f"headroom ({headroom}); {origin}"
        )
    steps = f"in steps of {format_size(tier.granularity)}"
    return f"capacity: {format_size(size)} = {size} bytes, {steps} ({origin})"


def _per_job(catalogs: Catalogs, settings: Settings, placement: Placement) -> str:
    sizes = [own.capacity for own in placement.job_reservations.values()]
    if not sizes:
        return "capacity: none: no job has a file on the tier"
    tier = placement.tier
    origin = _origin_or_tier(catalogs, "capacity", tier)
    wanted = wanted_capacity(tier, settings)
    how = f"{format_size(wanted)} given"
    if wanted == AUTO:
        how = "auto: files of the job"
    how += f", in steps of {format_size(tier.granularity)}"
    each = f"{_span_of(sizes)} {for_jobs(len(sizes))}"
    if not tier.is_reserved:
        each += ", free on its node: nothing is reserved"
    return f"capacity: {each} ({how}; {origin})"


def for_jobs(count: int) -> str:
    return "for one job" if count == 1 else f"for each of {count} jobs"


def fit_lines(decision: PlacementDecision) -> list[str]:
    """How the files fit into a capacity below their sum; empty if all of them fit."""
    placement = decision.placement
    moved = decision.moved
    phases = placement.phases
    lines = []
    if phases is not None and phases.count > 1:
        most = format_size(phases.peak)
        lines.append(
            f"phases:   {phases.count}, at most {most} on the tier; each begins when "
            "the clean-ups of the one before have ended"
        )
    if moved is not None:
        size = sum(placement.files[lfn].size or 0 for lfn in moved.lfns)
        lines.append(
            f"moved:    {format_files(len(moved.lfns))}, {format_size(size)}, to the "
            "PFS because capacity is short; tasks read and write "
            f"{format_size(moved.benefit)} of the others on the tier"
        )
    return lines


def reservation_lines(decision: PlacementDecision) -> list[str]:
    """Mode hybrid: how many jobs have a reservation, and what that saves."""
    placement = decision.placement
    selection = decision.selection
    if selection is None:
        return []
    sizes = [own.capacity for own in placement.job_reservations.values()]
    if selection.why_none or not selection.asked:
        why = selection.why_none or "no file lives and dies with one job"
        return [f"jobs:     no job reservations: {why}"]
    if not sizes:
        return [
            "jobs:     no job has a reservation of its own, which would "
            f"{_no_gain(placement)}; {_figures(selection)}"
        ]
    on = placement.other_tier
    where = f" on tier {on.name}, {on.backend}" if on else ""
    return [
        f"jobs:     {len(sizes)} of {selection.asked} jobs with own files have a "
        f"reservation, {_span_of(sizes)} each{where}; {_figures(selection)}"
    ]


def _no_gain(placement: Placement) -> str:
    reserved = placement.job_tier.is_reserved
    return "take more than it saves" if reserved else "save nothing"


def _figures(selection: Selection) -> str:
    def amount(figure: float) -> str:
        return f"{format_size(int(figure))} x {selection.unit}"

    own = selection.job_reservations
    jobs = f", {amount(own)} in job reservations" if own else ""
    return (
        f"reserved space x time: {amount(selection.shared)} shared{jobs}; in mode "
        f"persistent {amount(selection.persistent)}"
    )


def _span_of(sizes: Sequence[int]) -> str:
    each = format_size(min(sizes))
    return each if max(sizes) == min(sizes) else f"{each} to {format_size(max(sizes))}"


def _unknown_sizes(placement: Placement) -> list[str]:
    """A note on unknown sizes, which a given capacity does not need."""
    unknown = placement.unknown
    if not unknown:
        return []
    here = sum(placement.on_tier(lfn) for lfn in placement.files)
    return [
        f"sizes:    not known for {len(unknown)} of {here} files on the tier "
        f"({abbreviate(unknown)}); the capacity has to hold them, too"
    ]


def _origin(catalogs: Catalogs, name: str) -> str:
    return catalogs.properties.origin(PREFIX + name)


def _origin_or_tier(catalogs: Catalogs, name: str, tier: Tier) -> str:
    """Where the user set ``name``: in a property, else in the tier."""
    return _origin(catalogs, name) or f"tier {tier.name} in {_tier_file(catalogs)}"


def _tier_file(catalogs: Catalogs) -> str:
    """The file of the tiers as a person would name it from where he is."""
    path = catalogs.storage_document(KEY).path
    inside = path.is_relative_to(Path.cwd())
    return str(path.relative_to(Path.cwd()) if inside else path)
