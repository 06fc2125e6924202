"""Reads the user's files and options; writes nothing."""

from __future__ import annotations

import gc
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pegasus_bb.core.errors import UsageError
from pegasus_bb.decide.decision import AMOUNTS, TIMES, Ending, PlanningInput
from pegasus_bb.decide.lint_files import lint_pfns
from pegasus_bb.decide.sizing import needs_sizes
from pegasus_bb.model.catalog_files import SOURCES, missing_file
from pegasus_bb.model.catalogs import (
    REPOSITORY,
    Catalogs,
    Site,
    load_inputs,
    read_sites,
)
from pegasus_bb.model.data_configuration import data_configuration
from pegasus_bb.model.document import Document, suggestion
from pegasus_bb.model.graph import build_graph
from pegasus_bb.model.history import History
from pegasus_bb.model.modes import OFF, RunMode
from pegasus_bb.model.property_files import read_properties
from pegasus_bb.model.settings import (
    PREFIX,
    Properties,
    Settings,
    property_of,
    read_settings,
)
from pegasus_bb.model.tiers import Tier
from pegasus_bb.model.workflow import (
    OWN_RUN,
    PEGASUS_WORKFLOW,
    Workflow,
    read_workflow,
    with_own_runs,
)
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.pegasus_home import find_home, is_builtin, resolve_home
from pegasus_bb.planner.rewrite.pass_input import with_scratch
from pegasus_bb.planner.runfiles import containers_file

_MODE = f"{PREFIX}mode"
_NO_MODE = "no --bb-mode given"  # the origin of a command's own default mode
CHOSEN_MODE = "chosen by auto"  # as an origin


def properties_of(options: PlanOptions) -> Properties:
    """All properties: file, then -D, then --bb-X. Raises UsageError, CatalogError."""
    conf = options.absolute(options.conf) if options.conf else None
    properties = own_properties(conf, options.defines, options.cwd)
    properties = properties.with_values(options.bb_options, options.origin)
    if options.chosen_mode:
        return properties.with_values({_MODE: options.chosen_mode}, CHOSEN_MODE)
    if options.mode and _MODE not in properties:
        return properties.with_values({_MODE: options.mode}, _NO_MODE)
    return properties


def own_properties(conf: Path | None, defines: Sequence[str], cwd: Path) -> Properties:
    """Those of this user, here. Raises UsageError, CatalogError."""
    home = find_home()
    installed = home.properties if home else None
    return read_properties(
        conf, defines, cwd, Path.home(), environ=os.environ, installed=installed
    )


def names_mode(properties: Properties) -> bool:
    """Whether an option or a property of the user's names the mode."""
    return properties.origin(_MODE) != _NO_MODE


def note_on_mode(properties: Properties) -> str:
    """A note for the user if no mode is given; else empty."""
    if names_mode(properties):
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
    workflow, catalogs = load_inputs(
        options.absolute(options.workflow),
        properties,
        options.cwd,
        [options.absolute(folder) for folder in options.input_dir],
        named={*options.sites, *options.output_sites},
        folder_of_sites=options.folder_of_sites,
        program_dirs=[
            options.absolute(folder) for folder in options.transformations_dir
        ],
    )
    return UserInput(workflow, catalogs, settings)


def read(options: PlanOptions) -> PlanningInput:
    """Read the workflow, the catalogs and earlier runs. Writes nothing.

    Raises UsageError and CatalogError for every mistake of the user's.
    """
    return read_planning(options, read_user_input(options))


