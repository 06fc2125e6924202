"""The executable workflow while it is built: names, programs, nodes and edges."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from importlib.metadata import version
from typing import Any

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.core.paths import local_path
from pegasus_bb.decide.survey import staged_name
from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.dag.joblists import Entry, TransferSource
from pegasus_bb.model.dag.roles import Role, node_of_task, node_word, role_of
from pegasus_bb.model.default_sites import LOCAL
from pegasus_bb.model.graph import Graph
from pegasus_bb.model.transformations import Executable, Transformation
from pegasus_bb.model.value_lines import ValueLines
from pegasus_bb.model.workflow import OWN_RUN, Job, Workflow
from pegasus_bb.planner.builtin.profiles import merge, plain_text
from pegasus_bb.planner.run_plan import RunPlan
from pegasus_bb.planner.seal.sealing import ExecutableWorkflow

VERSION = version("pegasus_bb")
_LONGEST_NAME = 255 - 20  # room for .out.000, or for a dot in front and .<pid>.part
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


def node_name(job: Job, *, is_ours: bool = False) -> str:
    """The name of ``job``'s node; ``is_ours``: planning has added the job. A user's job
    gets no name that has the role of a planner's own node."""
    name = node_of_task(job.name, job.id)
    is_plain = is_ours or role_of(name) in (Role.TASK, Role.CLUSTER)
    return name if is_plain else f"task_{name}"


def properties_file(uuid: str) -> str:
    """pegasus.<n>.properties; <n> depends on the run's ``uuid`` alone."""
    digest = blake2b(uuid.encode(), digest_size=8).digest()
    return f"pegasus.{int.from_bytes(digest, 'big') >> 1}.properties"


def compact(timestamp: str) -> str:
    """2026-11-20T18:46:37+00:00 as 20261120T184637+0000."""
    return timestamp.replace("-", "", 2).replace(":", "")


@dataclass(frozen=True)
class RewrittenWorkflow:
    """The rewritten inputs, parsed."""

    workflow: Workflow
    graph: Graph
    catalogs: Catalogs


@dataclass(frozen=True, slots=True)
class StagedProgram:
    lfn: str
    sources: tuple[TransferSource, ...]
    is_image: bool = False
    checksum: str = ""  # sha256:..., if the catalog says


@dataclass(frozen=True, slots=True)
class Program:
    transformation: str  # full name
    pfn: str  # the path that is started
    staged: tuple[StagedProgram, ...] = ()  # programs that scratch has to have
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    container: str = ""  # its name; the launcher starts it


