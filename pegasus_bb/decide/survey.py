"""The files of a workflow, each described once from all its uses, and the programs and
images that are staged with the data, which need space on the tier as well."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.core.paths import local_path
from pegasus_bb.model.transformations import Executable

if TYPE_CHECKING:  # a run checks its seal, and loads no catalogs for that
    from pegasus_bb.decide.decision import PlanningInput
    from pegasus_bb.model.catalogs import ReplicaCatalog
    from pegasus_bb.model.images import StagedImage
    from pegasus_bb.model.transformations import Transformation, TransformationCatalog
    from pegasus_bb.model.workflow import Job, Use, Workflow

INPUT = "input"  # no job makes it
INTERMEDIATE = "intermediate"  # a job makes it, it is not staged out
OUTPUT = "output"  # a job makes it and it is staged out, read by others or not

Staged: TypeAlias = "Executable | StagedImage"


@dataclass(slots=True)
class File:
    lfn: str
    role: str = INPUT  # input | intermediate | output
    # Bytes: declared, the largest if jobs disagree; else of the replica. None: unknown.
    size: int | None = None
    tier: str = ""  # of its metadata bb.tier
    declared_by: str = ""  # the job with that metadata
    maker: str = ""  # the job that writes it
    executable: str = ""  # the program's path, if the file is a staged program
    image: bool = False  # that program is the image of a container


def survey(given: PlanningInput) -> dict[str, File]:
    """Every file by LFN, in the order of the workflow, then the programs that are
    staged for jobs on the site; each with its size.

    Raises CatalogError if two uses of a file name different tiers.
    """
    files: dict[str, File] = {}
    workflow = given.workflow
    catalogs = given.catalogs
    site = given.site.name
    for job in workflow:
        for use in job.uses:
            file = files.get(use.lfn)
            if file is None:
                file = files[use.lfn] = File(use.lfn)
            if use.kind != "input":
                _note_maker(file, job, use)
            if use.size is not None and (file.size is None or use.size > file.size):
                file.size = use.size
            if use.tier:
                _note_tier(workflow, file, job, use)
    programs = staged_executables(workflow, catalogs.transformations, site)
    for lfn, staged in programs.items():
        file = files.setdefault(lfn, File(lfn, executable=staged.pfn))
        if not isinstance(staged, Executable) and file.executable:
            file.image = True
            file.size = staged.size
    for file in files.values():
        if file.size is None and file.role == INPUT:
            file.size = _size_of(file, catalogs.replicas, site)
    return files


def _note_maker(file: File, job: Job, use: Use) -> None:
    if use.kind == "output" and use.leaves:
        file.role = OUTPUT
    elif file.role == INPUT:
        file.role = INTERMEDIATE
    if use.kind == "output" or not file.maker:
        file.maker = job.id


def _note_tier(workflow: Workflow, file: File, job: Job, use: Use) -> None:
    if file.tier and file.tier != use.tier:
        raise metadata_error(
            workflow,
            job.id,
            file.lfn,
            what=f"job {file.declared_by} says bb.tier: {file.tier} of {file.lfn}, "
            f"job {job.id} says otherwise",
            found=use.tier,
            would_do="say the same in both, or in one only",
        )
    if not file.tier:
        file.tier = use.tier
        file.declared_by = job.id


def metadata_error(
    workflow: Workflow, ident: str, lfn: str, *, what: str, found: str, would_do: str
) -> CatalogError:
    """An error about the metadata of ``lfn`` in the uses of job ``ident``."""
    job = workflow.jobs[ident]
    place = next(i for i, u in enumerate(job.uses) if u.lfn == lfn and u.tier == found)
    keys = ["jobs", job.index, "uses", place, "metadata", "bb.tier"]
    return workflow.document.error(what, keys, found, would_do)


def taken_name(
    workflow: Workflow, transformation: str, lfn: str, *, is_image: bool
) -> CatalogError:
    """An error about a file of the workflow that has the name of a staged program."""
    first = workflow.first_use([lfn])
    what = "image" if is_image else "executable"
    return workflow.document.error(
        f"the {what} of {transformation} is staged into scratch under a name that a "
        "file of the workflow has",
        [*first[1], "lfn"] if first else ["jobs"],
        lfn,
        f"rename the file or the {'container' if is_image else 'transformation'}",
    )


def _size_of(file: File, replicas: ReplicaCatalog, site: str) -> int | None:
    """Bytes of an input or a program, from the replica catalog or the disk. None if
    unknown, which is reported and never taken for zero."""
    if file.executable:
        return _on_disk(file.executable)
    declared = (replica.size for replica in replicas.replicas.get(file.lfn, ()))
    found = map(_on_disk, searched_pfns(file.lfn, replicas, site))
    return next((size for size in chain(declared, found) if size is not None), None)


def searched_pfns(lfn: str, replicas: ReplicaCatalog, site: str) -> list[str]:
    """The PFNs at which ``survey`` looks for a size that is not declared."""
    known = replicas.replicas.get(lfn, ())
    return [replica.pfn for replica in known if replica.site in ("local", site)]


def _on_disk(pfn: str) -> int | None:
    try:
        path = local_path(pfn)
        return Path(path).stat().st_size if path and Path(path).is_file() else None
    except (OSError, ValueError):
        return None  # not on this machine


def staged_name(transformation: Transformation) -> str:
    """The LFN under which Pegasus stages a program: ``namespace-name-version``."""
    parts = (transformation.namespace, transformation.name, transformation.version)
    return "-".join(part for part in parts if part)


def staged_executables(
    workflow: Workflow, catalog: TransformationCatalog, site: str
) -> dict[str, Staged]:
    """LFN -> program, for every one that is staged for jobs on ``site``."""
    names = dict.fromkeys(job.transformation for job in workflow if job.runs_on(site))
    return staged_for(names, catalog, site)


def staged_for(
    names: Iterable[str], catalog: TransformationCatalog, site: str
) -> dict[str, Staged]:
    """LFN -> program, for every one that is staged for these transformations: with
    their images, and the programs that they require. Raises CatalogError.
    """
    waiting = list(names)
    seen = set(waiting)
    run = frozenset(waiting)
    staged: dict[str, Staged] = {}
    for name in waiting:
        transformation = catalog.transformations.get(name)
        if transformation is None:
            continue
        executable = catalog.executable(name, site)
        if executable is not None and executable.kind == "stageable":
            staged[staged_name(transformation)] = executable
        if executable is not None and executable.container and name in run:
            from pegasus_bb.model.containers import staged_image  # few have images

            image = staged_image(catalog, executable, site)
            if image is not None:
                staged[image.lfn] = image
        waiting.extend(n for n in transformation.requires if n not in seen)
        seen.update(transformation.requires)
    return staged


def staged_with(
    workflow: Workflow, catalog: TransformationCatalog, site: str
) -> dict[str, tuple[str, ...]]:
    """Transformation -> LFNs of the programs that its jobs on ``site`` need in their
    folders. Images are none of them: jobs start those where all jobs find them."""
    staged = _staged_by_name(workflow, catalog, site)
    return {
        name: tuple(n for n, each in files.items() if isinstance(each, Executable))
        for name, files in staged.items()
    }


def _staged_by_name(
    workflow: Workflow, catalog: TransformationCatalog, site: str
) -> dict[str, dict[str, Staged]]:
    names = {job.transformation for job in workflow if job.runs_on(site)}
    return {name: staged_for([name], catalog, site) for name in names}


def program_users(given: PlanningInput) -> dict[str, list[str]]:
    """LFN of each staged program, or image -> the jobs on the site that need it."""
    site = given.site.name
    catalog = given.catalogs.transformations
    programs = _staged_by_name(given.workflow, catalog, site)
    users: dict[str, list[str]] = {}
    for job in given.workflow:
        if job.runs_on(site):
            for lfn in programs[job.transformation]:
                users.setdefault(lfn, []).append(job.id)
    return users
