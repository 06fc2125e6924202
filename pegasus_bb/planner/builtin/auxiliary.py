"""The planner's planner_program nodes: folders, stage-in, stage-out, clean-ups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pegasus_bb.core.errors import UnplacedError
from pegasus_bb.core.paths import local_path
from pegasus_bb.decide.survey import taken_name
from pegasus_bb.model.catalogs import Replica, ReplicaCatalog
from pegasus_bb.model.dag import joblists
from pegasus_bb.model.dag.joblists import TransferSource
from pegasus_bb.model.default_sites import LOCAL
from pegasus_bb.model.document import Key
from pegasus_bb.model.workflow import Job, Workflow
from pegasus_bb.planner.builtin.executable import (
    CLEAN_UP,
    CREATE_DIR,
    LEAF_CLEANUP,
    STAGE_IN,
    STAGE_OUT,
    Bundles,
    Draft,
    PegasusRole,
    Program,
    StagedProgram,
)
from pegasus_bb.planner.builtin.profiles import plain_text
from pegasus_bb.planner.run_plan import output_folders

TRANSFERS_PER_LEVEL = 4  # nodes
CLEAN_UPS_PER_LEVEL = 2


def add_auxiliary(draft: Draft) -> None:
    """Add every node that is no job of the workflow. Raises CatalogError."""
    tool = f"{draft.run.bin}/transfer"
    site = draft.transfer_site
    transfer = draft.programs.planner_program("pegasus::transfer", site, tool)
    dirmanager = draft.programs.planner_program("pegasus::dirmanager", site, tool)
    remover = draft.programs.planner_program("pegasus::cleanup", site, tool)
    _stage_in(draft, transfer)
    _create_dir(draft, dirmanager)
    _stage_out(draft, transfer)
    if draft.run.cleanup == "inplace":
        _clean_up(draft, remover)
    if draft.run.cleanup != "none" and not results_stay(draft):
        _leaf_cleanup(draft, remover)


def results_stay(draft: Draft) -> bool:
    """Whether results stay in scratch, where the user will look for them."""
    return not draft.run.output_sites and any(
        use.stage_out for job in draft.on_site for use in job.outputs()
    )


def _stage_in(draft: Draft, program: Program) -> None:
    bundles = _transfers(draft, STAGE_IN, "stage_in", program)
    late = _transfers(draft, STAGE_IN, "stage_in", program, "_run")
    awaits: dict[str, dict[str, None]] = {}  # stage-in node -> sub-workflows
    brought: dict[str, str] = {}  # LFN -> the node that brings it
    jobs_of: dict[str, list[Job]] = {}
    for job in sorted(draft.on_site, key=lambda job: draft.level[job.id]):
        jobs_of.setdefault(draft.names[job.id], []).append(job)
    for reader, jobs in jobs_of.items():
        needs: dict[str, tuple[Job, StagedProgram | None]] = {}
        for job in jobs:
            for lfn, part in _needs(draft, job).items():
                needs.setdefault(lfn, (job, part))
        if not needs:
            continue
        fresh = [lfn for lfn in needs if lfn not in brought]
        made = [lfn for lfn in fresh if lfn in draft.from_runs]
        known = [lfn for lfn in fresh if lfn not in draft.from_runs]
        for lfns, some in ((known, bundles), (made, late)):
            if lfns:
                node, entries = some.next(draft.level[jobs[0].id] - 1)
                for lfn in lfns:
                    job, part = needs[lfn]
                    entries.append(_fetch(draft, job, lfn, part))
                brought.update(dict.fromkeys(lfns, node))
        for lfn in made:
            awaits.setdefault(brought[lfn], {})[draft.from_runs[lfn]] = None
        draft.edges((brought[lfn] for lfn in needs), reader)
    for node, runs in awaits.items():
        draft.edges(runs, node)


def _transfers(
    draft: Draft, role: PegasusRole, word: str, program: Program, end: str = ""
) -> Bundles:
    default = draft.catalogs.properties.get("pegasus.transfer.threads", "2")
    threads = str(program.profiles.get("pegasus", {}).get("transfer.threads", default))
    if not threads.isascii() or not threads.isdigit() or int(threads) < 1:
        at = ("profiles", "pegasus", "transfer.threads")
        what = "the number of transfer threads is a whole number above zero"
        with draft.places.placed(draft.transfer_site, program.transformation):
            raise UnplacedError(what, at, threads, "pegasus.transfer.threads = 2")
    where = "local" if draft.run.transfers_here else "remote"
    stem = f"{word}_{where}_{draft.site_in_names}{end}"
    arguments = ["--threads", threads]
    return Bundles(draft, stem, TRANSFERS_PER_LEVEL, role, program, arguments)


def _needs(draft: Draft, job: Job) -> dict[str, StagedProgram | None]:
    made = draft.graph.producer
    needs: dict[str, StagedProgram | None] = {}
    for use in job.uses:
        if use.kind == "input" and use.lfn not in made:
            needs[use.lfn] = None
    for part in draft.program_of(job).staged:
        if part.lfn in made or part.lfn in draft.graph.consumers:
            raise taken_name(
                draft.workflow, job.transformation, part.lfn, is_image=part.is_image
            )
        needs[part.lfn] = part
    return needs


def _fetch(
    draft: Draft, job: Job, lfn: str, part: StagedProgram | None
) -> joblists.Entry:
    url = draft.url(lfn)
    if part is not None:
        checksum = part.checksum if draft.catalogs.integrity_checking != "none" else ""
        entry = joblists.fetch(lfn, part.sources, draft.site, url, checksum=checksum)
        return {**entry, "image" if part.is_image else "executable": True}
    sources = _sources_of(draft, job, lfn)
    if _can_be_linked(draft, sources[0]):
        url = url.replace("file://", "symlink://", 1)
    checksum = _checksum_to_check(draft, lfn, url)
    return joblists.fetch(lfn, sources, draft.site, url, checksum=checksum)


def _checksum_to_check(draft: Draft, lfn: str, url: str) -> str:
    """The declared checksum; empty if pegasus.integrity.checking is none, or is
    nosymlink and the input comes as a link."""
    checksum = draft.catalogs.replicas.checksum(lfn)
    checking = draft.catalogs.integrity_checking
    if not checksum or checking == "none":
        return ""
    placement = draft.run.placement
    placed = placement.files.get(lfn) if placement else None
    is_link = placed.how == "link" if placed else url.startswith("symlink:")
    return (
        "" if is_link and draft.catalogs.integrity_checking == "nosymlink" else checksum
    )


def _can_be_linked(draft: Draft, source: TransferSource) -> bool:
    """Whether pegasus.transfer.links makes this a link instead of a copy, as
    pegasus-plan does. On a tier the placement decides, whatever the job list has."""
    here = source.site == draft.site and source.url.startswith("file://")
    return here and draft.catalogs.properties.flag(
        "pegasus.transfer.links", default=False
    )


def _sources_of(draft: Draft, job: Job, lfn: str) -> tuple[TransferSource, ...]:
    """Every replica of ``lfn``, best first. Raises CatalogError if there is none."""
    if lfn in draft.from_runs:
        return (TransferSource(LOCAL, f"file://{draft.exchanged(lfn)}"),)
    needs = f"job {job.id} ({job.transformation}) needs an input"
    catalog = draft.catalogs.replicas
    at = ("jobs", job.index, "uses")
    found = replicas_of(draft.workflow, catalog, lfn, needs, at)
    ranked = sorted(found, key=lambda replica: _rank(replica, draft.site))
    return tuple(
        TransferSource(replica.site, _url(draft, replica)) for replica in ranked
    )


def replicas_of(
    workflow: Workflow, catalog: ReplicaCatalog, lfn: str, needs: str, at: Sequence[Key]
) -> Sequence[Replica]:
    """The replicas of ``lfn``. Raises CatalogError, about what is ``at``, if there is
    none. ``needs``: the first words of its message."""
    found = catalog.replicas.get(lfn)
    if not found:
        raise workflow.document.error(
            f"{needs} that no job makes and that has no replica",
            at,
            repr(lfn),
            f"add {lfn!r} to {catalog.document.path}, or name the folder "
            "that holds it with --input-dir",
        )
    return found


def _url(draft: Draft, replica: Replica) -> str:
    try:
        pfn = plain_text(replica.pfn, f"the PFN of {replica.lfn!r}")
    except UnplacedError as error:
        raise draft.catalogs.replicas.error(
            replica.lfn, error.what, error.found, error.would_do
        ) from error
    path = local_path(pfn)
    return pfn if path is None else f"file://{path}"


def _rank(replica: Replica, site: str) -> int:
    is_file = local_path(replica.pfn) is not None
    if is_file:
        return {site: 0, "local": 1}.get(replica.site, 2)
    return 3 if replica.site == site else 4


def _stage_out(draft: Draft, program: Program) -> None:
    """Every result goes to each output site as soon as its level is done, and what
    sub-workflows read to where they find it. bb_delete looks for a result on the first
    site; it waits for the copies to all of them."""
    folders = output_folders(draft.run, draft.catalogs)
    exchange = {draft.exchanged("").rstrip("/"): LOCAL}
    bundles = _transfers(draft, STAGE_OUT, "stage_out", program)
    writers: dict[str, list[str]] = {}  # stage-out node -> the jobs of its results
    for job in draft.on_site:
        places: dict[str, dict[str, str]] = {}  # LFN -> folder -> its site
        for use in job.outputs():
            if use.lfn not in draft.results and use.stage_out and folders:
                places[use.lfn] = folders
            elif use.lfn not in draft.results and use.handed_over:
                places[use.lfn] = exchange
        if not places:
            continue
        node, entries = bundles.next(draft.level[job.id] - 1)
        writers.setdefault(node, []).append(draft.names[job.id])
        for lfn, into in places.items():
            url = draft.url(lfn)
            for folder, there in into.items():
                path = f"{folder}/{lfn}"
                to = f"file://{path}"
                entries.append(joblists.deliver(lfn, draft.site, url, there, to))
                draft.outputs.setdefault(lfn, path)
            draft.results[lfn] = node
    for name, jobs in writers.items():
        draft.edges(jobs, name)
    for name, run in draft.runs.items():
        read = (draft.results.get(use.lfn) for use in run.passed)
        draft.edges((node for node in read if node), name)


def _create_dir(draft: Draft, program: Program) -> None:
    """Add the node that makes the run's folder, and the folders in the names of files.

    Every node of the site without a parent waits for it.
    """
    url = f"file://{draft.scratch}"
    urls = [url, *(f"{url}/{path}" for path in dict.fromkeys(_folders(draft)))]
    entries = [joblists.make_directory(draft.site, one) for one in urls]
    name = draft.on_scratch("create_dir", CREATE_DIR, program, entries)
    above = {
        child
        for parent, children in draft.children.items()
        if not draft.jobs[parent].detached
        for child in children
    }
    for node in draft.jobs.values():
        if node.name not in above and node.name != name and not node.detached:
            draft.edges([name], node.name)


def _folders(draft: Draft) -> Iterator[str]:
    for job in draft.on_site:
        for use in job.outputs():
            if "/" in use.lfn:
                yield use.lfn.rpartition("/")[0]


def _clean_up(draft: Draft, program: Program) -> None:
    """Add nodes that remove each file after its last user, stage-outs included."""
    level = _levels(draft)
    users = _users(draft)
    units: dict[str, list[str]] = {}  # last user -> files
    for lfn, nodes in users.items():
        last = nodes[0] if len(nodes) == 1 else max(nodes, key=level.__getitem__)
        units.setdefault(last, []).append(lfn)
    waits: dict[str, list[str]] = {}  # clean-up node -> its parents
    stem = f"clean_up_{draft.site_in_names}_level"
    bundles = Bundles(draft, stem, CLEAN_UPS_PER_LEVEL, CLEAN_UP, program)
    for last, lfns in units.items():
        node, entries = bundles.next(level[last] + 1)
        for lfn in lfns:
            entries.append(joblists.remove(draft.site, draft.url(lfn), recursive=False))
            waits.setdefault(node, []).extend(users[lfn])
    for name, nodes in waits.items():
        draft.edges(nodes, name)


def _levels(draft: Draft) -> dict[str, int]:
    """Levels of nodes, counted from create_dir, 0, and stage-in, 1."""
    level = {draft.names[job.id]: draft.level[job.id] + 1 for job in draft.on_site}
    for lfn, node in draft.results.items():
        level[node] = level[draft.names[draft.graph.producer[lfn]]] + 1
    return level


def _users(draft: Draft) -> dict[str, list[str]]:
    """Each file of scratch -> the nodes after which it can be removed.

    Readers run after the writer, so the writer counts only for a file without readers.
    Results that are not staged out stay.
    """
    users: dict[str, list[str]] = {}
    for job in draft.on_site:
        node = draft.names[job.id]
        for use in job.uses:
            if use.kind == "input":
                users.setdefault(use.lfn, []).append(node)
        for part in draft.program_of(job).staged:
            users.setdefault(part.lfn, []).append(node)
    for job in draft.on_site:
        for use in job.outputs():
            if use.lfn in draft.results:
                users.setdefault(use.lfn, []).append(draft.results[use.lfn])
            elif use.stage_out:
                users.pop(use.lfn, None)
            elif use.lfn not in users:
                users[use.lfn] = [draft.names[job.id]]
    return users


def _leaf_cleanup(draft: Draft, program: Program) -> None:
    leaves = [
        node.name
        for node in draft.jobs.values()
        if not node.detached
        and all(
            draft.jobs[child].detached for child in draft.children.get(node.name, ())
        )
    ]
    entries = [joblists.remove(draft.site, f"file://{draft.scratch}", recursive=True)]
    name = draft.on_scratch("cleanup", LEAF_CLEANUP, program, entries)
    draft.edges(leaves, name)
