"""A DAG as DAGMan knows it: nodes in the order of the file, and their edges."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

# Keywords that begin a node; the word after SUBDAG is EXTERNAL.
KINDS = ("JOB", "SUBDAG", "FINAL", "SERVICE", "PROVISIONER")
# DAGMan writes there what Pegasus's monitord would; the local engine always does.
JOBSTATE_LOG = "JOBSTATE_LOG jobstate.log"


@dataclass(slots=True)
class Script:
    """A PRE or POST script. ``arguments`` is text: DAGMan splits it at blanks."""

    executable: str
    arguments: str = ""
    defer_status: int | None = None  # DEFER: this exit status means "ask again"
    defer_time: int | None = None  # seconds until then


@dataclass(slots=True)
class Node:
    name: str
    submit_file: str  # of a SUBDAG: its DAG file
    kind: str = "JOB"
    directory: str = ""  # DIR; empty: where the DAG is
    noop: bool = False
    done: bool = False
    pre: Script | None = None
    post: Script | None = None
    retry: int = 0
    unless_exit: int | None = None
    priority: int = 0
    category: str = ""
    vars: dict[str, str] = field(default_factory=dict)
    pre_skip: int | None = None
    abort_on: tuple[int, int | None] | None = None  # exit status, RETURN status

    def file(self, submit_dir: Path) -> Path:
        """Its submit file; of a SUBDAG its DAG file."""
        return submit_dir / self.directory / self.submit_file


@dataclass(slots=True)
class Dag:
    """A whole DAG file. A node without children has no entry in ``children``."""

    nodes: dict[str, Node] = field(default_factory=dict)
    children: dict[str, list[str]] = field(default_factory=dict)
    max_jobs: dict[str, int] = field(default_factory=dict)  # per category
    other: list[str] = field(default_factory=list)  # lines that we do not interpret
