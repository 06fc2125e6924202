"""Nodes that run before the buffer is asked for: which these are, what waits for them,
and how they start."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegasus_bb.dag.nodes import Dag, Node, Script
from pegasus_bb.errors import NotSealed
from pegasus_bb.model.placement import PFS, Opening
from pegasus_bb.planner.builtin.write import files_of
from pegasus_bb.planner.outside import Outside, outside_files
from pegasus_bb.planner.seal import check, check_directory, opened, seal
from pegasus_bb.planner.seal.prior import lines_to_open, without_edges
from pegasus_bb.planner.seal.view import reach

EARLY = ("in.txt", "a.txt", "b.txt")
CREATE = "create_dir_demo_0_cori"
GATE = "/submit/bb/bin/gate"
POST = Script("/submit/bb/bin/exitcode", "-r $RETURN x.out")


def open_late(desk: Any, backend: str = "directory", *jobs: str) -> None:
    """ID1 alone, or ``jobs``, before it; both others read what it makes."""
    desk.persistent(backend=backend)
    placement = desk.context.placement
    early = {lfn: replace(placement.files[lfn], tier=PFS) for lfn in EARLY}
    opening = Opening(
        *(1, 3, "levels", 4.0, 5.0, 1.0, 2.0, 0.0, 33, 99),
        jobs=frozenset(jobs or ("ID1",)),
        files=frozenset(("a.txt", "b.txt")),
        used=frozenset(EARLY),
    )
    files = {**placement.files, **early}
    desk.change(placement=replace(placement, files=files, opening=opening))


def parents_of(dag: Dag, child: str) -> set[str]:
    return {name for name, below in dag.children.items() if child in below}


def gate_of(desk: Any) -> str:
    return f"{desk.context.bin}/gate"


def test_the_gate_is_in_the_middle_of_the_run(desk: Any) -> None:
    open_late(desk)
    executable = desk.plan()
    dag, prior = executable.dag, executable.prior
    assert {"split_ID1", "stage_in_remote_cori_0_0"} <= prior
    (setup,) = (name for name in dag.nodes if name.startswith("bb_setup_"))
    assert parents_of(dag, setup) == {"split_ID1"}
    assert parents_of(dag, CREATE) == {setup}
    assert dag.nodes[CREATE].pre.executable == gate_of(desk)
    assert not prior & reach([setup], dag.children)
    others = dag.nodes.keys() - prior - {setup, CREATE}
    assert others <= reach([CREATE], dag.children)


def test_no_node_is_added(desk: Any) -> None:
    open_late(desk)
    late = desk.plan()
    desk.persistent()
    assert late.dag.nodes.keys() == desk.plan().dag.nodes.keys()


def test_what_follows_such_jobs_alone_is_before_it_as_well(desk: Any) -> None:
    desk.jobs[0]["uses"].append(
        {"lfn": "log.txt", "type": "output", "stageOut": True, "registerReplica": False}
    )
    open_late(desk)
    placement = desk.context.placement
    used = placement.opening.used | {"log.txt"}
    opening = replace(placement.opening, used=used)
    desk.change(placement=replace(placement, opening=opening), cleanup="inplace")
    executable = desk.plan()
    chores = executable.prior - {"split_ID1", "stage_in_remote_cori_0_0"}
    assert "stage_out_remote_cori_0_0" in chores
    assert any(name.startswith("clean_up_") for name in chores)
    (delete,) = (n for n in executable.dag.nodes if n.startswith("bb_delete_"))
    above = {c: [p] for p, cs in executable.dag.children.items() for c in cs}
    assert above[delete]
    for chore in chores:  # results of theirs are looked for before it is given back
        assert delete in reach([chore], executable.dag.children)


def test_a_stage_in_that_brings_files_of_both_sides_is_refused(desk: Any) -> None:
    """Planners were seen to put together what jobs of one level need."""
    open_late(desk)
    placement = desk.context.placement
    opening = replace(placement.opening, used=frozenset(("a.txt", "b.txt")))
    desk.change(placement=replace(placement, opening=opening))
    with pytest.raises(NotSealed, match=r"stage_in_remote_cori_0_0 moves in\.txt"):
        desk.plan()


def test_under_slurm_they_name_no_buffer_and_all_others_do(desk: Any) -> None:
    desk.behind_slurm()
    open_late(desk, "datawarp")
    executable, context = desk.plan(), desk.context
    _, catalogs = desk.read()
    files = dict(files_of(executable.jobs.values(), executable, catalogs, context))
    named = {
        Path(path).stem: text.decode().count("/bb/use.bbf")
        for path, text in files.items()
        if path.endswith(".sub") and "universe = local" not in text.decode()
    }
    assert {name for name, times in named.items() if not times} == executable.prior


def test_their_names_are_told_to_the_run(desk: Any) -> None:
    open_late(desk, "datawarp")
    workflow, _ = desk.read()
    prior = desk.plan().prior
    outside = Outside(prior, frozenset())
    files = dict(outside_files(desk.context.placement, workflow, (), outside, "/lus"))
    assert files["prior"].decode().split() == sorted(prior)
    assert files.keys() == {"prior", "beyond.bbf"}


def test_a_dag_in_which_one_of_them_waits_for_the_buffer_is_refused(desk: Any) -> None:
    open_late(desk)
    executable = desk.plan()
    users = {node.name for node in executable.jobs.values() if not node.detached}
    known: dict[str, Any] = {"ours": True, "prior": executable.prior}
    check(executable.dag, users, "cori", gate_of(desk), **known)
    with pytest.raises(NotSealed, match="would not wait for the gate"):
        check(executable.dag, users, "cori", gate_of(desk), ours=True)
    more = {**known, "prior": executable.prior | {"merge_ID3"}}
    with pytest.raises(NotSealed, match=r"merge_ID3 would wait for the buffer"):
        check(executable.dag, users, "cori", gate_of(desk), **more)
    again = seal(executable.dag, users, "cori", gate_of(desk), prior=executable.prior)
    assert again.children == executable.dag.children


def test_an_edited_list_of_them_is_not_run(desk: Any, tmp_path: Path) -> None:
    desk.change(submit_dir=tmp_path / "run")
    open_late(desk)
    folder = desk.write()
    executable = desk.plan()
    (folder / "bb/prior").write_text("\n".join([*executable.prior, ""]))
    check_directory(folder, executable.dag)
    (folder / "bb/prior").write_text("")
    with pytest.raises(NotSealed, match="would not wait for the gate"):
        check_directory(folder, executable.dag)
    (folder / "bb/prior").write_text("nobody\n")
    with pytest.raises(NotSealed, match="nobody of bb/prior and bb/beyond must be in"):
        check_directory(folder, executable.dag)


# --- whatever the graph ---


@st.composite
def planned(draw: st.DrawFn) -> tuple[Dag, set[str]]:
    """Tasks in levels behind create_dir, and those of the first levels."""
    number = draw(st.integers(1, 8))
    children: dict[str, list[str]] = {CREATE: []}
    level: dict[str, int] = {}
    for at in range(number):
        older = [f"t{n}" for n in range(at)]
        above = draw(st.lists(st.sampled_from(older), unique=True)) if older else []
        level[f"t{at}"] = 1 + max((level[name] for name in above), default=0)
        for name in above or [CREATE]:
            children.setdefault(name, []).append(f"t{at}")
    cut = draw(st.integers(0, max(level.values())))
    names = ["bb_setup_S", CREATE, *level, "bb_delete_D"]
    nodes = {name: Node(name, f"{name}.sub", post=POST) for name in names}
    return Dag(nodes, children), {name for name in level if level[name] <= cut}


@settings(max_examples=60, deadline=None)
@given(planned())
def test_every_other_task_waits_for_the_gate_and_none_of_these_does(
    planned: tuple[Dag, set[str]],
) -> None:
    dag, prior = planned
    tasks = {name for name in dag.nodes if name.startswith("t")}
    late, known = opened(dag, prior, "cori"), {"ours": True, "prior": prior}
    sealed = seal(late, tasks, "cori", GATE, **known)
    behind = reach([CREATE], sealed.children)
    assert tasks - prior <= behind
    assert not prior & behind
    parents = {
        name: sorted(parents_of(sealed, name) & tasks)
        for name in [*tasks, "bb_setup_S"]
    }
    assert prior <= reach(["bb_setup_S"], parents) or not prior
    for name in tasks:  # the workflow's own edges stand
        assert set(parents[name]) == parents_of(dag, name) & tasks


@settings(max_examples=30, deadline=None)
@given(planned(), st.booleans())
def test_the_same_said_in_lines_of_a_dag_file(
    planned: tuple[Dag, set[str]], together: bool
) -> None:
    dag, prior = planned
    wanted = opened(dag, prior, "cori")
    lines, less = lines_to_open(dag, wanted)
    text = []
    for parent, below in dag.children.items():
        for some in [below] if together and below else [[c] for c in below]:
            text.append(f"PARENT  {parent} CHILD {' '.join(some)}\n".encode())
    kept = without_edges([b"# PARENT of all\n", *text], less)
    assert kept.startswith(b"# PARENT of all\n")
    found = set(_edges(kept.decode().splitlines()[1:])) | set(_edges(lines))
    assert found == {(p, c) for p, below in wanted.children.items() for c in below}


def _edges(lines: list[str]) -> Any:
    for line in lines:
        parents, _, children = line.removeprefix("PARENT").partition(" CHILD ")
        for parent in parents.split():
            yield from ((parent, child) for child in children.split())
