"""What planning decides before anything is written: read, place, reserve, name."""

from __future__ import annotations

import gc
import getpass
import uuid as uuids
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from pegasus_bb.errors import UsageError
from pegasus_bb.model.catalogs import Catalogs, load_inputs
from pegasus_bb.model.document import Document
from pegasus_bb.model.graph import build_graph
from pegasus_bb.model.history import History
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.properties import (
    PREFIX,
    Properties,
    Settings,
    read_properties,
    read_settings,
)
from pegasus_bb.model.reservation import Request, check_reservation_name
from pegasus_bb.model.tiers import Tier
from pegasus_bb.model.workflow import read_workflow
from pegasus_bb.paths import is_below
from pegasus_bb.placement import (
    Ending,
    PlanningInput,
    place_files,
    reserve,
)
from pegasus_bb.planner.choices import (
    check_fallback,
    check_injected_faults,
    choose_tier,
    execution_site,
    output_site,
)
from pegasus_bb.planner.containers import containers_file
from pegasus_bb.planner.interpreter import tried_python
from pegasus_bb.planner.options import PlanOptions, RunDirectories, run_directories
from pegasus_bb.planner.run_plan import RunPlan
from pegasus_bb.prediction import Predicted

_MODE = f"{PREFIX}mode"
_NO_MODE = "no mode was said"  # the origin of a mode that a command takes by itself


def properties_of(options: PlanOptions) -> Properties:
    """All properties: file, then -D, then --bb-X. Raises UsageError, CatalogError."""
    conf = options.absolute(options.conf) if options.conf else None
    properties = read_properties(conf, options.defines, options.cwd, Path.home())
    properties = properties.with_values(options.said, "command line")
    if options.mode and _MODE not in properties:
        return properties.with_values({_MODE: options.mode}, _NO_MODE)
    return properties


def note_on_mode(properties: Properties) -> str:
    """What to tell the user where the mode was not said; empty where it was."""
    if properties.origin(_MODE) != _NO_MODE:
        return ""
    return (
        f"no mode was said: this is mode {properties[_MODE]}; without --bb-mode, plan "
        "plans mode off and uses no tier"
    )


@dataclass(frozen=True)
class Given:
    """What the user's files say; the workflow is not looked into yet."""

    workflow: Document
    catalogs: Catalogs
    settings: Settings


def read_given(options: PlanOptions) -> Given:
    """Read workflow, catalogs and properties. Raises UsageError and CatalogError."""
    options.check()
    properties = properties_of(options)
    settings = read_settings(properties, options.cwd)
    folders = [options.absolute(folder) for folder in options.input_dir]
    workflow, catalogs = load_inputs(
        options.absolute(options.workflow), properties, options.cwd, folders
    )
    return Given(workflow, catalogs, settings)


def read_and_decide(options: PlanOptions) -> PlanningInput:
    """``read_and_place``, and how much to reserve. Raises as that does."""
    return decide(options, read_given(options))


def decide(options: PlanOptions, given: Given) -> PlanningInput:
    """As ``read_and_decide``, of what has been read."""
    placed = place(options, given)
    return with_capacity(placed)


def with_capacity(placed: PlanningInput) -> PlanningInput:
    """``placed`` with what to reserve for its files. Raises CatalogError."""
    if placed.decision is None:
        return placed
    return replace(placed, decision=reserve(placed, placed.decision))


def with_placement(
    decided: PlanningInput, placement: Placement | None
) -> PlanningInput:
    """``decided`` with another placement."""
    if placement is None or decided.decision is None:
        return decided
    return replace(decided, decision=replace(decided.decision, placement=placement))


def read_and_place(options: PlanOptions) -> PlanningInput:
    """Read workflow and catalogs and place every file, without a capacity. Writes
    nothing.

    Raises UsageError and CatalogError for every mistake of the user's.
    """
    return place(options, read_given(options))


def place(options: PlanOptions, given: Given) -> PlanningInput:
    """As ``read_and_place``, of what has been read."""
    catalogs, settings = given.catalogs, given.settings
    workflow = read_workflow(given.workflow)
    graph = build_graph(workflow)
    site = execution_site(options, catalogs)
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
    check_injected_faults(catalogs, tier)
    return replace(read, decision=place_files(read, tier))


