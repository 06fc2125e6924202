"""A DAG that somebody edited by hand: refused before anything of it starts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pegasus_bb.dag.nodes import Dag, Script
from pegasus_bb.dag.reader import read_dag
from pegasus_bb.dag.writer import write_dag

from .conftest import Site

CLEAN_UP, STAGE_OUT = "clean_up_cluster_level_", "stage_out_remote_cluster_"


def clean_up_early(dag: Dag) -> None:
    """Results are removed without waiting for stage-out; the folder at last waits."""
    for name, children in dag.children.items():
        if name.startswith(STAGE_OUT):
            dag.children[name] = ["cleanup_diamond_0_cluster"]
        elif name.startswith("mix_"):
            ends = [n for n in dag.nodes if n.startswith(CLEAN_UP)]
            dag.children[name] = [*children, *ends]


def any_end_is_good(dag: Dag) -> None:
    for node in dag.nodes.values():
        if node.name.startswith(STAGE_OUT):
            node.post = Script("/bin/true")


def never_run(dag: Dag) -> None:
    for node in dag.nodes.values():
        node.noop = node.name.startswith(STAGE_OUT)


def abort_is_good(dag: Dag) -> None:
    dag.nodes["mix_A"].abort_on = (1, 0)


def bb_delete_early(dag: Dag) -> None:
    """bb_delete does not wait for the removal of the scratch folder."""
    for name, children in dag.children.items():
        dag.children[name] = [c for c in children if not c.startswith("bb_delete_")]
    dag.children["bb_setup_BB0000001"].append("bb_delete_BB0000002")


EDITS: dict[Callable[[Dag], None], str] = {
    clean_up_early: "could remove results that are nowhere else",
    any_end_is_good: "is /bin/true, and it decides",
    never_run: "is NOOP",
    bb_delete_early: "bb_delete_BB0000002 does not wait for",
    abort_is_good: "that ends the workflow with status 0",
}


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_what_would_lose_results_is_not_run(
    site: Site, edit: Callable[[Dag], None]
) -> None:
    folder = site.planned("bb", "--bb-mode", "persistent")
    file = folder / "diamond-0.dag"
    dag = read_dag(file)
    edit(dag)
    write_dag(dag, file)
    done = site.run("bb")
    assert done.returncode == 2, done.stderr
    assert EDITS[edit] in done.stderr
    assert not (folder / "jobstate.log").exists()
