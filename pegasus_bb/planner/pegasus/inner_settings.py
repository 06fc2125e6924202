"""Sub-workflows with settings of their own: --conf, -Dpegasus.X, --staging-site.

pegasus-plan plans such a one without the properties of the outer workflow, and so with
catalogs that know of no tier. Here its properties and catalogs get what the outer ones
get, and its arguments name the outcome, which is below bb/planned/.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pegasus_bb.core.paths import local_path
from pegasus_bb.decide.decision import PlanningInput
from pegasus_bb.model.catalog_files import SOURCES, catalog_document, environment
from pegasus_bb.model.default_sites import with_default_sites
from pegasus_bb.model.document import Document
from pegasus_bb.model.property_files import merged_properties
from pegasus_bb.model.settings import Properties
from pegasus_bb.model.workflow import Job
from pegasus_bb.planner.pegasus.pegasus_inputs import PROPERTIES, for_pegasus
from pegasus_bb.planner.rewrite.lifecycle import add_lifecycle_jobs
from pegasus_bb.planner.rewrite.pass_input import Inputs, Keys, with_scratch
from pegasus_bb.planner.rewrite.passes import WORKFLOW_PASSES, rewrite
from pegasus_bb.planner.run_plan import RunPlan

_PASSES = tuple(step for step in WORKFLOW_PASSES if step is not add_lifecycle_jobs)
_CONF, _STAGING = "--conf", "--staging-site"


@dataclass
class InnerSettings:
    """What the arguments of a sub-workflow say of its settings."""

    kept: list[str] = field(default_factory=list)  # all other words
    conf: str = ""
    defines: list[str] = field(default_factory=list)
    staging: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.conf or self.defines or self.staging)


def inner_settings(job: Job) -> InnerSettings:
    """Read the arguments of ``job`` as pegasus-plan does, which splits them."""
    found = InnerSettings()
    words = iter(" ".join(job.arguments).split())
    for word in words:
        option, equals, value = word.partition("=")
        if word.startswith("-D"):
            found.defines.append(word[2:] or next(words, ""))
        elif option == _CONF:
            found.conf = value if equals else next(words, "")
        elif option == _STAGING:
            found.staging.append(value if equals else next(words, ""))
        else:
            found.kept.append(word)
    return found


def inner_folder(folder: Path, job: Job) -> Path:
    """Where the properties and catalogs of ``job`` are, below ``folder``."""
    return folder / f"inner{job.index}"


def inner_inputs(
    given: PlanningInput, run: RunPlan, folder: Path
) -> Iterator[tuple[Job, Inputs]]:
    """Yield each sub-workflow that has settings of its own, and what its planning
    reads. Raises CatalogError, UsageError."""
    for job, read in inner_catalogs(given, run):
        if run.rewriting is not None:
            rewritten = rewrite(read, run.rewriting, _PASSES)
            yield job, for_pegasus(rewritten, run, inner_folder(folder, job))


def inner_catalogs(given: PlanningInput, run: RunPlan) -> Iterator[tuple[Job, Inputs]]:
    """Yield each sub-workflow that has settings of its own, and its properties and
    catalogs as the user has them. Raises CatalogError, UsageError."""
    for job, own in _with_own_settings(given):
        yield job, _read(given, run, job, own)


def _with_own_settings(given: PlanningInput) -> Iterator[tuple[Job, InnerSettings]]:
    for job in given.workflow:
        own = inner_settings(job) if job.is_sub_workflow else None
        if own:
            yield job, own


def with_inner_settings(inputs: Inputs, given: PlanningInput, folder: Path) -> Inputs:
    """``inputs``, whose sub-workflows name the properties that are in ``folder``."""
    changes: dict[Keys, list[str]] = {}
    ids = [entry.get("id") for entry in inputs.workflow.data["jobs"]]
    for job, own in _with_own_settings(given):
        conf = str(inner_folder(folder, job) / PROPERTIES)
        at = ("jobs", ids.index(job.id), "arguments")
        changes[at] = [_CONF, conf, *own.kept]
    return inputs.with_changes({"workflow": changes})


def _read(given: PlanningInput, run: RunPlan, job: Job, own: InnerSettings) -> Inputs:
    """The user's properties and catalogs of ``job``; the outer ones where it has none.
    Raises CatalogError, UsageError."""
    files = _InnerFiles(given, run, job)
    outer = given.catalogs
    named = Properties({})
    conf = files.place(own.conf) if own.conf else None
    if conf or own.defines:
        named = merged_properties([conf] if conf else [], own.defines)
    properties = named if conf else outer.properties.with_values(named, "-D")
    sites = files.catalog("site", named) or outer.sites.document
    sites = with_default_sites(sites, run.cwd, {run.site})
    if run.request is not None:  # the planned prefix replaces it
        sites = with_scratch(sites, run.site, run.request.prefix)
    return Inputs(
        Document(run.submit_dir, {"jobs": []}),
        sites,
        files.catalog("replica", named) or outer.replicas.document,
        files.catalog("transformation", named) or outer.transformations.document,
        properties,
    )


class _InnerFiles:
    """The files that a sub-workflow's planning reads, as they are before the run."""

    def __init__(self, given: PlanningInput, run: RunPlan, job: Job) -> None:
        replicas = given.catalogs.replicas.replicas
        self._paths = {
            use.lfn: path
            for use in job.inputs()
            for replica in replicas.get(use.lfn, ())
            if (path := local_path(replica.pfn)) is not None
        }
        self._given, self._run, self._job = given, run, job

    def place(self, name: str) -> Path:
        """Where the input or the path ``name`` is. Raises CatalogError."""
        path = self._run.cwd / self._paths.get(name, name)
        if not path.is_file():
            raise self._given.workflow.job_error(
                self._job,
                "settings of a sub-workflow get the buffer before the run, and this "
                "file is not there",
                name,
                "a replica of it on this machine, a path, or --bb-mode off",
                "arguments",
            )
        return path

    def catalog(self, kind: str, named: Properties) -> Document | None:
        """The catalog that ``named``, its own properties, say; None for the outer one.
        Raises CatalogError."""
        default, _ = SOURCES[kind]
        key = f"pegasus.catalog.{kind}.file"
        file = named.get(key) or (default if default in self._paths else "")
        if not file or not named:
            return None
        cwd = self._run.cwd
        nothing = Document(cwd / file, {"pegasus": "5.0", f"{kind}s": []})
        if kind == "replica" and file not in self._paths and not (cwd / file).exists():
            return nothing  # as Pegasus takes it
        here = named.with_values({key: str(self.place(file))}, named.origin(key))
        return catalog_document(kind, nothing, here, cwd, environment(here))
