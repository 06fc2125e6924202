"""Who makes what, who needs it, and in which order."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.model.document import Document
from pegasus_bb.model.graph import Graph, build_graph
from pegasus_bb.model.workflow import Workflow, read_workflow


def graph(
    *jobs: tuple[str, str, str], dependencies: dict[str, list[str]] | None = None
) -> Graph:
    return build_graph(workflow(*jobs, dependencies=dependencies))


def workflow(
    *jobs: tuple[str, str, str], dependencies: dict[str, list[str]] | None = None
) -> Workflow:
    """Jobs as (id, what it reads, what it makes), LFNs with blanks between."""
    entries: list[dict[str, Any]] = []
    for ident, reads, makes in jobs:
        uses = [{"lfn": lfn, "type": "input"} for lfn in reads.split()]
        uses += [{"lfn": lfn, "type": "output"} for lfn in makes.split()]
        entries.append({"id": ident, "name": "a", "uses": uses})
    declared = [{"id": i, "children": c} for i, c in (dependencies or {}).items()]
    data = {"name": "w", "jobs": entries, "jobDependencies": declared}
    return read_workflow(Document(Path("w.yml"), data))


def test_two_makers_of_one_file_are_refused() -> None:
    with pytest.raises(CatalogError, match="two jobs, A and B, make one file") as error:
        graph(("A", "", "x"), ("B", "", "x"))
    assert (error.value.found, error.value.key) == ("x", "jobs.1")


def test_a_circle_is_refused_and_named() -> None:
    with pytest.raises(CatalogError, match="in a circle") as error:
        graph(
            ("R", "", "r"), ("A", "r c", "a"), ("B", "a", "b"), ("C", "b", "c"),
            ("D", "c", ""),
        )  # fmt: skip
    ring = error.value.found.split(" -> ")
    assert ring[0] == ring[-1]
    assert set(ring) == {"A", "B", "C"}
    after = {"A": "B", "B": "C", "C": "A"}
    assert all(after[here] == there for here, there in pairwise(ring))
