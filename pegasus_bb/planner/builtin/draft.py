"""What the steps of a build share, and the nodes and edges that they add to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pegasus_bb.errors import CatalogError
from pegasus_bb.model.catalogs import Catalogs
from pegasus_bb.model.graph import Graph
from pegasus_bb.model.workflow import Job, Workflow
from pegasus_bb.planner.builtin.executable import PlannedJob
from pegasus_bb.planner.builtin.programs import Programs
from pegasus_bb.planner.context import PlanContext

_LONGEST_NAME = 255 - 20  # room for .out.000, or for a dot in front and .<pid>.part


@dataclass
class Draft:
    """An executable workflow in the making; each step adds its nodes and edges."""

    workflow: Workflow
    graph: Graph
    catalogs: Catalogs
    context: PlanContext
    scratch: str
    programs: Programs
    on_site: list[Job] = field(default_factory=list)  # in the order of the workflow
    level: dict[str, int] = field(default_factory=dict)  # of those, by id, from 1
    names: dict[str, str] = field(default_factory=dict)  # node by job id
    jobs: dict[str, PlannedJob] = field(default_factory=dict)  # by node
    children: dict[str, list[str]] = field(default_factory=dict)
    results: dict[str, str] = field(default_factory=dict)  # LFN -> stage-out node
    outputs: dict[str, str] = field(default_factory=dict)  # LFN -> destination
    notes: list[str] = field(default_factory=list)

    @property
    def site(self) -> str:
        """The compute site."""
        return self.context.site

    def url(self, lfn: str) -> str:
        """Where a file of the workflow is in scratch."""
        return f"file://{self.scratch}/{lfn}"

    def add(self, planned: PlannedJob) -> None:
        """Raises CatalogError where two nodes would have one name."""
        if len(planned.name) > _LONGEST_NAME:
            raise CatalogError(
                f"the name of a node has more than {_LONGEST_NAME} characters, and no "
                "file may be called so",
                file=str(self.workflow.document.path),
                found=planned.name,
                would_do="a shorter name or id of the job, or name of the workflow",
            )
        if planned.name in self.jobs:
            raise CatalogError(
                "two nodes of the executable workflow have one name",
                file=str(self.workflow.document.path),
                found=planned.name,
                would_do="give the jobs other names or ids; in a node's name every "
                "character but letters, digits and - becomes _",
            )
        self.jobs[planned.name] = planned

    def edges(self, parents: Iterable[str], child: str) -> None:
        """``child`` waits for all of ``parents``; said once for each child."""
        children = self.children
        for parent in dict.fromkeys(parents):
            if parent in children:
                children[parent].append(child)
            else:
                children[parent] = [child]
