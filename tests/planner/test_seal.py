"""The seal: what it adds, and every way in which it refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.core.errors import CatalogError, NotSealed
from pegasus_bb.model.dag.nodes import Dag, Node, Script
from pegasus_bb.model.dag.reader import read_dag
from pegasus_bb.planner.seal.sealed_directory import buffer_users
from tests.planner.sealing import RECORDED, check, request, seal

GATE = "/submit/bb/bin/gate"
CREATE = "create_dir_w_0_cori"
POST = Script("/opt/pegasus/bin/pegasus-exitcode", "-r $RETURN x.out")


def small() -> Dag:
    """bb_setup, create_dir, one job, its stage-out, leaf cleanup, bb_delete; and the
    planner's own folder for jobs on site local around it."""
    names = (
        "create_dir_w_0_local bb_setup_S create_dir_w_0_cori task_1 "
        "stage_out_remote_cori_0_0 cleanup_w_0_cori bb_delete_D cleanup_w_0_local"
    )
    return Dag(
        {name: Node(name, f"00/00/{name}.sub", post=POST) for name in names.split()},
        {
            "create_dir_w_0_local": ["bb_setup_S", "bb_delete_D"],
            CREATE: ["task_1"],
            "task_1": ["stage_out_remote_cori_0_0", "bb_delete_D"],
            "stage_out_remote_cori_0_0": ["cleanup_w_0_cori"],
            "bb_delete_D": ["cleanup_w_0_local"],
        },
    )


USERS = {CREATE, "task_1", "stage_out_remote_cori_0_0", "cleanup_w_0_cori"}


def test_sealing_adds_one_deferred_gate_and_the_last_edges() -> None:
    dag = seal(small(), USERS, "cori", GATE, 30)
    assert dag.nodes[CREATE].pre == Script(GATE, "", 75, 30)
    assert [n.name for n in dag.nodes.values() if n.pre] == [CREATE]
    assert dag.children["cleanup_w_0_cori"] == ["bb_delete_D"]
    assert dag.children["bb_setup_S"] == [CREATE]


@pytest.mark.parametrize("retries", [0, 1])
def test_the_gated_node_is_tried_again_only_if_the_gate_decides_the_storage(
    retries: int,
) -> None:
    dag = small()
    dag.nodes[CREATE] = replace(dag.nodes[CREATE], retry=3, unless_exit=1)
    node = seal(dag, USERS, "cori", GATE, retries=retries).nodes[CREATE]
    assert (node.retry, node.unless_exit) == (retries, None)


def test_sealing_changes_neither_its_input_nor_a_sealed_dag() -> None:
    dag = small()
    once = seal(dag, USERS, "cori", GATE, 30)
    assert dag == small()
    assert seal(once, USERS, "cori", GATE, 30) == once


def test_giving_back_waits_for_every_end_of_the_workflow_and_only_for_ends() -> None:
    dag = small()
    for name in ("register_cori_0_0", "subdag_inner", "check_cori_0_1"):
        dag.nodes[name] = Node(name, f"{name}.sub", post=POST)
        dag.children["task_1"].append(name)
    dag.nodes["subdag_inner"].kind = "SUBDAG"
    done = seal(dag, USERS | {"subdag_inner"}, "cori", GATE)
    for name in ("register_cori_0_0", "subdag_inner", "check_cori_0_1"):
        assert done.children[name] == ["bb_delete_D"]
    assert done.children["task_1"] == dag.children["task_1"]


def test_no_clean_up_waits_for_an_earlier_result_that_is_brought() -> None:
    dag = small()
    reused = "stage_out_local_local_1000_0"
    add(dag, Node(reused, f"{reused}.sub", post=POST), "create_dir_w_0_local")
    assert seal(dag, USERS, "cori", GATE).children[reused] == ["bb_delete_D"]
    with pytest.raises(NotSealed, match=f"does not wait for {reused}"):
        seal(dag, USERS | {reused}, "cori", GATE)


def add(dag: Dag, node: Node, *after: str) -> None:
    dag.nodes[node.name] = node
    for parent in after:
        dag.children[parent] = [*dag.children.get(parent, []), node.name]


# What a real pegasus-plan wrote.


def test_the_node_of_another_planner_is_told_by_site_or_by_what_it_names() -> None:
    dag = read_dag(RECORDED / "gated" / "demo-0.dag")
    users = buffer_users(dag, RECORDED / "gated", request())
    here = {"create_dir_demo_0_local", "cleanup_demo_0_local", "register_cori_1_0"}
    lifecycle = {"bb_setup_ID0000001", "bb_delete_ID0000004"}
    # register_cori_0_0 runs on the submit host but lists a file on the buffer.
    assert dag.nodes.keys() - users == here | lifecycle
    assert "register_cori_0_0" in users


def test_a_workflow_inside_counts_as_a_user_of_the_buffer(tmp_path: Path) -> None:
    (tmp_path / "plan.sub").write_text("+pegasus_job_class = 10\nqueue\n")
    dag = Dag(
        {
            "plan": Node("plan", "plan.sub"),
            "inner": Node("inner", "inner.dag", "SUBDAG"),
        }
    )
    assert buffer_users(dag, tmp_path, request()) == {"plan", "inner"}


@pytest.mark.parametrize(
    "said",
    [
        {"vars": {"where": "/bb/wfres/user"}},
        {"pre": Script("/bin/check", "-d /bb/wfres/user")},
        {"post": Script("/bb/wfres/bin/exitcode")},
    ],
    ids=lambda said: next(iter(said)),
)
def test_a_node_may_name_the_buffer_in_the_dag_alone(
    said: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "task.sub").write_text("executable = /bin/cat\nqueue\n")
    dag = Dag({name: Node(name, "task.sub") for name in ("plain", "task")})
    dag.nodes["task"] = replace(dag.nodes["task"], **said)
    assert buffer_users(dag, tmp_path, request()) == {"task"}


def test_a_submit_file_that_is_gone_is_an_error_not_a_node_without_data(
    tmp_path: Path,
) -> None:
    with pytest.raises(CatalogError, match="node task cannot be read"):
        buffer_users(Dag({"task": Node("task", "task.sub")}), tmp_path, request())


@pytest.mark.parametrize("cleanup", ["none", "leaf", "inplace"])
def test_the_files_of_our_own_planner_are_sealed(
    runner: Any, tmp_path: Path, cleanup: str
) -> None:
    runner.change(submit_dir=tmp_path / "run0001", cleanup=cleanup)
    runner.persistent()
    folder = runner.write()
    dag = read_dag(folder / "demo-0.dag")
    users = buffer_users(dag, folder, runner.context.request)
    assert users == {j.name for j in runner.plan().jobs.values() if not j.detached}
    check(dag, users, "cori", str(runner.context.bin / "gate"))
