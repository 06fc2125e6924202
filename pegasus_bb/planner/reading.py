"""Reads the user's files and options, and places every file; writes nothing."""

from __future__ import annotations

import gc
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pegasus_bb.core.errors import UsageError
from pegasus_bb.decide.decision import Ending, PlanningInput
from pegasus_bb.decide.lint import lint_pfns
from pegasus_bb.decide.place_files import place_files, reserve
from pegasus_bb.decide.sizing import wanted_capacity
from pegasus_bb.decide.stream_choice import with_streams
from pegasus_bb.model.catalogs import Catalogs, Site, load_inputs, read_sites
from pegasus_bb.model.document import Document, suggestion
from pegasus_bb.model.drain_settings import OFF
from pegasus_bb.model.graph import build_graph
from pegasus_bb.model.history import History, combine
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.properties import (
    AUTO,
    PREFIX,
    Properties,
    Settings,
    property_of,
    read_properties,
    read_settings,
)
from pegasus_bb.model.tiers import KEY, Tier
from pegasus_bb.model.transformations import read_transformations
from pegasus_bb.model.workflow import Workflow, read_workflow
from pegasus_bb.planner.drain_plan import rule_of
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.rewrite.pass_input import Inputs
from pegasus_bb.planner.rewrite.passes import JOB_PASSES, WORKFLOW_PASSES, rewrite
from pegasus_bb.planner.run_plan import RunPlan
from pegasus_bb.planner.runfiles import containers_file
from pegasus_bb.planner.stream_policy import choose_policy

_MODE = f"{PREFIX}mode"
_NO_MODE = "no --bb-mode given"  # the origin of a command's own default mode


def properties_of(options: PlanOptions) -> Properties:
    """All properties: file, then -D, then --bb-X. Raises UsageError, CatalogError."""
    conf = options.absolute(options.conf) if options.conf else None
    properties = read_properties(conf, options.defines, options.cwd, Path.home())
    properties = properties.with_values(options.bb_options, options.origin)
    if options.mode and _MODE not in properties:
        return properties.with_values({_MODE: options.mode}, _NO_MODE)
    return properties


def note_on_mode(properties: Properties) -> str:
    """A note for the user if no mode is given; else empty."""
    if properties.origin(_MODE) != _NO_MODE:
        return ""
    return (
        f"no --bb-mode given: this shows mode {properties[_MODE]}; plan would "
        "take mode off and use no tier"
    )


@dataclass(frozen=True)
class UserInput:
    """The user's files as read; the workflow is not parsed yet."""

    workflow: Document
    catalogs: Catalogs
    settings: Settings


def read_user_input(options: PlanOptions) -> UserInput:
    """Read workflow, catalogs and properties. Raises UsageError and CatalogError."""
    options.check()
    properties = properties_of(options)
    settings = read_settings(properties, options.cwd)
    folders = [options.absolute(folder) for folder in options.input_dir]
    workflow, catalogs = load_inputs(
        options.absolute(options.workflow), properties, options.cwd, folders
    )
    return UserInput(workflow, catalogs, settings)


def read_and_decide(options: PlanOptions) -> PlanningInput:
    """``read_and_place``, with a capacity. Raises as that does."""
    return with_capacity(read_and_place(options))


def with_capacity(placed: PlanningInput) -> PlanningInput:
    """``placed`` with the capacity to reserve and the stream of each file. Raises
    CatalogError."""
    if placed.decision is None:
        return placed
    reserved = reserve(placed, placed.decision)
    return replace(placed, decision=with_streams(placed, reserved, choose_policy))


def with_placement(
    decided: PlanningInput, placement: Placement | None
) -> PlanningInput:
    if placement is None or decided.decision is None:
        return decided
    return replace(decided, decision=replace(decided.decision, placement=placement))


def read_and_place(options: PlanOptions) -> PlanningInput:
    """Read workflow and catalogs and place every file, without a capacity. Writes
    nothing.

    Raises UsageError and CatalogError for every mistake of the user's.
    """
    return place(options, read_user_input(options))


