"""Opening late through a real pegasus-plan, and runs of its plans."""

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
SHARED = "- {lfn: out.txt, tier: bb}\n"  # in mode hybrid it would have a room


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return with_sizes(Desk(tmp_path))


def plan(desk: Desk, *words: str, mode: str = "persistent") -> Path:
    late = ("--bb-poll", "1s", "--bb-open", "late")
    return desk.plan("r", *late, *words, mode=mode)


def prior(submit: Path) -> set[str]:
    return set((submit / "bb/prior").read_text().split())


@pytest.mark.parametrize("mode", ["persistent", "hybrid"])
@pytest.mark.parametrize("cleanup", ["none", "leaf", "inplace"])
def test_it_plans_and_runs_and_the_result_is_the_same(
    desk: Desk, mode: str, cleanup: str
) -> None:
    (desk.work / "places.yml").write_text(SHARED)
    submit = plan(desk, "--cleanup", cleanup, "--bb-placement", "places.yml", mode=mode)
    desk.call(sys.executable, "-m", "pegasus_bb", "run", str(submit))
    assert (desk.work / "out" / "out.txt").read_text() == "hello\n"
    assert [p for p in (desk.work / "fast").iterdir() if p.is_dir()] == []


def test_the_gate_waits_for_the_jobs_before_the_cut(desk: Desk) -> None:
    submit = plan(desk)
    dag = read_dag(submit / "demo-0.dag")
    view = View(dag, set(), "cori", "")
    (setup,), (gated,), (delete,) = view.setups, view.gated, view.deletes
    early = prior(submit)
    assert "cat1_ID1" in early
    assert any(name.startswith("stage_in_") for name in early)
    assert "cat1_ID1" in view.parents[setup]
    assert setup in view.parents[gated]
    assert not early & reach([setup, gated], dag.children)
    assert "cat1_ID2" in reach([gated], dag.children)
    assert early <= reach([delete], view.parents)
    placement = json.loads((submit / "bb/placement.json").read_text())
    assert placement["before"] == ["mid.txt"]


def test_every_other_line_of_pegasus_s_dag_is_there_still(desk: Desk) -> None:
    plain = desk.plan("plain", mode="persistent")
    lines = (plain / "demo-0.dag").read_text().splitlines()
    late = (plan(desk) / "demo-0.dag").read_text().splitlines()
    nodes = [line for line in lines if line.startswith(("JOB", "SCRIPT POST"))]
    assert [n.replace("/plain/", "/r/") for n in nodes] == [
        line for line in late if line.startswith(("JOB", "SCRIPT POST"))
    ]


def test_under_slurm_what_comes_before_names_no_buffer(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "glite")
    sites = json.loads((desk.work / "sites.yml").read_text())
    sites["x-storage-tiers"]["cori"] = [{"name": "bb"}]
    (desk.work / "sites.yml").write_text(json.dumps(sites))
    submit = plan(with_sizes(desk, backend="datawarp"))
    for name in prior(submit):
        (file,) = submit.rglob(f"{name}.sub")
        assert "/bb/use.bbf" not in file.read_text(), name
    (before,) = submit.rglob("cat1_ID1.sub")
    assert f"--bbf={submit}/bb/beyond.bbf" in before.read_text()
    (after,) = submit.rglob("cat1_ID2.sub")
    assert f"--bbf={submit}/bb/use.bbf" in after.read_text()


def test_clusters_are_refused(desk: Desk) -> None:
    given = ("--sites", "cori", "--output-sites", "local", "--dir", "submit")
    words = ("--bb-mode", "persistent", "--bb-open", "late", "--cluster=horizontal")
    bb = (sys.executable, "-m", "pegasus_bb", "plan", *given, *words)
    done = desk.try_call(*bb, "workflow.yml")
    assert done.returncode == 2
    assert "some jobs run before the reservation is asked for" in done.stderr
    assert list((desk.work / "submit").rglob("*.dag")) == []
