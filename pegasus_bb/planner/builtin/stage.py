"""Stage-in and stage-out: a few nodes a level, each with a list of transfers."""

from __future__ import annotations

from pegasus_bb.dag import joblists
from pegasus_bb.dag.joblists import Source
from pegasus_bb.errors import CatalogError
from pegasus_bb.model.catalogs import Catalogs, Replica
from pegasus_bb.model.workflow import Job, Workflow
from pegasus_bb.paths import local_path
from pegasus_bb.planner.builtin.checks import plain_text
from pegasus_bb.planner.builtin.draft import Draft
from pegasus_bb.planner.builtin.executable import (
    STAGE_IN,
    STAGE_OUT,
    PlannedJob,
    Program,
    Role,
    StagedProgram,
)

NODES_PER_LEVEL = 4


class _Bundles:
    """Nodes of one role, made when first needed; jobs of a level take turns."""

    def __init__(self, draft: Draft, role: Role, word: str, program: Program) -> None:
        self._plan, self._role, self._word = draft, role, word
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


def stage_in(draft: Draft, program: Program) -> None:
    """Every input that no job makes, and every executable that travels."""
    bundles = _Bundles(draft, STAGE_IN, "stage_in_remote", program)
    brought: dict[str, str] = {}  # LFN -> the node that brings it
    for job in sorted(draft.on_site, key=lambda job: draft.level[job.id]):
        needs = _needs(draft, job)
        if not needs:
            continue
        fresh = [lfn for lfn in needs if lfn not in brought]
        if fresh:
            node = bundles.node(draft.level[job.id])
            for lfn in fresh:
                node.add(_fetch(draft, job, lfn, needs[lfn]))
                brought[lfn] = node.name
        draft.edges((brought[lfn] for lfn in needs), draft.names[job.id])


def _needs(draft: Draft, job: Job) -> dict[str, StagedProgram | None]:
    """LFN -> the executable that it is, or None for an input."""
    made = draft.graph.producer
    needs: dict[str, StagedProgram | None] = {}
    for use in job.uses:
        if use.kind == "input" and use.lfn not in made:
            needs[use.lfn] = None
    for part in draft.jobs[draft.names[job.id]].program.staged:
        if part.lfn in made or part.lfn in draft.graph.consumers:
            raise CatalogError(
                f"the executable of {job.transformation} is staged into scratch under "
                "a name that a file of the workflow has",
                found=part.lfn,
                would_do="rename the file or the transformation",
            )
        needs[part.lfn] = part
    return needs


def _fetch(
    draft: Draft, job: Job, lfn: str, part: StagedProgram | None
) -> joblists.Entry:
    url = draft.url(lfn)
    if part is not None:
        return joblists.fetch_program(lfn, part.sources, draft.site, url)
    sources = _sources_of(lfn, job, draft.workflow, draft.catalogs, draft.site)
    if _can_be_linked(draft, sources[0]):
        url = url.replace("file://", "symlink://", 1)
    return joblists.fetch(lfn, sources, draft.site, url)


def _can_be_linked(draft: Draft, source: Source) -> bool:
    """As pegasus-plan does it with pegasus.transfer.links, where a file is on the site
    already. On a tier it is a wish: there the placement decides."""
    wanted = draft.catalogs.properties.get("pegasus.transfer.links", "false")
    here = source.site == draft.site and source.url.startswith("file://")
    return here and wanted.strip().lower() == "true"


def stage_out(draft: Draft, program: Program) -> None:
    """Every result goes to the output site as soon as its level is done."""
    context = draft.context
    if not context.output_site:
        return
    bundles = _Bundles(draft, STAGE_OUT, "stage_out_remote", program)
    writers: dict[
        str, list[str]
    ] = {}  # stage-out node -> the jobs whose results it has
    folder = _output_folder(draft)
    for job in draft.on_site:
        node: PlannedJob | None = None
        for use in job.uses:
            if use.kind != "output" or not use.stage_out or use.lfn in draft.results:
                continue
            if node is None:
                node = bundles.node(draft.level[job.id])
                writers.setdefault(node.name, []).append(draft.names[job.id])
            there = f"{folder}/{use.lfn}"
            node.add(
                joblists.deliver(
                    use.lfn,
                    draft.site,
                    draft.url(use.lfn),
                    context.output_site,
                    f"file://{there}",
                )
            )
            draft.results[use.lfn] = node.name
            draft.outputs[use.lfn] = there
    for name, jobs in writers.items():
        draft.edges(jobs, name)


def _output_folder(draft: Draft) -> str:
    context = draft.context
    if context.output_dir is not None:
        return str(context.output_dir)
    site = draft.catalogs.sites.site(context.output_site)
    if site.storage is None:
        raise draft.catalogs.sites.document.error(
            f"site {site.name} has no storage directory for results",
            ["sites", site.index, "directories"],
            would_do="add a directory of type localStorage, or say --output-dir",
        )
    return site.storage.path.rstrip("/")


def _threads(draft: Draft, program: Program) -> list[str]:
    said = draft.catalogs.properties.get("pegasus.transfer.threads", "2")
    threads = str(program.profiles.get("pegasus", {}).get("transfer.threads", said))
    if not threads.isascii() or not threads.isdigit() or int(threads) < 1:
        raise CatalogError(
            "the number of transfer threads is a whole number above zero",
            key="pegasus.transfer.threads",
            found=threads,
        )
    return ["--threads", threads]


def _sources_of(
    lfn: str, job: Job, workflow: Workflow, catalogs: Catalogs, site: str
) -> tuple[Source, ...]:
    """Every replica of ``lfn``, best first. Raises CatalogError where there is none."""
    found = catalogs.replicas.replicas.get(lfn)
    if not found:
        raise workflow.document.error(
            f"job {job.id} ({job.transformation}) needs an input that no job makes "
            "and that has no replica",
            ["jobs", job.index, "uses"],
            repr(lfn),
            f"add {lfn!r} to {catalogs.replicas.document.path}, or name the folder "
            "that holds it with --input-dir",
        )
    ranked = sorted(found, key=lambda replica: _rank(replica, site))
    return tuple(Source(replica.site, _url(replica)) for replica in ranked)


def _url(replica: Replica) -> str:
    pfn = plain_text(replica.pfn, f"the PFN of {replica.lfn!r}")
    path = local_path(pfn)
    return pfn if path is None else f"file://{path}"


def _rank(replica: Replica, site: str) -> int:
    is_file = local_path(replica.pfn) is not None
    if is_file:
        return {site: 0, "local": 1}.get(replica.site, 2)
    return 3 if replica.site == site else 4
