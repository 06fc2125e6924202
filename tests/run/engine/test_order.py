"""Which node runs when: parents, slots, priorities, categories."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.model.dag.nodes import Dag, Node
from pegasus_bb.model.dag.writer import write_dag
from pegasus_bb.run.engine.local import run
from pegasus_bb.run.engine.node_progress import Watcher
from tests.support.counting import calls

from .conftest import Folder


def peak(noted: list[str]) -> int:
    now = most = 0
    for word in noted:
        now += -1 if word.endswith(" ends") else 1
        most = max(most, now)
    return most


def refused(folder: Folder, says: str) -> None:
    folder.job("a")
    with pytest.raises(CatalogError, match=says):
        folder.run()
    assert folder.ran() == []
    assert not (folder.path / "jobstate.log").exists()


def test_a_node_runs_after_all_of_its_parents(folder: Folder) -> None:
    for name in "abcd":
        folder.job(name)
    folder.chain("a", "b", "d")
    folder.chain("a", "c", "d")
    folder.chain("a", "c")  # an edge that is written twice counts once
    outcome = folder.run()
    noted = folder.noted()
    assert sorted(folder.ran()) == ["a", "b", "c", "d"]
    assert noted.index("a ends") < min(noted.index("b"), noted.index("c"))
    assert max(noted.index("b ends"), noted.index("c ends")) < noted.index("d")
    assert (outcome.total, outcome.done_before) == (4, 0)


@pytest.mark.parametrize(("category", "slots"), [("", 1), ("stagein", 4)])
def test_slots_and_categories_limit_what_runs_at_a_time(
    folder: Folder, category: str, slots: int
) -> None:
    for number in range(5):
        folder.job(f"n{number}", category=category)
    folder.dag.max_jobs["stagein"] = 1
    folder.run(slots=slots)
    assert (peak(folder.noted()), len(folder.ran())) == (1, 5)


class Times(Watcher):
    """How long each node took, as a user reads it; and when it had ended."""

    def __init__(self) -> None:
        self.took: dict[str, float] = {}
        self.at: dict[str, float] = {}

    def ended(self, name: str, how: str, seconds: float) -> None:
        self.took[name] = seconds
        self.at[name] = time.monotonic()


def test_the_wait_for_a_slot_is_no_part_of_what_a_job_took(folder: Folder) -> None:
    folder.job("a", priority=1)
    folder.job("b")
    times = Times()
    folder.run(slots=1, progress=times)
    assert times.took["b"] <= times.at["b"] - times.at["a"]


def test_the_higher_priority_goes_first(folder: Folder) -> None:
    folder.job("low", priority=-5)
    folder.job("plain")
    folder.job("second", priority=10)
    folder.job("first", priority=10)
    folder.dag.nodes["first"], folder.dag.nodes["second"] = (
        folder.dag.nodes.pop("first"),
        folder.dag.nodes.pop("second"),
    )
    assert folder.tasks_run(slots=1) == ["first", "second", "plain", "low"]


@pytest.mark.parametrize("kind", ["SUBDAG", "FINAL"])
def test_what_only_dagman_has_is_refused_by_name(folder: Folder, kind: str) -> None:
    folder.job("odd", kind=kind)
    refused(folder, f"{kind}.*odd")


@pytest.mark.parametrize("line", ["SPLICE s s.dag", "INCLUDE x.dag", "FROBNICATE a 1"])
def test_a_line_that_would_change_the_run_is_refused(folder: Folder, line: str) -> None:
    folder.dag.other.append(line)
    refused(folder, line.split()[0])


def test_a_cycle_is_reported_with_its_nodes(folder: Folder) -> None:
    folder.steps("start", "b")
    folder.chain("b", "a", "b")
    refused(folder, r"cycle[\s\S]*b, a\n")


def fan(folder: Path, width: int) -> Path:
    """A wide fan in and out: the shape in which a quadratic scan shows."""
    folder.mkdir()
    dag = Dag()
    for number in range(width):
        dag.nodes[f"n{number}"] = Node(f"n{number}", "no.sub", noop=True)
    last = f"n{width - 1}"
    dag.children["n0"] = [f"n{number}" for number in range(1, width - 1)]
    for number in range(1, width - 1):
        dag.children[f"n{number}"] = [last]
    write_dag(dag, folder / "w.dag")
    return folder


def test_a_run_takes_steps_by_its_nodes_and_not_by_their_square(
    tmp_path: Path,
) -> None:
    few, many = (fan(tmp_path / str(width), width) for width in (250, 1000))
    run(fan(tmp_path / "first", 5))  # what is loaded once
    assert calls(lambda: run(many)) < 5 * calls(lambda: run(few))
