"""What was read for a planning: everything that a placement depends on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeVar

from pegasus_bb.model.catalogs import Catalogs, Site
from pegasus_bb.model.graph import Graph
from pegasus_bb.model.history import History
from pegasus_bb.model.properties import Settings
from pegasus_bb.model.workflow import Workflow

_Input = TypeVar("_Input", bound="PlanningInput")


@dataclass(frozen=True, slots=True)
class Ending:
    """What becomes of files that no job needs any more."""

    cleanup: str = "inplace"  # none | leaf | inplace | constraint
    delivered: bool = True  # results are staged out, so their copies can go


@dataclass(frozen=True, kw_only=True)
class PlanningInput:
    """The workflow, the catalogs, and what the user said of this planning."""

    workflow: Workflow
    graph: Graph
    catalogs: Catalogs
    settings: Settings
    site: Site  # of the tasks
    ending: Ending
    history: History = field(default_factory=History)

    @property
    def has_sub_workflows(self) -> bool:
        """Whether a job of the workflow is a workflow itself: its files are unknown."""
        return any(job.kind != "job" for job in self.workflow.jobs.values())

    @property
    def levels(self) -> int:
        """The length of the longest chain of jobs."""
        return max(self.graph.level.values(), default=0)

    def in_mode(self: _Input, mode: str) -> _Input:
        """The same for a planning in another mode."""
        return replace(self, settings=replace(self.settings, mode=mode))
