"""Which node runs when: parents, slots, priorities, categories."""

from __future__ import annotations

import time

import pytest

from pegasus_bb.core.errors import CatalogError
from pegasus_bb.model.dag.nodes import Dag, Node
from pegasus_bb.model.dag.writer import write_dag
from pegasus_bb.run.engine.local import run

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


def test_on_a_kernel_that_cannot_tell_when_a_process_ends(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(pid: int) -> int:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr("os.pidfd_open", refuse)
    folder.job("a", pre=folder.script("pre"), post=folder.script("post"))
    folder.job("b")
    folder.chain("a", "b")
    assert folder.tasks_run() == ["pre", "a", "post", "b"]


@pytest.mark.parametrize(("category", "slots"), [("", 1), ("stagein", 4)])
def test_slots_and_categories_limit_what_runs_at_a_time(
    folder: Folder, category: str, slots: int
) -> None:
    for number in range(5):
        folder.job(f"n{number}", category=category)
    folder.dag.max_jobs["stagein"] = 1
    folder.run(slots=slots)
    assert (peak(folder.noted()), len(folder.ran())) == (1, 5)


def test_a_local_job_takes_no_slot(folder: Folder) -> None:
    folder.job("compute", "until=go")
    folder.job("local", submit="universe = local")
    folder.job("after", submit="universe = local")
    folder.chain("local", "after")
    folder.dag.nodes["after"].post = folder.script("opens")
    (folder.path / "opens.py").write_text("")
    engine = folder.start(slots=1)
    folder.wait_for("after")  # while compute holds the only slot
    folder.finish(engine)


def test_results_that_leave_at_a_pace_take_no_slot(folder: Folder) -> None:
    (folder.path / "bb").mkdir(exist_ok=True)
    (folder.path / "bb" / "drain.json").write_text("{}")
    stage_out = "stage_out_remote_cluster_1_0"
    folder.job(stage_out, "until=go")
    folder.job("compute")
    engine = folder.start(slots=1)
    folder.wait_for("compute")  # while results leave
    folder.finish(engine)


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


def test_a_full_category_does_not_stand_in_the_way_of_others(folder: Folder) -> None:
    folder.job("in0", "until=go", category="stagein", priority=9)
    folder.job("in1", category="stagein", priority=9)
    folder.job("other", category="without-a-limit")
    folder.job("opens", "out=x")
    folder.chain("other", "opens")
    folder.dag.max_jobs["stagein"] = 1
    engine = folder.start(slots=2, until="opens")
    assert folder.times()["in1"] == 0
    folder.finish(engine)
    assert folder.times()["in1"] == 1


@pytest.mark.parametrize("kind", ["SUBDAG", "FINAL", "SERVICE", "PROVISIONER"])
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


def test_a_line_that_changes_nothing_is_not_in_the_way(folder: Folder) -> None:
    folder.job("a")
    folder.dag.other += ["CONFIG dagman.config", "DOT w.dot", "JOBSTATE_LOG j.log"]
    assert folder.tasks_run() == ["a"]


def test_a_category_in_which_nothing_can_start_is_refused(folder: Folder) -> None:
    folder.job("never", category="never")
    folder.dag.max_jobs["never"] = 0
    refused(folder, "could ever start")


def test_twenty_thousand_nodes_take_seconds(folder: Folder) -> None:
    dag = Dag()
    for number in range(20_000):
        dag.nodes[f"n{number}"] = Node(f"n{number}", "no.sub", noop=True)
    # A wide fan in and out: the shape in which a quadratic scan shows.
    dag.children["n0"] = [f"n{number}" for number in range(1, 19_999)]
    for number in range(1, 19_999):
        dag.children[f"n{number}"] = ["n19999"]
    write_dag(dag, folder.path / "w.dag")
    started = time.process_time()
    assert run(folder.path).total == 20_000
    assert time.process_time() - started < 10
