"""Closing early through a real pegasus-plan, and runs of its plans."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from pegasus_bb.dag.reader import read_dag
from pegasus_bb.planner.seal.view import View, reach
from tests.planner.real_desk import MARKS, Desk
from tests.planner.test_pegasus_hybrid_real import with_sizes

pytestmark = MARKS


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return with_sizes(Desk(tmp_path))


def plan(desk: Desk, *words: str, mode: str = "persistent") -> Path:
    early = ("--bb-poll", "1s", "--bb-close", "early")
    return desk.plan("r", *early, *words, mode=mode)


def beyond(submit: Path) -> set[str]:
    return set((submit / "bb/beyond").read_text().split())


@pytest.mark.parametrize("mode", ["persistent", "hybrid"])
@pytest.mark.parametrize("cleanup", ["none", "leaf", "inplace"])
def test_it_plans_and_runs_and_the_result_is_the_same(
    desk: Desk, mode: str, cleanup: str
) -> None:
    submit = plan(desk, "--cleanup", cleanup, mode=mode)
    desk.call(sys.executable, "-m", "pegasus_bb", "run", str(submit))
    assert (desk.work / "out" / "out.txt").read_text() == "hello\n"
    assert [p for p in (desk.work / "fast").iterdir() if p.is_dir()] == []


def test_without_a_reservation_all_of_it_runs_on_the_pfs(tmp_path: Path) -> None:
    desk = with_sizes(Desk(tmp_path), fail="create: no such project")
    submit = plan(desk, "--bb-fallback", "pfs", "--cleanup", "inplace")
    desk.call(sys.executable, "-m", "pegasus_bb", "run", str(submit))
    assert (desk.work / "out" / "out.txt").read_text() == "hello\n"
    assert json.loads((submit / "bb/settled.json").read_text())["to"] == "pfs"
    assert (submit / "bb/carried/cat1_ID1").exists()


def test_giving_back_waits_for_no_node_beyond_the_cut(desk: Desk) -> None:
    submit = plan(desk)
    dag = read_dag(submit / "demo-0.dag")
    (delete,) = View(dag, set(), "cori", "").deletes
    late = beyond(submit)
    assert {"cat1_ID2", "cleanup_demo_0_cori"} <= late
    assert any(name.startswith("stage_out_") for name in late)
    assert "cat1_ID1" not in late
    assert not any(delete in reach([name], dag.children) for name in late)
    assert delete in reach(["cat1_ID1"], dag.children)
    placement = json.loads((submit / "bb/placement.json").read_text())
    assert (placement["outputs"], list(placement["later"])) == ({}, ["out.txt"])
    copies = json.loads((submit / "bb/carry/cat1_ID1.json").read_text())
    assert list(copies) == ["mid.txt"]


def test_under_slurm_what_comes_after_names_no_buffer(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "glite")
    sites = json.loads((desk.work / "sites.yml").read_text())
    sites["x-storage-tiers"]["cori"] = [{"name": "bb"}]
    (desk.work / "sites.yml").write_text(json.dumps(sites))
    submit = plan(with_sizes(desk, backend="datawarp"))
    (before,) = submit.rglob("cat1_ID1.sub")
    assert f"--bbf={submit}/bb/use.bbf" in before.read_text()
    for name in beyond(submit):
        (file,) = submit.rglob(f"{name}.sub")
        assert "/bb/use.bbf" not in file.read_text(), name
    (after,) = submit.rglob("cat1_ID2.sub")
    assert f"--bbf={submit}/bb/beyond.bbf" in after.read_text()


def test_clusters_are_refused(desk: Desk) -> None:
    given = ("--sites", "cori", "--output-sites", "local", "--dir", "submit")
    words = ("--bb-mode", "persistent", "--bb-close", "early", "--cluster=horizontal")
    bb = (sys.executable, "-m", "pegasus_bb", "plan", *given, *words)
    done = desk.try_call(*bb, "workflow.yml")
    assert done.returncode == 2
    assert "some jobs run when the reservation is given back" in done.stderr
    assert list((desk.work / "submit").rglob("*.dag")) == []


def test_a_result_that_is_reused_is_brought_to_where_later_jobs_read_it(
    desk: Desk,
) -> None:
    """ID1, which would make mid.txt, does not run: nobody copies that at the cut."""
    (desk.work / "mid.txt").write_text("made before\n")
    pfns = [{"site": "local", "pfn": str(desk.work / "mid.txt")}]
    desk.change("replicas.yml", replicas=[{"lfn": "mid.txt", "pfns": pfns}])
    steps = [("mid.txt", "big.txt", 90_000), ("big.txt", "more.txt", 900)]
    jobs = json.loads((desk.work / "workflow.yml").read_text())["jobs"]
    jobs[1:] = [step(f"ID{n}", *each) for n, each in enumerate(steps, 2)]
    jobs.append(step("ID4", "mid.txt", "out.txt", 100, "more.txt"))
    below = [("ID1", ["ID2", "ID4"]), ("ID2", ["ID3"]), ("ID3", ["ID4"])]
    edges = [{"id": ident, "children": children} for ident, children in below]
    desk.change("workflow.yml", jobs=jobs, jobDependencies=edges)
    (desk.work / "places.yml").write_text("- {lfn: big.txt, tier: bb}\n")
    submit = plan(desk, "--bb-placement", "places.yml")
    assert "cat1_ID4" in beyond(submit)
    assert not list(submit.rglob("cat1_ID1.sub"))
    desk.call(sys.executable, "-m", "pegasus_bb", "run", str(submit))
    assert (desk.work / "out" / "out.txt").read_text() == "made before\n"


def step(
    ident: str, reads: str, writes: str, size: int, *more: str
) -> dict[str, object]:
    uses: list[dict[str, object]] = [
        {"lfn": lfn, "type": "input"} for lfn in (reads, *more)
    ]
    made = {"lfn": writes, "type": "output", "stageOut": writes == "out.txt"}
    uses.append({**made, "metadata": {"size": size}})
    known = {"type": "job", "name": "cat1", "id": ident}
    return {**known, "arguments": [reads, writes], "uses": uses}