class Programs:
    def __init__(self, places: ValueLines, scratch: str) -> None:
        self._places = places
        self._catalogs = places.catalogs
        self._scratch = scratch
        self._known: dict[tuple[str, str], Program] = {}

    def program(self, transformation: str, site: str, job: str) -> Program:
        """The program of ``job``. Raises CatalogError if the catalog has none."""
        key = (transformation, site)
        if key not in self._known:
            with self._places.placed(site, transformation):
                self._known[key] = self._find(transformation, site, job)
        return self._known[key]

    def planner_program(self, transformation: str, site: str, default: str) -> Program:
        """A program for the planner's own nodes: the catalog's, else ours."""
        found = self._catalogs.transformations.executable(transformation, site)
        if found is None or found.site != site or found.kind != "installed":
            return Program(transformation, default)
        return self.program(transformation, site, "of the planner's own")

    def _find(self, transformation: str, site: str, job: str) -> Program:
        catalog = self._catalogs.transformations
        known = catalog.transformations.get(transformation)
        found = catalog.executable(transformation, site)
        if known is None or found is None:
            raise self._missing(transformation, site, job, known)
        required = [self.program(name, site, job) for name in known.requires]
        parts = [part for program in required for part in program.staged]
        staged = [part for part in parts if not part.is_image]
        profiles = merge(known.profiles, found.profiles)
        plain_text(transformation, "the name of a transformation", ("name",))
        pfn = plain_text(found.pfn, f"the PFN of {transformation}", ("pfn",))
        if found.kind == "stageable":
            path = local_path(pfn)
            if path is None and "://" not in pfn:
                what = f"the PFN of {transformation} is neither a URL nor a full path"
                mend = "/absolute/path or a URL"
                raise catalog.error(transformation, what, repr(pfn), mend)
            url = pfn if path is None else f"file://{path}"
            lfn = staged_name(known)
            sources = (TransferSource(found.site, url),)
            staged.append(StagedProgram(lfn, sources, checksum=known.checksum))
            pfn = f"{self._scratch}/{lfn}"
        else:
            pfn = self._expanded(pfn, site, profiles)
        if found.container:
            staged += self._images(found, site)
        return Program(transformation, pfn, tuple(staged), profiles, found.container)

    def _images(self, found: Executable, site: str) -> Iterator[StagedProgram]:
        from pegasus_bb.model.containers import staged_image  # few programs have one

        image = staged_image(self._catalogs.transformations, found, site)
        if image is not None:
            source = TransferSource(image.site, image.pfn)
            yield StagedProgram(
                image.lfn, (source,), is_image=True, checksum=image.checksum
            )

    def _expanded(self, pfn: str, site: str, profiles: Mapping[str, Any]) -> str:
        """``pfn`` with variables such as $PEGASUS_HOME expanded from env profiles."""
        if "$" not in pfn:
            return pfn
        of_site = self._catalogs.sites.site(site).profiles
        known = merge(of_site, profiles).get("env", {})
        return _VARIABLE.sub(lambda m: known.get(m[1] or m[2], m[0]), pfn)

    def _missing(
        self, transformation: str, site: str, job: str, known: Transformation | None
    ) -> CatalogError:
        there = "" if known is None else ", ".join(e.site for e in known.executables)
        return self._catalogs.transformations.document.error(
            f"job {job} runs {transformation} on site {site}, but the transformation "
            "catalog does not have it there",
            ["transformations"],
            f"on {there} only" if there else "no such transformation",
            f"add {transformation} with site {site} and a pfn, or make an entry "
            "of another site stageable",
        )


@dataclass(frozen=True, slots=True)
class PegasusRole:
    """The kind of a node, in Pegasus's numbers and names."""

    job_class: int
    priority: int
    category: str = ""


COMPUTE = PegasusRole(1, 0)
STAGE_IN = PegasusRole(2, 700, "stagein")
STAGE_OUT = PegasusRole(3, 900, "stageout")
CREATE_DIR = PegasusRole(6, 800)
CLEAN_UP = PegasusRole(8, 1000, "cleanup")
LEAF_CLEANUP = PegasusRole(8, 1000)


@dataclass(slots=True)
class PlannedJob:
    """One node: what runs where. ``job`` is None for the planner's own nodes, and for
    a cluster, whose ``tasks`` are planned jobs without a node of their own."""

    name: str
    role: PegasusRole
    site: str
    program: Program
    priority: int
    job: Job | None = None
    # Those of the job alone; of a cluster, those of its tasks together.
    profiles: Mapping[str, Any] = field(default_factory=dict)
    tasks: Sequence[PlannedJob] = ()  # of a cluster, in the order in which they run
    arguments: Sequence[str] = ()
    entries: list[Entry] | None = None  # the job list on its stdin
    folder: str = ""  # of its files, below the submit directory: 00/00
    on_submit_host: bool = False
    detached: bool = False  # runs in the submit directory, not in scratch

    @property
    def origin(self) -> tuple[str, str, Job | None]:
        """What the node was made of, for an error's place."""
        if self.tasks:
            return self.tasks[0].origin
        return self.site, self.program.transformation, self.job

    @property
    def jobs(self) -> list[Job]:
        """The jobs of the workflow that the node runs; a sub-workflow is none."""
        jobs = (task.job for task in self.tasks or (self,))
        return [job for job in jobs if job is not None and job.kind != OWN_RUN]


