"""What a failed or killed job saves, as a user sees it."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.support.shebang import shebang
from tests.support.user_site import Site, done_well
from tests.support.waiting import until

# Counts its tries in a checkpoint, and needs three.
TASK = """{shebang}
import os, pathlib, sys, time
out, how = sys.argv[1:]
state = pathlib.Path("state")
tries = int(state.read_text()) + 1 if state.exists() else 1
pathlib.Path("state.new").write_text(str(tries))
os.replace("state.new", "state")
print("try", tries)
if tries < 3:
    pathlib.Path("notes.txt").write_text("undeclared")
    pathlib.Path({begun!r}).touch()
    if how == "wait":
        time.sleep(60)
    sys.exit("not yet")
pathlib.Path(out).write_text(str(tries))
"""


@pytest.fixture(params=["directory", "node-local", "condorio"])
def site(request: pytest.FixtureRequest, site: Site) -> Site:
    if request.param == "node-local":
        site.has_disks(mount="any", granularity="1MiB", name="bb")
    if request.param == "condorio":
        site.configure("condorio")
    return site


def begun(site: Site) -> Path:
    return site.root / "begun"


def plan(site: Site, how: str, *more: str, tier: str = "bb", retry: int = 0) -> Path:
    text = TASK.format(shebang=shebang("-IS"), begun=str(begun(site)))
    (site.root / "mix.py").write_text(text)
    state = {"lfn": "state", "type": "checkpoint"}
    state["metadata"] = {"size": 100, **({"bb.tier": tier} if tier else {})}
    made = {"lfn": "d.dat", "type": "output", "metadata": {"size": 100}}
    with site.edited("workflow.yml") as workflow:
        uses = [{"lfn": "in.txt", "type": "input"}, state, made]
        job = {"type": "job", "name": "mix", "id": "A", "uses": uses}
        job["arguments"] = ["d.dat", how]
        job["profiles"] = {"dagman": {"retry": str(retry)}}
        workflow["jobs"] = [job]
    return site.planned("bb", "--bb-mode", "transient", *more)


def errors_of(folder: Path) -> str:
    return "".join(f.read_text() for f in sorted(folder.glob("*/*/mix_A.err.*")))


def test_a_run_that_is_stopped_saves_the_checkpoint_and_goes_on(site: Site) -> None:
    folder = plan(site, "wait")
    for tries in (1, 2):
        engine = site.start_run("bb")
        until(begun(site).exists)
        engine.send_signal(signal.SIGTERM)
        assert engine.wait() != 0
        begun(site).unlink()
        (saved,) = (site.root / "pfs").rglob("state")
        assert saved.read_text() == str(tries)
    assert "plan.json" in [path.name for path in (folder / "bb").iterdir()]
    site.finishes("bb", {"d.dat": b"3"})
    sizes = json.loads(site.bb("sizes", "--json", str(folder), check=True).stdout)
    assert sizes["state"] == 1, "which the next plan knows"


def test_the_folder_of_a_failed_try_is_named_until_the_user_removes_it(
    site: Site,
) -> None:
    folder = plan(site, "fail", "--bb-keep-failed", "on", tier="")
    failed = site.run("bb")
    assert failed.returncode != 0
    (kept,) = [path for path in (folder / "bb/failed").iterdir() if path.is_dir()]
    words = f"{kept} (1 file, 10 B)"
    assert f"its folder: {words}" in failed.stderr
    assert (kept / "notes.txt").read_text() == "undeclared"
    told = site.bb("status", str(folder)).stdout
    assert f"kept of a failed try of mix_A: {words}" in told
    status = json.loads(site.bb("status", "--json", str(folder)).stdout)
    assert [each["path"] for each in status["kept"]] == [str(kept)]
    site.run("bb")
    assert done_well(site.run("bb"))
    assert site.bb("status", str(folder)).stdout.count("kept of a failed try") == 2
    assert kept.exists()


def test_planning_says_where_nothing_is_kept(site: Site) -> None:
    """Without a folder of its own a job works in the scratch of the run."""
    words = ("--bb-mode", "off", "--bb-keep-failed", "on")
    done = site.plan("bb", *words)
    assert done_well(done)
    is_shared = "condorio" not in (site.work / "sites.yml").read_text()
    told = "--bb-keep-failed keeps nothing here" in done.stdout + done.stderr
    assert told == is_shared
