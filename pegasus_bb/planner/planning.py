"""Planning with the built-in planner: decide, rewrite, build and seal, write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.graph import grown_graph
from pegasus_bb.model.reservation import Request
from pegasus_bb.model.sites import read_sites
from pegasus_bb.model.transformations import read_transformations
from pegasus_bb.model.workflow import Workflow, read_workflow
from pegasus_bb.planner.aside import check_aside
from pegasus_bb.planner.builtin import Executable, build, check_apart, write
from pegasus_bb.planner.builtin.fill import File
from pegasus_bb.planner.builtin.folders import Folders
from pegasus_bb.planner.containers import containers_file
from pegasus_bb.planner.context import PlanContext
from pegasus_bb.planner.deciding import (
    Decided,
    no_collection,
    plan_context,
    read_and_decide,
)
from pegasus_bb.planner.options import PlanOptions
from pegasus_bb.planner.predicting import predict
from pegasus_bb.planner.rooms import common_files, job_files, where_file
from pegasus_bb.rewrite import (
    OF_EACH_JOB,
    PASSES,
    Inputs,
    Plan,
    directive_files,
    links,
    rewrite,
)
from pegasus_bb.rewrite.passes import Pass


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


def plan(options: PlanOptions) -> Planned:
    """Turn an abstract workflow into a submit directory, whole or not at all.

    Raises UsageError (a CatalogError says file, line and key; NotSealed which rule)
    and leaves nothing behind then.
    """
    with no_collection():
        options.check_builtin()
        decided = read_and_decide(options)
        context = plan_context(options, decided, predicted=predict(decided))
        check_aside(context.submit_dir, options.force)
        if context.request is not None:
            executable = _plan_on_tier(decided, context, context.request, options.force)
        elif context.transient is not None:
            executable = _plan_rooms(decided, context, context.transient, options.force)
        else:
            executable = build(
                decided.workflow, decided.graph, decided.catalogs, context
            )
            check_apart(executable, executable.scratch)
            write(
                executable,
                decided.workflow,
                decided.catalogs,
                context,
                extra=_containers(decided),
                force=options.force,
            )
    return Planned(
        context.submit_dir, context.mode, context.request, decided, executable
    )


def _plan_rooms(
    decided: Decided, context: PlanContext, request: Request, force: bool
) -> Executable:
    """Mode transient: as in mode off, but for the jobs that touch the tier."""
    placement = decided.placement
    assert placement is not None  # noqa: S101 - so it is in this mode
    knows = Plan(context.site, placement, request, context.submit_dir)
    workflow, catalogs = _rewritten(decided, knows, OF_EACH_JOB)
    executable = build(workflow, decided.graph, catalogs, context)
    check_apart(executable, executable.scratch)
    where = where_file(context, executable.scratch, executable.outputs)
    files = {**dict([where, *common_files(context)]), **_containers(decided)}
    rooms = _rooms(executable, catalogs, context)
    write(executable, workflow, catalogs, context, extra=files, force=force, more=rooms)
    return executable


def _containers(decided: Decided) -> dict[str, bytes]:
    return containers_file(decided.workflow, decided.catalogs, decided.site)


def _rooms(executable: Executable, catalogs: Catalogs, context: PlanContext) -> Folders:
    """A folder with the files of all jobs that have a room; none where none has."""
    if context.placement is None or not context.placement.rooms:
        return {}

    def files() -> Iterator[File]:
        nodes = ((p.job.id, p.name) for p in executable.jobs.values() if p.job)
        for name, data in job_files(context, catalogs, nodes):
            yield f"bb/{name}", data

    return {"bb/jobs": files}


def _rewritten(
    decided: Decided, knows: Plan, passes: tuple[Pass, ...]
) -> tuple[Workflow, Catalogs]:
    given = decided.catalogs
    changed = rewrite(Inputs.of(decided.workflow.document, given), knows, passes)
    catalogs = Catalogs(
        changed.properties,
        read_sites(changed.sites),
        given.replicas,  # no pass changes it, and --input-dir is in it
        read_transformations(changed.transformations),
        given.tiers,
    )
    return read_workflow(changed.workflow, decided.workflow), catalogs


def rehearsed(decided: Decided, context: PlanContext) -> Executable:
    """What ``plan`` would write, in memory alone. Raises UsageError as that does."""
    request, placement = context.request or context.transient, decided.placement
    workflow, graph, catalogs = decided.workflow, decided.graph, decided.catalogs
    if request is not None and placement is not None:
        knows = Plan(context.site, placement, request, context.submit_dir)
        passes = PASSES if context.request else OF_EACH_JOB
        workflow, catalogs = _rewritten(decided, knows, passes)
        graph = grown_graph(graph, workflow)
    return build(workflow, graph, catalogs, context)


def _plan_on_tier(
    decided: Decided, context: PlanContext, request: Request, force: bool
) -> Executable:
    """Modes persistent and hybrid: rewrite, then plan what came of it, as a real
    planner would."""
    placement = decided.placement
    assert placement is not None  # noqa: S101 - a request is made from a placement
    knows = Plan(context.site, placement, request, context.submit_dir)
    workflow, catalogs = _rewritten(decided, knows, PASSES)
    graph = grown_graph(decided.graph, workflow)
    executable = build(workflow, graph, catalogs, context)
    scratch = decided.site.scratch
    assert scratch is not None  # noqa: S101 - execution_site saw to it
    pfs_scratch = f"{scratch.path.rstrip('/')}/{context.relative_dir}"
    check_apart(executable, pfs_scratch)
    known = {name: text.encode() for name, text in directive_files(knows).items()}
    known.update(_containers(decided))
    write(
        executable,
        workflow,
        catalogs,
        context,
        pfs_scratch,
        links(decided.workflow, placement, pfs_scratch),
        {**known, **dict(common_files(context))},
        force,
        _rooms(executable, decided.catalogs, context),
    )
    return executable
