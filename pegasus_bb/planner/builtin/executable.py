"""The executable workflow as data: nodes, what they run, what they are told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pegasus_bb.dag.joblists import Source
from pegasus_bb.model.workflow import Job
from pegasus_bb.planner.executable import ExecutableWorkflow

# namespace -> key -> value, merged from every source and checked
Profiles = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class StagedProgram:
    """An executable that travels to scratch like an input."""

    lfn: str
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """What a transformation means on a site."""

    transformation: str  # full name
    pfn: str  # the path that is started
    staged: tuple[StagedProgram, ...] = ()  # what has to be in scratch first
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    container: str = ""  # in mode off: else the launcher alone knows of it


@dataclass(frozen=True, slots=True)
class Role:
    """What kind of node it is, in Pegasus's numbers and names."""

    job_class: int
    priority: int
    category: str
    transformation: str


COMPUTE = Role(1, 0, "", "")
STAGE_IN = Role(2, 700, "stagein", "pegasus::transfer")
STAGE_OUT = Role(3, 900, "stageout", "pegasus::transfer")
CREATE_DIR = Role(6, 800, "", "pegasus::dirmanager")
CLEAN_UP = Role(8, 1000, "cleanup", "pegasus::cleanup")
LEAF_CLEANUP = Role(8, 1000, "", "pegasus::cleanup")


@dataclass(slots=True)
class PlannedJob:
    """One node: what runs where. ``job`` is None for the planner's own nodes."""

    name: str
    role: Role
    site: str
    program: Program
    priority: int
    job: Job | None = None
    arguments: list[str] = field(default_factory=list)
    entries: list[dict[str, Any]] | None = None  # the job list on its stdin
    folder: str = ""  # of its files, below the submit directory: 00/00
    detached: bool = False  # in the submit directory on this machine, not in scratch

    def add(self, entry: dict[str, Any]) -> None:
        """One more line in the node's job list."""
        self.entries = [] if self.entries is None else self.entries
        self.entries.append(entry)


@dataclass(frozen=True, kw_only=True)
class Executable(ExecutableWorkflow):
    """An executable workflow of the built-in planner, before any of it is written."""

    jobs: dict[str, PlannedJob]  # by node name
    notes: list[str]  # for the user: what was asked for and is not done here