def _history(settings: Settings) -> History:
    """What an earlier run has shown. Raises UsageError where there is none."""
    if settings.history is None:
        return History()
    from pegasus_bb.report import history_of, read_run  # most plannings learn nothing

    return history_of(read_run(settings.history))


@dataclass(frozen=True)
class RunName:
    """What tells one run from all others."""

    label: str  # the workflow's name
    uuid: str
    directories: RunDirectories


def name_run(options: PlanOptions, label: str) -> RunName:
    """Names for a new run of workflow ``label``. Raises UsageError."""
    uuid = str(uuids.uuid4())
    return RunName(label, uuid, run_directories(options, label, uuid))


def plan_context(
    options: PlanOptions,
    decided: PlanningInput,
    named: RunName | None = None,
    predicted: Predicted | None = None,
) -> RunPlan:
    """Choose the directories, the names and the request. Raises UsageError."""
    named = named or name_run(options, decided.workflow.name)
    directories, folder = named.directories, options.output_dir
    mode = decided.settings.mode
    request = (
        make_request(decided.placement, decided.settings, named.uuid)
        if decided.placement
        else None
    )
    return RunPlan(
        label=named.label,
        user=getpass.getuser(),
        timestamp=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        uuid=named.uuid,
        submit_dir=directories.submit_dir,
        base_dir=directories.base_dir,
        relative_dir=directories.relative_dir,
        site=decided.site.name,
        output_site=output_site(options, decided.catalogs),
        output_dir=options.absolute(folder) if folder else None,
        cleanup=options.cleanup,
        arguments=options.arguments,
        request=None if mode == "transient" else request,
        transient=(
            _of_each_job(decided, named.uuid, directories)
            if mode in ("transient", "hybrid")
            else None
        ),
        placement=decided.placement,
        predicted=predicted,
        poll=decided.settings.poll,
        python=tried_python(decided.catalogs.properties, decided.settings.python),
    )


def _of_each_job(
    decided: PlanningInput, uuid: str, directories: RunDirectories
) -> Request:
    """What the jobs' own reservations have in common. Raises UsageError."""
    scratch, placement = decided.site.scratch, decided.placement
    assert placement is not None  # noqa: S101 - these modes have a placement
    assert scratch is not None  # noqa: S101 - execution_site saw to it
    folder = f"{scratch.path.rstrip('/')}/{directories.relative_dir}"
    if is_below(f"{directories.submit_dir}/", folder):
        raise UsageError(
            f"the submit directory {directories.submit_dir} lies in the run's own "
            f"scratch {folder}, which is another place for each job in mode "
            f"{decided.settings.mode}: choose another --dir"
        )
    request = make_request(placement, decided.settings, uuid, placement.job_tier)
    return replace(request, prefix=folder)


def make_request(
    placement: Placement, settings: Settings, uuid: str, on: Tier | None = None
) -> Request:
    """What the run ``uuid`` asks for, of the shared tier or ``on`` another. Raises
    UsageError."""
    tier = on or placement.tier
    name = check_reservation_name(settings.name + uuid.replace("-", "")[:12])
    own = {**tier.settings, "guard": settings.guard}
    return Request(
        name=name,
        backend=tier.backend,
        capacity=placement.capacity,
        prefix=f"/bb/{name}",
        uuid=uuid,
        tier=tier.name,
        site=tier.site,
        access=tier.access,
        pool=tier.pool,
        wait=settings.wait,
        poll=settings.poll,
        fallback="pfs" if settings.falls_back else "fail",
        settings={**own, "granularity": str(tier.granularity)},
    )


@contextmanager
def no_collection() -> Iterator[None]:
    """Planning makes millions of objects that live to its end: do not look at them
    again and again. Halves the time of a workflow of 100 000 jobs."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.freeze()  # with what follows they all are old, and not the first that
            gc.unfreeze()  # the collector looks at as soon as it is on again
            gc.enable()
