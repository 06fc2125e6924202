"""Stage-in and stage-out: a few nodes a level, each with a list of transfers."""

from __future__ import annotations

from pegasus_bb.errors import CatalogError
from pegasus_bb.model.workflow import Job
from pegasus_bb.planner.builtin import joblists
from pegasus_bb.planner.builtin.executable import (
    STAGE_IN,
    STAGE_OUT,
    PlannedJob,
    Program,
    Role,
    Source,
    StagedProgram,
)
from pegasus_bb.planner.builtin.plan import Plan
from pegasus_bb.planner.builtin.sources import sources_of

NODES_PER_LEVEL = 4


class _Bundles:
    """Nodes of one role, made when first needed; jobs of a level take turns."""

    def __init__(self, plan: Plan, role: Role, word: str, program: Program) -> None:
        self._plan, self._role, self._word = plan, role, word
        self._program = program
        self._turn: dict[int, int] = {}

    def node(self, level: int) -> PlannedJob:
        turn = self._turn.get(level, 0)
        self._turn[level] = turn + 1
        site = self._plan.site
        name = (
            f"{self._word}_{site_in_names(site)}_{level - 1}_{turn % NODES_PER_LEVEL}"
        )
        if turn < NODES_PER_LEVEL:
            self._plan.add(
                PlannedJob(
                    name,
                    self._role,
                    site,
                    self._program,
                    self._role.priority,
                    arguments=_threads(self._plan, self._program),
                )
            )
        return self._plan.jobs[name]


def site_in_names(site: str) -> str:
    """A site's name as it can stand inside the name of a node."""
    return site.replace(".", "_")


def stage_in(plan: Plan, program: Program) -> None:
    """Every input that no job makes, and every executable that travels."""
    bundles = _Bundles(plan, STAGE_IN, "stage_in_remote", program)
    brought: dict[str, str] = {}  # LFN -> the node that brings it
    for job in sorted(plan.on_site, key=lambda job: plan.level[job.id]):
        needs = _needs(plan, job)
        if not needs:
            continue
        fresh = [lfn for lfn in needs if lfn not in brought]
        if fresh:
            node = bundles.node(plan.level[job.id])
            for lfn in fresh:
                node.add(_fetch(plan, job, lfn, needs[lfn]))
                brought[lfn] = node.name
        plan.edges((brought[lfn] for lfn in needs), plan.names[job.id])


def _needs(plan: Plan, job: Job) -> dict[str, StagedProgram | None]:
    """LFN -> the executable that it is, or None for an input."""
    made = plan.graph.producer
    needs: dict[str, StagedProgram | None] = {}
    for use in job.uses:
        if use.kind == "input" and use.lfn not in made:
            needs[use.lfn] = None
    for part in plan.jobs[plan.names[job.id]].program.staged:
        if part.lfn in made or part.lfn in plan.graph.consumers:
            raise CatalogError(
                f"the executable of {job.transformation} is staged into scratch under "
                "a name that a file of the workflow has",
                found=part.lfn,
                would_do="rename the file or the transformation",
            )
        needs[part.lfn] = part
    return needs


def _fetch(
    plan: Plan, job: Job, lfn: str, part: StagedProgram | None
) -> joblists.Entry:
    url = plan.url(lfn)
    if part is not None:
        return joblists.fetch_program(lfn, part.sources, plan.site, url)
    sources = sources_of(lfn, job, plan.workflow, plan.catalogs, plan.site)
    if _can_be_linked(plan, sources[0]):
        url = url.replace("file://", "symlink://", 1)
    return joblists.fetch(lfn, sources, plan.site, url)


def _can_be_linked(plan: Plan, source: Source) -> bool:
    """As pegasus-plan does it with pegasus.transfer.links, where a file is on the site
    already. On a tier it is a wish: there the placement decides."""
    wanted = plan.catalogs.properties.get("pegasus.transfer.links", "false")
    here = source.site == plan.site and source.url.startswith("file://")
    return here and wanted.strip().lower() == "true"


def stage_out(plan: Plan, program: Program) -> None:
    """Every result goes to the output site as soon as its level is done."""
    context = plan.context
    if not context.output_site:
        return
    bundles = _Bundles(plan, STAGE_OUT, "stage_out_remote", program)
    writers: dict[
        str, list[str]
    ] = {}  # stage-out node -> the jobs whose results it has
    folder = _output_folder(plan)
    for job in plan.on_site:
        node: PlannedJob | None = None
        for use in job.uses:
            if use.kind != "output" or not use.stage_out or use.lfn in plan.results:
                continue
            if node is None:
                node = bundles.node(plan.level[job.id])
                writers.setdefault(node.name, []).append(plan.names[job.id])
            there = f"{folder}/{use.lfn}"
            node.add(
                joblists.deliver(
                    use.lfn,
                    plan.site,
                    plan.url(use.lfn),
                    context.output_site,
                    f"file://{there}",
                )
            )
            plan.results[use.lfn] = node.name
            plan.outputs[use.lfn] = there
    for name, jobs in writers.items():
        plan.edges(jobs, name)


def _output_folder(plan: Plan) -> str:
    context = plan.context
    if context.output_dir is not None:
        return str(context.output_dir)
    site = plan.catalogs.sites.site(context.output_site)
    if site.storage is None:
        raise plan.catalogs.sites.document.error(
            f"site {site.name} has no storage directory for results",
            ["sites", site.index, "directories"],
            would_do="add a directory of type localStorage, or say --output-dir",
        )
    return site.storage.path.rstrip("/")


def _threads(plan: Plan, program: Program) -> list[str]:
    said = plan.catalogs.properties.get("pegasus.transfer.threads", "2")
    threads = str(program.profiles.get("pegasus", {}).get("transfer.threads", said))
    if not threads.isascii() or not threads.isdigit() or int(threads) < 1:
        raise CatalogError(
            "the number of transfer threads is a whole number above zero",
            key="pegasus.transfer.threads",
            found=threads,
        )
    return ["--threads", threads]
