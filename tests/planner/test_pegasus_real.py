"""The same through a real pegasus-plan, and a run of what it planned.

Needs PEGASUS_HOME, or a pegasus-plan on PATH; skipped by name without.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pegasus_bb.model.dag.blahp import GUARDED_RELEASE
from pegasus_bb.model.dag.reader import read_dag
from tests.support.real_pegasus import MARKS, WorkflowRunner

pytestmark = MARKS


@pytest.fixture
def runner(tmp_path: Path) -> WorkflowRunner:
    return WorkflowRunner(tmp_path)


def test_the_buffer_is_given_back_where_an_earlier_result_is_reused(
    runner: WorkflowRunner,
) -> None:
    """Its replica is brought to the output site by Pegasus's own program."""
    with runner.edited("workflow.yml") as data:
        more = json.loads(json.dumps(data["jobs"][1]).replace("out.txt", "more.txt"))
        data["jobs"].append({**more, "id": "ID3"})
        data["jobDependencies"][0]["children"].append("ID3")
    (runner.work / "old.txt").write_text("made before\n")
    pfns = [{"site": "local", "pfn": str(runner.work / "old.txt")}]
    with runner.edited("replicas.yml") as known:
        known["replicas"].append({"lfn": "out.txt", "pfns": pfns})
    submit = runner.plan("persistent")
    assert not list(submit.rglob("cat1_ID2.sub"))
    assert runner.run() == "made before\n"
    assert (runner.work / "out" / "more.txt").read_text() == "hello\n"
    assert runner.standing == []


@pytest.mark.parametrize("cleanup", ["none", "leaf", "inplace", "constraint"])
def test_every_cleanup_is_sealed(runner: WorkflowRunner, cleanup: str) -> None:
    dag = read_dag(runner.plan("persistent", "--cleanup", cleanup) / "demo-0.dag")
    waiting = [p for p, below in dag.children.items() if "bb_delete_BB0000002" in below]
    last = {"none": "stage_out_remote_cori_1_0"}.get(cleanup, "cleanup_demo_0_cori")
    assert last in waiting or "register_cori_1_0" in waiting
    gate = dag.nodes["create_dir_demo_0_cori"].pre
    assert gate is not None
    assert gate.defer_status == 75


@pytest.mark.parametrize("style", ["glite", "ssh"])
def test_kickstart_changes_to_the_folder_of_a_batch_job(
    tmp_path: Path, style: str
) -> None:
    submit = WorkflowRunner(tmp_path, style).plan("persistent")
    text = (submit / "00/00/cat1_ID1.sub").read_text()
    prefix = json.loads((submit / "bb/request.json").read_text())["prefix"]
    assert f" -w {prefix}/" in text
    assert f"\nperiodic_release = {GUARDED_RELEASE}\n" in text
    assert "initialdir" not in text
    assert f"executable = {submit}/bb/bin/launch" in text


@pytest.mark.parametrize(
    "profiles",
    [
        {"post.scope": "none"},
        {"post": "user", "post.path.user": "/bin/true"},
        {"post.arguments": "-r 0"},
    ],
)
def test_a_job_without_a_post_script_is_refused(
    runner: WorkflowRunner, profiles: dict[str, str]
) -> None:
    with runner.edited("workflow.yml") as data:
        data["jobs"][0]["profiles"] = {"dagman": profiles}
    said = runner.refused("persistent")
    assert "cat1_ID1" in said
    assert not runner.submit.exists()


def test_the_scope_of_post_scripts_may_be_essential_but_not_none(
    runner: WorkflowRunner,
) -> None:
    said = runner.refused("persistent", "-Ddagman.post.scope=none")
    assert "Take post.scope out" in said
    dag = read_dag(
        runner.plan("persistent", "-Ddagman.post.scope=essential") / "demo-0.dag"
    )
    without = {name for name, node in dag.nodes.items() if node.post is None}
    assert without == {"register_cori_1_0"}
