"""The whole of planning: read, decide, rewrite, build and seal, write."""

from __future__ import annotations

import gc
import getpass
import json
import uuid as uuids
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from pegasus_bb.model.catalogs import Catalogs, read_inputs
from pegasus_bb.model.graph import Graph, build_graph, grown_graph
from pegasus_bb.model.placement import Placement
from pegasus_bb.model.properties import Properties, read_properties
from pegasus_bb.model.reservation import Request, check_reservation_name
from pegasus_bb.model.settings import Settings, read_settings
from pegasus_bb.model.sites import Site, read_sites
from pegasus_bb.model.transformations import read_transformations
from pegasus_bb.model.workflow import Workflow, read_workflow
from pegasus_bb.placement import place_files, reserve
from pegasus_bb.planner.aside import check_aside
from pegasus_bb.planner.builtin import Executable, build, check_apart, write
from pegasus_bb.planner.choices import choose_tier, execution_site, output_site
from pegasus_bb.planner.context import PlanContext
from pegasus_bb.planner.interpreter import tried_python
from pegasus_bb.planner.options import PlanOptions, run_directories
from pegasus_bb.planner.summary import summary
from pegasus_bb.rewrite import Inputs, Plan, directive_files, links, rewrite


@dataclass(frozen=True)
class Decided:
    """What is known before anything is written: also what explain shows."""

    workflow: Workflow
    graph: Graph
    catalogs: Catalogs
    settings: Settings
    site: Site
    placement: Placement | None  # None in mode off

    def summary(self) -> tuple[str, ...]:
        """What was chosen and where that was said, in lines for a person."""
        return summary(self.catalogs, self.settings, self.site.name, self.placement)


@dataclass(frozen=True)
class Planned:
    """A submit directory that stands, what it was made from, what to tell the user."""

    submit_dir: Path
    mode: str
    request: Request | None
    decided: Decided
    executable: Executable

    @property
    def nodes(self) -> int:
        """How many nodes its DAG has."""
        return len(self.executable.jobs)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of this planning."""
        return tuple(self.executable.notes)

    @property
    def summary(self) -> tuple[str, ...]:
        """Mode, tier, capacity, and where each was said."""
        return self.decided.summary()

    def as_json(self) -> str:
        """As ``pegasus-plan --json`` says it."""
        braindump = (self.submit_dir / "braindump.yml").read_text().splitlines()
        said = dict(line.split(": ", 1) for line in braindump)
        data = {key: json.loads(value) for key, value in said.items()}
        data["message"] = "The workflow is planned; run it with pegasus-bb run"
        data["pegasus-run"] = f"pegasus-bb run {self.submit_dir}"
        return json.dumps(data, indent=2)


def properties_of(options: PlanOptions) -> Properties:
    """All properties: file, then -D, then --bb-X. Raises UsageError, CatalogError."""
    conf = options.absolute(options.conf) if options.conf else None
    properties = read_properties(conf, options.defines, options.cwd, Path.home())
    return properties.with_values(options.said, "command line")


def read_and_decide(options: PlanOptions) -> Decided:
    """``read_and_place``, and how much to reserve. Raises as that does."""
    placed = read_and_place(options)
    return replace(placed, placement=with_capacity(placed))


def with_capacity(placed: Decided) -> Placement | None:
    """The placement with what to reserve for it. Raises CatalogError."""
    if placed.placement is None:
        return None
    return reserve(placed.workflow, placed.catalogs, placed.settings, placed.placement)


def read_and_place(options: PlanOptions) -> Decided:
    """Read workflow and catalogs and place every file, without a capacity. Writes
    nothing.

    Raises UsageError and CatalogError for every mistake of the user's.
    """
    options.check()
    properties = properties_of(options)
    settings = read_settings(properties, options.cwd)
    folders = [options.absolute(folder) for folder in options.input_dir]
    workflow, catalogs = read_inputs(
        options.absolute(options.workflow), properties, options.cwd, folders
    )
    graph = build_graph(workflow)
    site = execution_site(options, catalogs)
    placement = None
    if settings.mode != "off":
        tier = choose_tier(catalogs, settings, site.name)
        placement = place_files(workflow, graph, catalogs, tier, settings)
    return Decided(workflow, graph, catalogs, settings, site, placement)


def plan(options: PlanOptions) -> Planned:
    """Turn an abstract workflow into a submit directory, whole or not at all.

    Raises UsageError (a CatalogError says file, line and key; NotSealed which rule)
    and leaves nothing behind then.
    """
    with no_collection():
        options.check_builtin()
        decided = read_and_decide(options)
        context = plan_context(options, decided)
        check_aside(context.submit_dir, options.force)
        if context.request is None:
            executable = build(
                decided.workflow, decided.graph, decided.catalogs, context
            )
            check_apart(executable, executable.scratch)
            write(
                executable,
                decided.workflow,
                decided.catalogs,
                context,
                force=options.force,
            )
        else:
            executable = _plan_on_tier(decided, context, context.request, options.force)
    return Planned(
        context.submit_dir, context.mode, context.request, decided, executable
    )


def _plan_on_tier(
    decided: Decided, context: PlanContext, request: Request, force: bool
) -> Executable:
    """Rewrite, then plan what came of it, as a real planner would."""
    placement = decided.placement
    assert placement is not None  # noqa: S101 - a request is made from a placement
    given = decided.catalogs
    knows = Plan(context.site, placement, request, context.submit_dir)
    changed = rewrite(
        Inputs(
            decided.workflow.document,
            given.sites.document,
            given.replicas.document,
            given.transformations.document,
            given.properties,
        ),
        knows,
    )
    workflow = read_workflow(changed.workflow, decided.workflow)
    catalogs = Catalogs(
        changed.properties,
        read_sites(changed.sites),
        given.replicas,  # no pass changes it, and --input-dir is in it
        read_transformations(changed.transformations),
        given.tiers,
    )
    graph = grown_graph(decided.graph, workflow)
    executable = build(workflow, graph, catalogs, context)
    scratch = decided.site.scratch
    assert scratch is not None  # noqa: S101 - execution_site saw to it
    pfs_scratch = f"{scratch.path.rstrip('/')}/{context.relative_dir}"
    check_apart(executable, pfs_scratch)
    write(
        executable,
        workflow,
        catalogs,
        context,
        pfs_scratch,
        links(decided.workflow, placement, pfs_scratch),
        directive_files(knows),
        force,
    )
    return executable


def plan_context(options: PlanOptions, decided: Decided) -> PlanContext:
    """Choose the directories, the names and the request. Raises UsageError."""
    uuid = str(uuids.uuid4())
    label = decided.workflow.name
    directories = run_directories(options, label, uuid)
    folder = options.output_dir
    return PlanContext(
        label=label,
        user=getpass.getuser(),
        timestamp=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        uuid=uuid,
        submit_dir=directories.submit_dir,
        base_dir=directories.base_dir,
        relative_dir=directories.relative_dir,
        site=decided.site.name,
        output_site=output_site(options, decided.catalogs),
        output_dir=options.absolute(folder) if folder else None,
        cleanup=options.cleanup,
        arguments=options.arguments,
        request=_request(decided, uuid),
        placement=decided.placement,
        poll=decided.settings.poll,
        python=tried_python(decided.catalogs.properties, decided.settings.python),
    )


def _request(decided: Decided, uuid: str) -> Request | None:
    placement, settings = decided.placement, decided.settings
    if placement is None:
        return None
    tier = placement.tier
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
            gc.enable()
