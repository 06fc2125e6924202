"""Nodes that run when the buffer may be gone: which these are, and how they start."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.dag.nodes import Dag, Node
from pegasus_bb.errors import NotSealed
from pegasus_bb.model.placement import PFS, Closing
from pegasus_bb.planner.builtin.write import files_of
from pegasus_bb.planner.outside import Outside, outside_files, with_reused
from pegasus_bb.planner.seal import beyond_the_cut, check, check_directory, seal
from pegasus_bb.planner.seal.view import View, reach

FIRST = {"split_ID1", "count_ID2", "stage_in_remote_cori_0_0"}


def close(desk: Any, backend: str = "directory", *jobs: str) -> None:
    """ID3 alone, or ``jobs``, after the cut; it reads what both others make."""
    desk.persistent(backend=backend)
    placement = desk.context.placement
    out = replace(placement.files["out.txt"], tier=PFS)
    closing = Closing(
        *(2, 3, "levels", 4.0, 5.0, 1.0, 2.0, 22, 33, 99),
        jobs=frozenset(jobs or ("ID3",)),
        files=frozenset(("sub/n.txt", "b.txt")),
    )
    files = {**placement.files, "out.txt": out}
    desk.change(placement=replace(placement, files=files, closing=closing))


def delete_of(executable: Any) -> str:
    (name,) = View(executable.dag, set(), "cori", "").deletes
    return name


def before(executable: Any, name: str) -> set[str]:
    parents: dict[str, list[str]] = {}
    for parent, children in executable.dag.children.items():
        for child in children:
            parents.setdefault(child, []).append(parent)
    return reach([name], parents) - {name}


def test_giving_back_waits_for_all_before_the_cut_and_for_none_beyond(
    desk: Any,
) -> None:
    close(desk)
    executable = desk.plan()
    waited = before(executable, delete_of(executable))
    assert waited | executable.beyond | {delete_of(executable)} == set(executable.jobs)
    assert not waited & executable.beyond
    assert waited >= FIRST
    assert {"merge_ID3", "cleanup_demo_0_cori"} <= executable.beyond
    assert {"stage_out_remote_cori_2_0"} <= executable.beyond


def test_results_of_jobs_beyond_it_are_not_asked_for(desk: Any) -> None:
    close(desk)
    assert desk.plan().later == {"out.txt"}
    desk.persistent()
    assert desk.plan().later == frozenset()


def test_an_input_for_such_jobs_alone_is_brought_where_they_look(
    desk: Any, replicas: Any
) -> None:
    desk.replicas = replicas("in.txt", "words.txt", "title.txt")
    desk.jobs[2]["uses"].append({"lfn": "title.txt", "type": "input"})
    close(desk)
    beyond = desk.plan().beyond
    assert "stage_in_remote_cori_2_0" in beyond
    assert "stage_in_remote_cori_0_0" not in beyond


def test_what_makes_a_program_ready_for_such_jobs_alone_is_one_of_them(
    desk: Any,
) -> None:
    """The real planner has a node for that behind the one which brings it."""
    close(desk)
    names = ("stage_in_0", "chmod_0", "late", "early", "stage_in_1")
    nodes = {name: Node(name, f"{name}.sub") for name in names}
    children = {"stage_in_0": ["chmod_0"], "chmod_0": ["late"]}
    dag = Dag(nodes, {**children, "stage_in_1": ["late", "early"]})
    found = beyond_the_cut(dag, {"late"}, lambda _: (), desk.context.placement)
    assert found == {"late", "chmod_0", "stage_in_0"}


def test_what_no_node_makes_and_they_read_is_on_the_pfs(desk: Any) -> None:
    """A planner that knows of an earlier b.txt leaves out the job that makes it."""
    close(desk)
    placement, (workflow, _) = desk.context.placement, desk.read()
    nodes = [("ID1", "split_ID1"), ("ID2", "count_ID2"), ("BB0000001", "bb_setup")]
    assert with_reused(placement, workflow, nodes) == placement
    found = with_reused(placement, workflow, nodes[1:])
    changed = {n: f for n, f in found.files.items() if f != placement.files[n]}
    assert {n: (f.tier, f.how) for n, f in changed.items()} == {"b.txt": (PFS, "copy")}


def test_a_result_on_the_buffer_is_not_left_to_a_stage_out_beyond_the_cut(
    desk: Any,
) -> None:
    close(desk)
    placement = desk.context.placement
    out = replace(placement.files["out.txt"], tier="bb")
    files = {**placement.files, "out.txt": out}
    desk.change(placement=replace(placement, files=files))
    with pytest.raises(NotSealed, match=r"needs out\.txt, which is nowhere else"):
        desk.plan()


def test_nor_a_link_on_the_buffer_that_such_a_job_would_look_for(desk: Any) -> None:
    """It came with the inputs of others, which is not how planners were seen to do it:
    the level of a job says which stage-in it waits for."""
    desk.jobs[2]["uses"].append({"lfn": "words.txt", "type": "input"})
    close(desk)
    desk.plan()  # a copy, which both sides find
    placement = desk.context.placement
    closing = replace(placement.closing, links=frozenset(("words.txt",)))
    desk.change(placement=replace(placement, closing=closing))
    with pytest.raises(NotSealed, match=r"merge_ID3 .* needs words\.txt"):
        desk.plan()


def test_under_slurm_they_name_no_buffer_and_all_others_do(desk: Any) -> None:
    desk.behind_slurm()
    close(desk, "datawarp")
    executable, context = desk.plan(), desk.context
    _, catalogs = desk.read()
    files = dict(files_of(executable.jobs.values(), executable, catalogs, context))
    named = {
        Path(path).stem: text.decode().count("/bb/use.bbf")
        for path, text in files.items()
        if path.endswith(".sub") and "universe = local" not in text.decode()
    }
    none = {name for name, times in named.items() if not times}
    assert none == executable.beyond
    assert all("/bb/beyond.bbf" in files[f"00/00/{n}.sub"].decode() for n in none)


def test_what_they_read_is_copied_by_who_makes_it(desk: Any) -> None:
    close(desk, "datawarp")
    workflow, _ = desk.read()
    executable, placement = desk.plan(), desk.context.placement
    nodes = [(p.job.id, p.name) for p in executable.jobs.values() if p.job]
    beyond = executable.beyond
    outside = Outside(frozenset(), beyond)
    files = dict(outside_files(placement, workflow, nodes, outside, "/lus/run"))
    assert files["beyond"].decode().split() == sorted(beyond)
    assert b'"b.txt": "/lus/run/b.txt"' in files["carry/split_ID1.json"]
    assert b'"sub/n.txt": "/lus/run/sub/n.txt"' in files["carry/count_ID2.json"]
    assert files["beyond.bbf"].startswith(b"#")
    assert len(files) == 4
    desk.persistent(backend="datawarp")
    nothing = Outside(frozenset(), frozenset())
    plain = desk.context.placement
    assert dict(outside_files(plain, workflow, nodes, nothing, "/lus/run")) == {}


def test_nothing_that_needs_the_buffer_waits_for_them(desk: Any) -> None:
    close(desk)
    executable = desk.plan()
    users = {node.name for node in executable.jobs.values() if not node.detached}
    gate = f"{desk.context.bin}/gate"
    fewer = executable.beyond - {"stage_out_remote_cori_2_0"}
    with pytest.raises(NotSealed, match="is not said"):
        check(executable.dag, users, "cori", gate, ours=True, beyond=fewer)
    check(executable.dag, users, "cori", gate, ours=True, beyond=executable.beyond)
    with pytest.raises(NotSealed, match="does not wait for"):
        check(executable.dag, users, "cori", gate, ours=True)
    again = seal(executable.dag, users, "cori", gate, beyond=executable.beyond)
    assert again.children == executable.dag.children


@pytest.mark.parametrize("spoil", ["executable", "PEGASUS_DAG_JOB_ID"])
def test_a_submit_directory_in_which_one_would_look_for_the_buffer_is_refused(
    desk: Any, tmp_path: Path, spoil: str
) -> None:
    desk.change(submit_dir=tmp_path / "run")
    close(desk)
    folder = desk.write()
    executable = desk.plan()
    (folder / "bb/beyond").write_text("\n".join([*executable.beyond, ""]))
    with pytest.raises(NotSealed, match="says who copies b"):
        check_directory(folder, executable.dag)
    (folder / "bb/carry").mkdir()
    copies = json.dumps(dict.fromkeys(["b.txt", "sub/n.txt"], "/lus/run"))
    (folder / "bb/carry/split_ID1.json").write_text(copies)
    check_directory(folder, executable.dag)
    file = folder / "00/00/merge_ID3.sub"
    file.write_text(file.read_text().replace(spoil, "other"))
    with pytest.raises(NotSealed, match="merge_ID3 of bb/prior and bb/beyond"):
        check_directory(folder, executable.dag)