def place(options: PlanOptions, given: UserInput) -> PlanningInput:
    """``read_and_place`` for ``given``, which has been read."""
    catalogs, settings = given.catalogs, given.settings
    workflow = read_workflow(given.workflow)
    leave_out_absent(workflow, catalogs.replicas.replicas)
    graph = build_graph(workflow)
    lint_pfns(graph, catalogs)
    site = execution_site(options, catalogs)
    for name in options.output_sites:
        named_site(catalogs, "--output-sites", name)
    history = _history(settings)
    check_fallback(settings, site)
    containers_file(workflow, catalogs, site)  # refuses what cannot be started
    ending = Ending(options.cleanup, bool(options.output_sites or options.output_dir))
    read = PlanningInput(
        workflow=workflow,
        graph=graph,
        catalogs=catalogs,
        settings=settings,
        site=site,
        ending=ending,
        history=history,
    )
    if settings.mode == "off":
        return read
    tier = choose_tier(catalogs, settings, site.name)
    rule = rule_of(settings, tier)
    late = replace(read, ending=replace(ending, late=True))
    if rule.when == OFF:
        return replace(late, decision=place_files(late, tier))
    if rule.is_paced and not rule.rate:  # paced to the end of the run, or of a phase
        decision, wanted = place_files(late, tier), wanted_capacity(tier, settings)
        if wanted == AUTO or wanted >= decision.placement.need:
            return replace(late, decision=decision)
    return replace(read, decision=place_files(read, tier))


def leave_out_absent(workflow: Workflow, replicas: Collection[str]) -> None:
    """Take optional inputs that nothing makes out of their jobs, as Pegasus does."""
    jobs = workflow.jobs.values()
    optional = {use.lfn for job in jobs for use in job.inputs() if use.optional}
    absent = optional.difference(replicas)
    if absent:
        absent -= {use.lfn for job in jobs for use in job.outputs()}
    for job in jobs if absent else ():
        job.uses = [u for u in job.uses if not (u.optional and u.lfn in absent)]


def _history(settings: Settings) -> History:
    """What earlier runs have recorded. Raises UsageError if one is missing or has no
    usable record."""
    if not settings.history:
        return History()
    from pegasus_bb.report.learn import history_of  # most plannings learn nothing
    from pegasus_bb.report.run_folder import read_run  # most plannings learn nothing
    from pegasus_bb.report.startup import startup_of  # most plannings learn nothing

    histories = []
    for path in settings.history:
        run = read_run(path)
        history = replace(history_of(run), startup=startup_of(run))
        if not history.has_times and not history.sizes:
            why = [f"; {p.file}: {p.why}" for p in run.problems[:1]]
            raise UsageError(
                f"--bb-history {path}: no task that ended well has a record there"
                + "".join(why)
            )
        histories.append(history)
    return combine(histories)


