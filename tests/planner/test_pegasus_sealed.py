"""What real submit directories lack is appended to their .dag; no byte changes."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.model.dag.joblists import job_lists
from pegasus_bb.model.dag.nodes import Dag, Node, Script
from pegasus_bb.model.dag.reader import read_dag
from pegasus_bb.planner.pegasus.complete_submit_dir import added_lines
from pegasus_bb.planner.pegasus.read_submit_dir import result_urls, stage_outs
from pegasus_bb.planner.seal.lives import removals
from pegasus_bb.planner.seal.sealed_directory import buffer_users
from pegasus_bb.planner.seal.sealing import seal
from pegasus_bb.planner.seal.view import View
from tests.planner.sealing import RECORDED, check, request

GATE = "/submit/bb/bin/gate"
POST = Script("/opt/pegasus/bin/pegasus-exitcode", "-r $RETURN x.out")
GATED = "SCRIPT DEFER 75 30 PRE create_dir_demo_0_cori /submit/bb/bin/gate"


def lines(folder: Path) -> list[str]:
    dag = read_dag(folder / "demo-0.dag")
    users = buffer_users(dag, folder, request())
    removes = removals(dag.nodes, job_lists(dag, folder))
    return lines_to_seal(View(dag, users, "cori", GATE, removes))


def lines_to_seal(view: View) -> list[str]:
    return added_lines(view.dag, seal(view, 30, 0))


def test_a_directory_without_gate_gets_one_and_the_last_edges(tmp_path: Path) -> None:
    shutil.copytree(RECORDED / "gated", tmp_path, dirs_exist_ok=True)
    dag_file = tmp_path / "demo-0.dag"
    by_hand = dag_file.read_text().splitlines(keepends=True)
    dag_file.write_text("".join(by_hand[:-2]))
    assert lines(tmp_path) == [
        GATED,
        "PARENT bb_setup_ID0000001 CHILD create_dir_demo_0_cori",
        "PARENT register_cori_0_0 register_cori_1_0 cleanup_demo_0_cori "
        "CHILD bb_delete_ID0000004",
    ]


def test_what_was_appended_makes_it_sealed_and_is_not_appended_twice(
    tmp_path: Path,
) -> None:
    shutil.copytree(RECORDED / "clustered", tmp_path, dirs_exist_ok=True)
    added = lines(tmp_path)
    assert added[0] == GATED
    with (tmp_path / "demo-0.dag").open("a") as out:
        out.writelines(f"{line}\n" for line in added)
    dag = read_dag(tmp_path / "demo-0.dag")
    users = buffer_users(dag, tmp_path, request())
    assert {"merge_cat1_PID1_ID1", "merge_cat1_PID1_ID2"} < users
    check(dag, users, "cori", GATE)
    assert lines(tmp_path) == []


def test_a_sub_workflow_waits_for_the_gate_and_bb_delete_for_it() -> None:
    dag = Dag(
        {
            "create_dir_w_0_cori": Node("create_dir_w_0_cori", "c.sub", post=POST),
            "bb_setup_S": Node("bb_setup_S", "s.sub", post=POST),
            "subdax_inner": Node("subdax_inner", "inner.dag", "SUBDAG"),
            "bb_delete_D": Node("bb_delete_D", "d.sub", post=POST),
        }
    )
    users = {"create_dir_w_0_cori", "subdax_inner"}
    added = lines_to_seal(View(dag, users, "cori", GATE))
    assert "PARENT create_dir_w_0_cori CHILD subdax_inner" in added
    assert "PARENT subdax_inner CHILD bb_delete_D" in added


def test_the_leaf_cleanup_waits_for_what_delivers_the_results_of_a_sub_workflow() -> (
    None
):
    """pegasus-plan takes them for files of site local, which no clean-up removes."""
    last = "stage_out_local_local_1_0"
    names = ("create_dir_w_0_cori", "pegasus-plan_S", last, "cleanup_w_0_cori")
    nodes = {name: Node(name, "x.sub", post=POST) for name in names}
    nodes |= {n: Node(n, "y.sub", post=POST) for n in ("bb_setup_S", "bb_delete_D")}
    first, inner, _, cleanup = names
    dag = Dag(nodes, {first: [inner], inner: [last, cleanup]})
    added = lines_to_seal(View(dag, {first, inner, cleanup}, "cori", GATE))
    assert f"PARENT {last} CHILD {cleanup}" in added


def test_a_result_that_comes_from_elsewhere_is_not_promised() -> None:
    """pegasus-plan brings an earlier one to its place without us."""

    def entries(_: str) -> list[dict[str, Any]]:
        return [transfer("new", "file:///bb/wfres/new"), transfer("old", "/home/old")]

    assert set(stage_outs(["stage_out_0"], entries)) == {"new", "old"}
    assert set(stage_outs(["stage_out_0"], entries, "/bb/wfres")) == {"new"}


def transfer(lfn: str, source: str) -> dict[str, Any]:
    dests = [{"url": f"file:///out/{lfn}"}]
    return {"lfn": lfn, "src_urls": [{"url": source}], "dest_urls": dests}


def test_a_result_that_bb_delete_cannot_check_is_refused() -> None:
    with pytest.raises(Exception, match="bb_delete cannot look"):
        result_urls({"out.txt": ["s3://bucket/out.txt"]}, "w.dag")
    both = {"out.txt": ["s3://bucket/out.txt", "file:///out/out.txt"]}
    assert result_urls(both, "w.dag") == {"out.txt": "file:///out/out.txt"}
