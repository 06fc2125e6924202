"""The seal: what it adds, and every way in which it refuses."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.dag.nodes import Dag, Node, Script
from pegasus_bb.dag.reader import read_dag
from pegasus_bb.dag.writer import write_dag
from pegasus_bb.errors import CatalogError, NotSealed
from pegasus_bb.model.reservation import Request
from pegasus_bb.planner.seal import buffer_users
from tests.planner.sealing import check, seal

RECORDED = Path(__file__).parent.parent / "recorded" / "pegasus-5.1.2"
HAND_GATE = "/home/wfuser/wf/gate.sh"
GATE = "/submit/bb/bin/gate"
CREATE = "create_dir_w_0_cori"
POST = Script("/opt/pegasus/bin/pegasus-exitcode", "-r $RETURN x.out")


def request(prefix: str = "/bb/wfres", site: str = "cori") -> Request:
    return Request("wfres", "datawarp", 1, prefix, "uuid", "bb", site)


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


def sealed() -> Dag:
    return seal(small(), USERS, "cori", GATE, 30)


def test_sealing_adds_one_deferred_gate_and_the_last_edges() -> None:
    dag = sealed()
    assert dag.nodes[CREATE].pre == Script(GATE, "", 75, 30)
    assert [n.name for n in dag.nodes.values() if n.pre] == [CREATE]
    assert dag.children["cleanup_w_0_cori"] == ["bb_delete_D"]
    assert dag.children["bb_setup_S"] == [CREATE]


def test_the_gated_node_is_not_retried_a_deadline_is_the_end_of_waiting() -> None:
    dag = small()
    dag.nodes[CREATE] = replace(dag.nodes[CREATE], retry=3, unless_exit=1)
    node = seal(dag, USERS, "cori", GATE).nodes[CREATE]
    assert (node.retry, node.unless_exit) == (0, None)


def test_where_the_gate_settles_it_the_gated_node_may_be_tried_again() -> None:
    dag = small()
    dag.nodes[CREATE] = replace(dag.nodes[CREATE], retry=3, unless_exit=1)
    node = seal(dag, USERS, "cori", GATE, again=1).nodes[CREATE]
    assert (node.retry, node.unless_exit) == (1, None)


def test_sealing_leaves_what_it_was_given_as_it_was() -> None:
    dag = small()
    seal(dag, USERS, "cori", GATE)
    assert dag == small()


def test_sealing_again_changes_nothing() -> None:
    assert seal(sealed(), USERS, "cori", GATE, 30) == sealed()


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
    dag, reused = small(), "stage_out_local_local_1000_0"
    add(dag, Node(reused, f"{reused}.sub", post=POST), "create_dir_w_0_local")
    assert seal(dag, USERS, "cori", GATE).children[reused] == ["bb_delete_D"]
    with pytest.raises(NotSealed, match=f"does not wait for {reused}"):
        seal(dag, USERS | {reused}, "cori", GATE)


def add(dag: Dag, node: Node, *after: str) -> None:
    dag.nodes[node.name] = node
    for parent in after:
        dag.children[parent] = [*dag.children.get(parent, []), node.name]


def no_setup(dag: Dag) -> None:
    del dag.nodes["bb_setup_S"]
    dag.children = {
        k: [c for c in v if c != "bb_setup_S"] for k, v in dag.children.items()
    }


def two_deletes(dag: Dag) -> None:
    add(dag, Node("bb_delete_E", "x.sub"))


def clustered_setup(dag: Dag) -> None:
    no_setup(dag)
    add(dag, Node("merge_bb_setup_PID1_ID1", "x.sub"))


def no_create_dir(dag: Dag) -> None:
    dag.nodes["other"] = replace(dag.nodes.pop(CREATE), name="other")
    dag.children["other"] = dag.children.pop(CREATE)


def setup_after_create_dir(dag: Dag) -> None:
    dag.children[CREATE].append("bb_setup_S")


def setup_far_behind_the_gate(dag: Dag) -> None:
    dag.children["cleanup_w_0_cori"] = ["bb_setup_S"]


def cleanup_after_delete(dag: Dag) -> None:
    dag.children["bb_delete_D"].append("cleanup_w_0_cori")


def final_delete(dag: Dag) -> None:
    dag.nodes["bb_delete_D"].kind = "FINAL"


def service(dag: Dag) -> None:
    add(dag, Node("watch", "x.sub", "SERVICE"))


def provisioner(dag: Dag) -> None:
    dag.nodes["bb_setup_S"].kind = "PROVISIONER"


def splice(dag: Dag) -> None:
    dag.other.append("SPLICE more more.dag")


def include(dag: Dag) -> None:
    dag.other.append("include more.dag")


def noop_setup(dag: Dag) -> None:
    dag.nodes["bb_setup_S"].noop = True


def noop_delete(dag: Dag) -> None:
    dag.nodes["bb_delete_D"].noop = True


def taken_place(dag: Dag) -> None:
    dag.nodes[CREATE].pre = Script("/home/user/pre.sh")


def gate_without_defer(dag: Dag) -> None:
    dag.nodes[CREATE].pre = Script(GATE)


def way_around(dag: Dag) -> None:
    dag.nodes[CREATE].pre_skip = 76


def newline_in_a_script(dag: Dag) -> None:
    pre = Script("/bin/true", "a\nABORT-DAG-ON task_1 0 RETURN 0")
    dag.nodes["task_1"].pre = pre


def newline_in_vars(dag: Dag) -> None:
    dag.nodes["task_1"].vars = {"x": "a\nFINAL f f.sub"}


def newline_in_a_line(dag: Dag) -> None:
    dag.other.append("DOT a.dot\nFINAL f f.sub")


def user_beside_the_gate(dag: Dag) -> None:
    dag.children[CREATE] = []


BROKEN: dict[Callable[[Dag], None], str] = {
    no_setup: "exactly one node bb_setup",
    two_deletes: "exactly one node bb_delete",
    clustered_setup: "not clustered",
    no_create_dir: "exactly one node create_dir",
    setup_after_create_dir: "would wait for ever",
    setup_far_behind_the_gate: "would wait for ever",
    cleanup_after_delete: "would run after bb_delete_D",
    final_delete: "bb_delete_D is a FINAL node",
    service: "watch is a SERVICE node",
    provisioner: "bb_setup_S is a PROVISIONER node",
    splice: "brings nodes from another file",
    include: "brings nodes from another file",
    noop_setup: "bb_setup_S is NOOP",
    noop_delete: "bb_delete_D is NOOP",
    taken_place: "already has the PRE script /home/user/pre.sh",
    gate_without_defer: "already has the PRE script",
    way_around: "has PRE_SKIP 76",
    newline_in_a_script: "value of node 'task_1' has a line break",
    newline_in_vars: "value of node 'task_1' has a line break",
    newline_in_a_line: "has a line break inside",
    user_beside_the_gate: "would not wait for the gate",
}


@pytest.mark.parametrize("spoil", BROKEN, ids=lambda f: f.__name__)
def test_what_cannot_be_mended_is_refused(spoil: Callable[[Dag], None]) -> None:
    dag = small()
    spoil(dag)
    with pytest.raises(NotSealed, match="data at risk") as refusal:
        seal(dag, USERS, "cori", GATE)
    assert BROKEN[spoil] in str(refusal.value)
    assert refusal.value.exit_code == 2


@pytest.mark.parametrize("name", ["bb_setup_S", "bb_delete_D"])
def test_reserving_and_giving_back_must_not_need_the_buffer(name: str) -> None:
    with pytest.raises(NotSealed, match=f"{name} runs on site cori"):
        seal(small(), USERS | {name}, "cori", GATE)


def without_gate(dag: Dag) -> None:
    dag.nodes[CREATE] = replace(dag.nodes[CREATE], pre=None)


def gate_on_every_job(dag: Dag) -> None:
    dag.nodes["task_1"] = replace(dag.nodes["task_1"], pre=Script(GATE, "", 75, 10))


def setup_forgotten(dag: Dag) -> None:
    dag.children = {**dag.children, "bb_setup_S": []}


def delete_too_early(dag: Dag) -> None:
    dag.children = {**dag.children, "cleanup_w_0_cori": []}


UNSEALED: dict[Callable[[Dag], None], str] = {
    without_gate: "found on none",
    gate_on_every_job: "would poll the scheduler for every job",
    setup_forgotten: "does not wait for bb_setup_S",
    delete_too_early: "bb_delete_D does not wait for cleanup_w_0_cori",
}


@pytest.mark.parametrize("spoil", UNSEALED, ids=lambda f: f.__name__)
def test_a_sealed_dag_that_somebody_edited_is_refused_before_it_runs(
    spoil: Callable[[Dag], None],
) -> None:
    dag = sealed()
    check(dag, USERS, "cori", GATE)
    spoil(dag)
    with pytest.raises(NotSealed) as refusal:
        check(dag, USERS, "cori", GATE)
    assert UNSEALED[spoil] in str(refusal.value)


def test_every_broken_rule_is_named_at_once() -> None:
    dag = small()
    for spoil in (setup_after_create_dir, noop_delete, splice):
        spoil(dag)
    with pytest.raises(NotSealed) as refusal:
        seal(dag, USERS, "cori", GATE)
    for spoil in (setup_after_create_dir, noop_delete, splice):
        assert BROKEN[spoil] in str(refusal.value)


def test_a_site_whose_name_ends_like_ours_is_not_ours() -> None:
    dag = small()
    add(dag, Node("create_dir_w_0_big_cori", "x.sub"))
    assert seal(dag, USERS, "cori", GATE).nodes["create_dir_w_0_big_cori"].pre is None


# What a real pegasus-plan wrote.


@pytest.mark.parametrize("by_hand", [True, False], ids=["with hand", "as planned"])
def test_the_recorded_gated_directory_is_sealed(by_hand: bool, tmp_path: Path) -> None:
    shutil.copytree(RECORDED / "gated", tmp_path, dirs_exist_ok=True)
    if not by_hand:
        lines = (tmp_path / "demo-0.dag").read_text().splitlines(keepends=True)
        (tmp_path / "demo-0.dag").write_text("".join(lines[:-2]))
    dag = read_dag(tmp_path / "demo-0.dag")
    users = buffer_users(dag, tmp_path, request())
    done = seal(dag, users, "cori", HAND_GATE)
    write_dag(done, tmp_path / "sealed.dag")
    again = read_dag(tmp_path / "sealed.dag")
    check(again, users, "cori", HAND_GATE)
    assert again.nodes["create_dir_demo_0_cori"].pre == Script(HAND_GATE, "", 75, 10)
    assert again.children["bb_delete_ID0000004"] == ["cleanup_demo_0_local"]


def test_the_recorded_clustered_directory_is_sealed() -> None:
    dag = read_dag(RECORDED / "clustered" / "demo-0.dag")
    users = buffer_users(dag, RECORDED / "clustered", request())
    assert {"merge_cat1_PID1_ID1", "merge_cat1_PID1_ID2"} < users
    done = seal(dag, users, "cori", GATE)
    assert done.children["cleanup_demo_0_cori"] == ["bb_delete_ID0000004"]


def test_the_recorded_plain_directory_is_refused_for_what_went_wrong_there() -> None:
    dag = read_dag(RECORDED / "plain" / "demo-0.dag")
    users = buffer_users(dag, RECORDED / "plain", request("/lus/scratch"))
    with pytest.raises(NotSealed) as refusal:
        seal(dag, users, "cori", GATE)
    for words in (
        "bb_setup_ID0000001 waits for create_dir_demo_0_cori",
        "bb_setup_ID0000001 runs on site cori",
        "bb_delete_ID0000004 runs on site cori",
        "cleanup_demo_0_cori would run after bb_delete_ID0000004",
    ):
        assert words in str(refusal.value)


def test_the_node_of_another_planner_is_told_by_site_or_by_what_it_names() -> None:
    dag = read_dag(RECORDED / "gated" / "demo-0.dag")
    users = buffer_users(dag, RECORDED / "gated", request())
    here = {"create_dir_demo_0_local", "cleanup_demo_0_local", "register_cori_1_0"}
    lifecycle = {"bb_setup_ID0000001", "bb_delete_ID0000004"}
    # register_cori_0_0 runs on the submit host but lists a file on the buffer.
    assert dag.nodes.keys() - users == here | lifecycle
    assert "register_cori_0_0" in users


def test_a_reservation_whose_name_begins_alike_is_another_one() -> None:
    dag = read_dag(RECORDED / "gated" / "demo-0.dag")
    assert (
        buffer_users(dag, RECORDED / "gated", request("/bb/wf", "elsewhere")) == set()
    )


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
def test_what_the_built_in_planner_makes_passes(runner: Any, cleanup: str) -> None:
    runner.persistent()
    runner.change(cleanup=cleanup)
    planned = runner.plan()
    users = {j.name for j in planned.jobs.values() if j.site == "cori"}
    check(planned.dag, users, "cori", str(runner.context.bin / "gate"))


def test_the_files_of_our_own_planner_tell_the_same(
    runner: Any, tmp_path: Path
) -> None:
    runner.change(submit_dir=tmp_path / "run0001")
    runner.persistent()
    folder = runner.write()
    dag = read_dag(folder / "demo-0.dag")
    users = buffer_users(dag, folder, runner.context.request)
    assert users == {j.name for j in runner.plan().jobs.values() if not j.detached}
    check(dag, users, "cori", str(runner.context.bin / "gate"))
