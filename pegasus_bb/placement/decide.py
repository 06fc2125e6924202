"""Every file's place: the rules of the tier, then whatever narrower rule there is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from pegasus_bb.errors import CatalogError
from pegasus_bb.files import is_there
from pegasus_bb.model.catalogs import Catalogs, environment
from pegasus_bb.model.graph import Graph
from pegasus_bb.model.history import History
from pegasus_bb.model.placement import PFS, Placed, Placement
from pegasus_bb.model.settings import AUTO, Settings
from pegasus_bb.model.tiers import Tier
from pegasus_bb.model.workflow import Workflow
from pegasus_bb.placement.executables import staged_executables
from pegasus_bb.placement.fitting import fitted
from pegasus_bb.placement.hybrid import part
from pegasus_bb.placement.lint import (
    lint_links,
    lint_names,
    lint_replicas,
    lint_tier,
)
from pegasus_bb.placement.liveness import Ending
from pegasus_bb.placement.overrides import by_jobs, by_metadata
from pegasus_bb.placement.patterns import PlacementFile, read_placement_file
from pegasus_bb.placement.policy import (
    ROOM,
    Rule,
    defaults,
    for_executables,
    home,
)
from pegasus_bb.placement.rooms import reserve_rooms
from pegasus_bb.placement.roomtier import room_tier
from pegasus_bb.placement.sizes import size_of
from pegasus_bb.placement.sizing import choose_capacity, wanted_capacity
from pegasus_bb.placement.survey import File, survey
from pegasus_bb.placement.words import Words


def decide(
    workflow: Workflow,
    graph: Graph,
    catalogs: Catalogs,
    tier: Tier,
    settings: Settings,
    ending: Ending,
) -> Placement:
    """``place_files``, and how much to reserve for that.

    Raises CatalogError for every mistake in what the user said.
    """
    placement = place(workflow, graph, catalogs, tier, settings, ending)
    return reserve(workflow, graph, catalogs, settings, placement, ending)


def place(
    workflow: Workflow,
    graph: Graph,
    catalogs: Catalogs,
    tier: Tier,
    settings: Settings,
    ending: Ending,
    history: History | None = None,
) -> Placement:
    """``place_files``, and in mode hybrid what leaves the shared reservation then.
    Raises CatalogError."""
    history = history or History()
    sizes = history.sizes
    placement = place_files(workflow, graph, catalogs, tier, settings, sizes)
    if settings.mode != "hybrid":
        return placement
    return part(workflow, graph, catalogs, settings, placement, ending, history)


def place_files(
    workflow: Workflow,
    graph: Graph,
    catalogs: Catalogs,
    tier: Tier,
    settings: Settings,
    learned: Mapping[str, int] | None = None,
) -> Placement:
    """Where every file of the workflow lives in a run on ``tier``, without a capacity.
    Narrowest wins: tier, job profile, file metadata, placement file. Looks at the
    sizes of local files, changes nothing. ``learned`` are sizes by LFN, for files whose
    size nobody declares.

    Raises CatalogError for every mistake in what the user said.
    """
    lint_tier(catalogs, tier, settings.mode)
    files = _all_files(workflow, catalogs, tier)
    lint_names(workflow, files)
    choose = _chooser(workflow, graph, catalogs, tier, settings, files)
    placed: dict[str, Placed] = {}
    pinned: list[str] = []
    to_rooms: list[str] = []
    for file in files.values():
        rule, narrow = choose(file)
        on, how = home(rule.where, file.role, tier)
        if narrow and on != PFS:
            (to_rooms if rule.where == ROOM else pinned).append(file.lfn)
        size = size_of(file, catalogs.replicas, tier.site)
        if size is None and learned:
            size = learned.get(file.lfn)
        placed[file.lfn] = Placed(file.lfn, file.role, on, how, size, rule.reason)
    lint_links(catalogs, tier, placed.values())
    here = [file for file in placed.values() if file.tier != PFS]
    need = sum(file.size for file in here if file.size is not None)
    unknown = tuple(file.lfn for file in here if file.size is None)
    return Placement(
        tier,
        placed,
        need,
        unknown,
        0,
        pinned=frozenset(pinned),
        to_rooms=frozenset(to_rooms),
    )


def _apart(catalogs: Catalogs, settings: Settings, tier: Tier) -> Tier | None:
    """Where rooms are in mode hybrid, where that is not on ``tier``. Mode auto may come
    to that one."""
    if settings.mode not in ("hybrid", "auto"):
        return None
    try:
        rooms = room_tier(catalogs, settings, tier)
    except CatalogError:
        if settings.mode == "auto":  # which leaves mode hybrid aside then
            return None
        raise
    return None if rooms == tier else rooms


def reserve(
    workflow: Workflow,
    graph: Graph,
    catalogs: Catalogs,
    settings: Settings,
    placement: Placement,
    ending: Ending,
) -> Placement:
    """``placement`` with its capacity, and so that it fits. Raises CatalogError."""
    if settings.mode == "transient":
        return reserve_rooms(workflow, catalogs, settings, placement)
    tier, unknown = placement.tier, placement.unknown
    wanted = wanted_capacity(tier, settings)
    short = wanted != AUTO and wanted < placement.need
    if short or wanted == AUTO:  # then every size is wanted
        lint_replicas(workflow, catalogs, (placement.files[lfn] for lfn in unknown))
    need = placement.need
    if short:
        placement, need = fitted(workflow, graph, catalogs, settings, placement, ending)
    capacity = choose_capacity(catalogs, tier, settings, need, unknown)
    return replace(placement, capacity=capacity)


def _all_files(workflow: Workflow, catalogs: Catalogs, tier: Tier) -> dict[str, File]:
    files = survey(workflow)
    programs = staged_executables(workflow, catalogs.transformations, tier.site)
    for lfn, executable in programs.items():
        files.setdefault(lfn, File(lfn, executable=executable.pfn))
    return files


def _chooser(
    workflow: Workflow,
    graph: Graph,
    catalogs: Catalogs,
    tier: Tier,
    settings: Settings,
    files: dict[str, File],
) -> Callable[[File], tuple[Rule, bool]]:
    """The function gives a file's rule, and whether it is narrower than the tier's."""
    tiers = catalogs.tiers.get(tier.site, [tier])
    apart = _apart(catalogs, settings, tier)
    words = Words.of(tier, tiers, apart, graph.consumers)
    classes = defaults(tier)
    programs = for_executables(tier)
    jobs = by_jobs(workflow, graph, files, words)
    patterns = _patterns(catalogs, settings, files, words)

    def choose(file: File) -> tuple[Rule, bool]:
        rule = patterns.rule(file, words) if patterns else None
        if rule is None and file.tier:
            rule = by_metadata(workflow, file, words)
        if rule is None:
            rule = jobs.get(file.lfn)
        if rule is not None:
            return rule, True
        return (programs if file.executable else classes[file.role]), False

    return choose


def _patterns(
    catalogs: Catalogs, settings: Settings, files: dict[str, File], words: Words
) -> PlacementFile | None:
    if settings.placement is None:
        return None
    if not is_there(settings.placement):
        raise catalogs.properties.error(
            "pegasus.bb.placement",
            f"{settings.placement}: there is no such file",
            "the path of a placement file, such as placement.yml",
        )
    variables = environment(catalogs.properties)
    patterns = read_placement_file(settings.placement, variables)
    patterns.check(files, words)
    return patterns