@dataclass
class Draft:
    """The shared state of the build steps, and the nodes and edges that they add."""

    workflow: Workflow
    graph: Graph
    catalogs: Catalogs
    run: RunPlan
    scratch: str
    programs: Programs
    places: ValueLines
    on_site: list[Job] = field(default_factory=list)  # in the order of the workflow
    # Of those, by id, from 1; jobs of a cluster have the level of its node.
    level: dict[str, int] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)  # node by job id
    jobs: dict[str, PlannedJob] = field(default_factory=dict)  # by node
    children: dict[str, list[str]] = field(default_factory=dict)
    results: dict[str, str] = field(default_factory=dict)  # LFN -> stage-out node
    outputs: dict[str, str] = field(default_factory=dict)  # LFN -> destination
    # Of sub-workflows that are runs of their own:
    runs: dict[str, Job] = field(default_factory=dict)  # by node
    from_runs: dict[str, str] = field(default_factory=dict)  # LFN -> the node it is of

    @property
    def site(self) -> str:
        return self.run.site

    @property
    def transfer_site(self) -> str:
        """Where the planner's own nodes run."""
        return LOCAL if self.run.transfers_here else self.site

    def program_of(self, job: Job) -> Program:
        """The program of a job of the site. Raises CatalogError."""
        return self.programs.program(job.transformation, self.site, job.id)

    @property
    def site_profiles(self) -> Mapping[str, Mapping[str, Any]]:
        return self.catalogs.sites.site(self.site).profiles

    @property
    def site_in_names(self) -> str:
        return node_word(self.site)

    def exchanged(self, lfn: str) -> str:
        """The path of a file on its way from or to a sub-workflow."""
        return f"{self.run.submit_dir}/bb/exchange/{lfn}"

    def url(self, lfn: str) -> str:
        return f"file://{self.scratch}/{lfn}"

    def add(self, planned: PlannedJob) -> None:
        """Add a node. Raises CatalogError if its name is too long or taken."""
        at = ["jobs", planned.job.index, "id"] if planned.job else ["name"]
        if len(planned.name) > _LONGEST_NAME:
            raise self.workflow.document.error(
                f"the name of a node has more than {_LONGEST_NAME} characters, and no "
                "file may be called so",
                at,
                planned.name,
                "a shorter name or id of the job, or name of the workflow",
            )
        if planned.name in self.jobs:
            raise self.workflow.document.error(
                "two nodes of the executable workflow have one name",
                at,
                planned.name,
                "give the jobs other names or ids; in a node's name every character "
                "but letters, digits and - becomes _",
            )
        self.jobs[planned.name] = planned

    def auxiliary(
        self,
        name: str,
        role: PegasusRole,
        program: Program,
        arguments: Sequence[str] = (),
    ) -> list[Entry]:
        """Add a node of the planner's own; the caller fills the job list returned."""
        entries: list[Entry] = []
        node = PlannedJob(name, role, self.transfer_site, program, role.priority)
        node.arguments = arguments
        node.entries = entries
        node.on_submit_host = self.run.transfers_here
        self.add(node)
        return entries

    def on_scratch(
        self, word: str, role: PegasusRole, program: Program, entries: list[Entry]
    ) -> str:
        """Add the node that makes or removes the run's folder; return its name."""
        name = f"{word}_{node_word(self.run.label)}_0_{self.site_in_names}"
        self.auxiliary(name, role, program).extend(entries)
        return name

    def edges(self, parents: Iterable[str], child: str) -> None:
        """Make ``child`` wait for all of ``parents``; called once for each child."""
        children = self.children
        for parent in dict.fromkeys(parents):
            if parent in children:
                children[parent].append(child)
            else:
                children[parent] = [child]


@dataclass
class Bundles:
    """A few nodes of one role per level, to which its jobs are assigned in turn."""

    draft: Draft
    stem: str  # of their names
    most: int
    role: PegasusRole
    program: Program
    arguments: Sequence[str] = ()
    _turns: Counter[int] = field(default_factory=Counter)  # by level
    _lists: dict[str, list[Entry]] = field(default_factory=dict)

    def next(self, level: int) -> tuple[str, list[Entry]]:
        """The next node of ``level``, in turn, and its job list."""
        turn = self._turns[level]
        self._turns[level] += 1
        name = f"{self.stem}_{level}_{turn % self.most}"
        if turn < self.most:
            self._lists[name] = self.draft.auxiliary(
                name, self.role, self.program, self.arguments
            )
        return name, self._lists[name]


@dataclass(frozen=True, kw_only=True)
class BuiltInExecutable(ExecutableWorkflow):
    """An executable workflow of the built-in planner, before any of it is written."""

    rewritten: RewrittenWorkflow
    jobs: dict[str, PlannedJob]  # by node name
    runs: Mapping[str, Any] = field(default_factory=dict)  # node -> its sub-workflow