def read_planning(options: PlanOptions, user: UserInput) -> PlanningInput:
    """``read`` for ``user``, which has been read."""
    catalogs = user.catalogs
    settings = user.settings
    check_options_apply(options, settings)
    workflow = read_workflow(user.workflow)
    leave_out_absent(workflow, catalogs.replicas.replicas)
    has_inner = any(job.kind == PEGASUS_WORKFLOW for job in workflow)
    if has_inner and resolve_home(settings.planner) is None:
        workflow = with_own_runs(workflow)
        # They reserve space of their own meanwhile, by the whole share.
        settings = replace(settings, share=max(1, settings.share // 2))
    graph = build_graph(workflow)
    lint_pfns(graph, catalogs)
    catalogs, site = _with_scratch(options, catalogs, execution_site(options, catalogs))
    if not _has_tasks(options, workflow, catalogs, site):
        settings = replace(settings, mode=OFF)  # it has no files
    for name in options.output_sites:
        named_site(catalogs, "--output-sites", name)
    history, notes = _history(options, catalogs, settings, workflow, site)
    check_fallback(settings, site)
    delivered = bool(options.output_sites or options.output_dir)
    given = PlanningInput(
        workflow=workflow,
        graph=graph,
        catalogs=catalogs,
        settings=settings,
        site=site,
        ending=Ending(options.cleanup, delivered),
        history=history,
        notes=(*notes, *_notes(options, user, site)),
        free_on=_free_on,
    )
    containers_file(given)  # refuses what cannot be started
    given.check_amounts(AMOUNTS | TIMES if is_builtin(settings.planner) else AMOUNTS)
    return given


def _has_tasks(
    options: PlanOptions, workflow: Workflow, catalogs: Catalogs, site: Site
) -> bool:
    """Whether a job runs on ``site``: neither a sub-workflow, nor one that runs here
    because its program is only here."""
    jobs = (job for job in workflow if job.kind != OWN_RUN)
    if not options.may_run_here:
        return any(True for _ in jobs)
    programs = catalogs.transformations
    return not all(job.is_only_local(programs, site.name) for job in jobs)


def _notes(options: PlanOptions, user: UserInput, site: Site) -> Iterator[str]:
    """Notes on what planning takes otherwise than the user said. Raises UsageError."""
    properties = user.catalogs.properties
    check_staging_site(options, user.catalogs, site)
    if options.staging_site:
        mode = user.settings.mode
        yield from _note_on_staging(options.staging_site, site.name, mode)
    if options.conf and not options.absolute(options.conf).exists():
        yield f"--conf {options.conf}: there is no such file; it counts as empty"
    for folder in options.input_dir:
        if not options.absolute(folder).is_dir():
            yield f"--input-dir {folder}: there is no such folder; it counts as empty"
    for kind, (_, key) in SOURCES.items():
        is_carried = key in user.workflow.data
        gone = missing_file(kind, properties, options.cwd, is_carried=is_carried)
        if gone is not None:
            rest = "; those of the workflow are all" if is_carried else ""
            yield f"{kind} catalog: there is no {gone}: it counts as empty{rest}"
    if REPOSITORY in properties:
        from pegasus_bb.model.sites_by_property import (
            missing_repository,  # few have one
        )

        yield from missing_repository(options.cwd, properties[REPOSITORY])


def leave_out_absent(workflow: Workflow, replicas: Collection[str]) -> None:
    """Take optional inputs that nothing makes out of their jobs, as Pegasus does."""
    jobs = workflow.jobs.values()
    optional = {use.lfn for job in jobs for use in job.inputs() if use.optional}
    absent = optional.difference(replicas)
    if absent:
        absent -= {use.lfn for job in jobs for use in job.outputs()}
    for job in jobs if absent else ():
        job.uses = [u for u in job.uses if not (u.optional and u.lfn in absent)]


def _free_on(tier: Tier) -> int | None:
    from pegasus_bb.planner.local_files import free_on  # most sizes are known

    return free_on(tier)


def _history(
    options: PlanOptions,
    catalogs: Catalogs,
    settings: Settings,
    workflow: Workflow,
    site: Site,
) -> tuple[History, tuple[str, ...]]:
    """What earlier runs have recorded, and notes for the user. Raises UsageError."""
    if settings.history:
        from pegasus_bb.planner import earlier_runs  # few name one

        tiers = [tier.name for tier in catalogs.tiers.get(site.name, ())]
        history = earlier_runs.named_history(settings, tiers)
        return history, tuple(earlier_runs.foreign_note(history, workflow))
    if not needs_sizes(catalogs, settings, workflow, site):
        return History(), ()
    from pegasus_bb.planner.earlier_runs import last_history  # most sizes are known

    return last_history(options, workflow)


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
    return sites[0]


def _with_scratch(
    options: PlanOptions, catalogs: Catalogs, site: Site
) -> tuple[Catalogs, Site]:
    """The catalogs with a sharedScratch for ``site``, and the site with it.

    Where jobs have private folders, Pegasus needs none. Here the reservation stands
    for it, and what lives on the PFS has the folder that a tier of the site names, or
    one beside the submit directories. Raises CatalogError where jobs share it.
    """
    if site.scratch is not None:
        return catalogs, site
    document = catalogs.sites.document
    if not data_configuration(catalogs, site).is_private:
        raise document.error(
            f"site {site.name} has no sharedScratch directory to run in",
            ["sites", site.index, "directories"],
            would_do="add a directory of type sharedScratch",
        )
    named = (tier.scratch for tier in catalogs.tiers.get(site.name, ()))
    beside = options.scratch_beside(site.name)
    path = next(filter(None, named), str(beside))
    sites = read_sites(with_scratch(document, site.name, path))
    return replace(catalogs, sites=sites), sites.site(site.name)


def named_site(catalogs: Catalogs, option: str, name: str) -> Site:
    """The site ``name``, which ``option`` names. Raises UsageError."""
    known = catalogs.sites.sites
    if name not in known:
        document = catalogs.sites.document
        file = document.path.name
        why = (
            f"{file} declares no such site" if document.text else f"there is no {file}"
        )
        raise UsageError(f"{option} {name}: {why}; {suggestion(name, known)}")
    return known[name]


def check_staging_site(options: PlanOptions, catalogs: Catalogs, site: Site) -> None:
    """Raises UsageError if no catalog has the staging site of ``site``."""
    if options.staging_site:
        name = _staging_site(options.staging_site, site.name)
        named_site(catalogs, "--staging-site", name)


def _note_on_staging(words: Sequence[str], site: str, mode: RunMode) -> Iterator[str]:
    """A line that says what takes the place of the staging site of ``site``, where a
    plain pegasus-plan has the files that its jobs share.

    ``words`` are SITE, or EXECUTION_SITE=STAGING_SITE, as pegasus-plan takes them.
    """
    staging = _staging_site(words, site)
    if staging != site or mode.is_shared:
        place = "the reservation" if mode.is_shared else f"the scratch of site {site}"
        yield f"--staging-site {staging}: {place} takes its place"


def _staging_site(words: Sequence[str], site: str) -> str:
    """The staging site of ``site``: its own, else that of all sites."""
    pairs = [word.partition("=") for word in words]
    of_all = [first for first, sign, _ in pairs if not sign]
    own = [last for first, sign, last in pairs if sign and first.strip() == site]
    return [site, *of_all, *own][-1].strip()


def check_options_apply(options: PlanOptions, settings: Settings) -> None:
    """Raises UsageError for an option that the mode which the user has named does not
    take."""
    if not options.chosen_mode:
        _check_fallback_applies(options, settings)
        _check_job_tier_applies(options, settings)


def _check_fallback_applies(options: PlanOptions, settings: Settings) -> None:
    """Raises UsageError if --bb-fallback pfs is given for a run without a gate. A
    property is ignored there, because one file may serve runs of all modes."""
    is_set = options.bb_options.get(f"{PREFIX}fallback") == "pfs"
    if is_set and not settings.falls_back and not settings.mode.is_chosen:
        raise UsageError(
            "--bb-fallback pfs is for --bb-mode persistent, where the whole run waits "
            f"for one reservation; this is mode {settings.mode}. Leave it out, or say "
            "--bb-mode persistent"
        )


def _check_job_tier_applies(options: PlanOptions, settings: Settings) -> None:
    """Raises UsageError if --bb-job-tier is given for a run without a second tier."""
    is_given = property_of("job_tier") in options.bb_options
    if is_given and not settings.mode.may_be_both:
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
