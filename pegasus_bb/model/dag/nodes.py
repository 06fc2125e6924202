"""A DAG as DAGMan knows it: nodes in the order of the file, and their edges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.core.files import read_text

# Keywords that begin a node; the word after SUBDAG is EXTERNAL.
KINDS = ("JOB", "SUBDAG", "FINAL", "SERVICE", "PROVISIONER")
# DAGMan writes it in the place of Pegasus's monitord; the local engine always does.
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
    file: str = field(default="the DAG", compare=False)  # that it was read from

    def with_edges(self, added: Mapping[str, Iterable[str]]) -> Dag:
        """With the children that ``added`` has by parent, after those of now."""
        children = dict(self.children)
        for name, below in added.items():
            children[name] = [*children.get(name, ()), *below]
        return replace(self, children=children)

    @property
    def size(self) -> tuple[int, int]:
        """The numbers of its nodes and edges."""
        return len(self.nodes), sum(map(len, self.children.values()))


def submit_text(folder: Path, node: Node) -> str:
    """The text of the submit file of ``node``. Raises CatalogError."""
    text = _text(node.file(folder), f"the submit file of node {node.name}")
    if text is None:
        raise CatalogError(
            f"the submit file of node {node.name} cannot be read: it is not there",
            file=str(node.file(folder)),
            would_do="plan again",
        )
    return text


def list_text(folder: Path, node: Node) -> str:
    """The text of the job list of ``node``, or of its list of clustered tasks; empty if
    it has neither. Raises CatalogError."""
    file = node.file(folder).with_suffix(".in")
    return _text(file, f"the job list of node {node.name}") or ""


def _text(file: Path, what: str) -> str | None:
    """None if there is no such file. Bytes that are not UTF-8 become surrogates."""
    try:
        return read_text(file)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CatalogError(
            f"{what} cannot be read: {error.strerror}",
            file=str(file),
            would_do="plan again",
        ) from error