@contextmanager
def no_collection() -> Iterator[None]:
    """Turn garbage collection off: planning makes millions of objects that live to its
    end. This halves the time of a workflow of 100 000 jobs."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.freeze()  # both calls move all objects to the oldest generation, so
            gc.unfreeze()  # that the next collection does not start with them
            gc.enable()


def execution_site(options: PlanOptions, catalogs: Catalogs) -> Site:
    """The one site where the tasks run. Raises UsageError and CatalogError."""
    known = catalogs.sites.sites
    named = [named_site(catalogs, "--sites", name) for name in options.sites]
    sites = named or [known[name] for name in known if name != "local"]
    if len(sites) > 1:
        sites = [site for site in sites if site.name != "local"]
    if len(sites) != 1:
        raise UsageError(
            "with a burst buffer, or with the built-in planner, the tasks of a "
            "workflow run on one site; say --sites with one of " + ", ".join(known)
        )
    if sites[0].scratch is None:
        raise catalogs.sites.document.error(
            f"site {sites[0].name} has no sharedScratch directory to run in",
            ["sites", sites[0].index, "directories"],
            would_do="add a directory of type sharedScratch",
        )
    return sites[0]


def named_site(catalogs: Catalogs, option: str, name: str) -> Site:
    """The site ``name``, which ``option`` names. Raises UsageError."""
    known = catalogs.sites.sites
    if name not in known:
        raise UsageError(
            f"{option} {name}: {catalogs.sites.document.path.name} declares no such "
            f"site; {suggestion(name, known)}"
        )
    return known[name]


def check_fallback_applies(options: PlanOptions, settings: Settings) -> None:
    """Raises UsageError if --bb-fallback pfs is given for a run without a gate. A
    property is ignored there, because one file may serve runs of all modes."""
    is_set = options.bb_options.get(f"{PREFIX}fallback") == "pfs"
    if is_set and not settings.falls_back and settings.mode != "auto":
        raise UsageError(
            "--bb-fallback pfs is for --bb-mode persistent, where the whole run waits "
            f"for one reservation; this is mode {settings.mode}. Leave it out, or say "
            "--bb-mode persistent"
        )


def check_job_tier_applies(options: PlanOptions, settings: Settings) -> None:
    """Raises UsageError if --bb-job-tier is given for a run without a second tier."""
    if property_of("job_tier") in options.bb_options and settings.mode not in (
        "hybrid",
        "auto",
    ):
        raise UsageError(
            "--bb-job-tier is for --bb-mode hybrid, where job reservations may be on "
            f"another tier than the files that jobs share; this is mode {settings.mode}"
            ", whose tier is --bb-tier's. Leave it out, or say --bb-mode hybrid"
        )


def check_fallback(settings: Settings, site: Site) -> None:
    """Raises UsageError if --bb-fallback pfs cannot work on this site."""
    path = site.scratch.path.rstrip("/") if site.scratch else ""
    wrong = not path.startswith("/") or any(c < " " or c in "\"'\\" for c in path)
    if settings.falls_back and wrong:
        raise UsageError(
            f"--bb-fallback pfs needs the site's own scratch; {path or '/'!r}, the "
            f"sharedScratch of site {site.name}, cannot stand for a reservation: it "
            "must be a full path without quotes, backslashes and control characters"
        )


def choose_tier(catalogs: Catalogs, settings: Settings, site: str) -> Tier:
    """The tier that the user named, or the site's first. Raises UsageError."""
    tiers = catalogs.tiers.get(site, [])
    if not tiers:
        raise catalogs.sites.document.error(
            f"site {site} declares no storage tier, so there is no burst buffer to use",
            [KEY] if KEY in catalogs.sites.document.data else [],
            would_do=_tier_to_use(catalogs, site),
        )
    if not settings.tier:
        return tiers[0]
    for tier in tiers:
        if tier.name == settings.tier:
            return tier
    raise catalogs.properties.error(
        "pegasus.bb.tier",
        f"site {site} has no such tier",
        suggestion(settings.tier, [tier.name for tier in tiers]),
    )


def _tier_to_use(catalogs: Catalogs, site: str) -> str:
    """The fix if ``site`` declares no tier."""
    if not catalogs.tiers:
        return f"add under {KEY}: {site}: a list with - name: bb, backend: ..."
    other = next(iter(catalogs.tiers))
    return (
        f"site {other} declares one: --sites {other}; or declare one for {site} under "
        f"{KEY}"
    )


def rewrite_inputs(given: Inputs, context: RunPlan) -> Inputs:
    """``given`` after the rewriting passes; unchanged in mode off. Raises CatalogError,
    UsageError."""
    if context.rewriting is None:
        return given
    passes = WORKFLOW_PASSES if context.request else JOB_PASSES
    return rewrite(given, context.rewriting, passes)


def rewrite_planning(decided: PlanningInput, context: RunPlan) -> PlanningInput:
    """``decided`` rewritten and parsed again: the input of the built-in planner."""
    if context.rewriting is None:
        return decided
    given = decided.catalogs
    changed = rewrite_inputs(Inputs.of(decided.workflow.document, given), context)
    catalogs = Catalogs(
        changed.properties,
        read_sites(changed.sites),
        given.replicas,  # no pass changes it, and --input-dir is in it
        read_transformations(changed.transformations),
        given.tiers,
    )
    workflow = read_workflow(changed.workflow, decided.workflow)
    leave_out_absent(workflow, given.replicas.replicas)
    graph = build_graph(workflow)
    return replace(decided, workflow=workflow, graph=graph, catalogs=catalogs)
