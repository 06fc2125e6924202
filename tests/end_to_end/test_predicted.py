"""A user asks what each mode would take, lets planning choose, and sees how far off it
was."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.user_site import Site, done_well

History = tuple[str, str]
SLOW = {"read": "50KB/s", "write": "50KB/s", "latency": "100ms"}
FAST = {"read": "8GB/s", "write": "8GB/s"}
WITH_WORKER = """
import pegasus_bb.planner.predictions as predictions
predictions.JOBS_FOR_A_WORKER = 0
from pegasus_bb.cli import main
main()
"""


def speeds(site: Site, **places: dict) -> None:
    """The catalog says how fast the site is."""
    sites = site.document("sites.yml")
    sites["x-storage-speeds"] = {"cluster": {"slots": 2, **places}}
    site.save("sites.yml", sites)


@pytest.fixture(scope="session")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The submit directory of a run on the PFS."""
    site = Site(tmp_path_factory.mktemp("earlier"))
    folder = site.planned("pfs", "--bb-mode", "off")
    assert done_well(site.run("pfs"))
    return folder


@pytest.fixture
def learning(earlier: Path) -> History:
    return "--bb-history", str(earlier)


@pytest.mark.parametrize(
    ("pfs", "more", "modes", "reason"),
    [  # a copy of the inputs costs next to nothing
        (SLOW, (), ("persistent", "hybrid"), "less than on the PFS alone"),
        (SLOW, ("--bb-fallback", "pfs"), ("persistent",), "works only in mode "),
        (FAST, (), ("off",), ""),
    ],
)
def test_auto_takes_the_mode_that_is_preferred(
    site: Site,
    learning: History,
    pfs: dict,
    more: tuple[str, ...],
    modes: tuple[str, ...],
    reason: str,
) -> None:
    speeds(site, pfs=pfs, bb=FAST)
    done = site.plan("bb", "--bb-mode", "auto", *more, *learning)
    (line,) = [x for x in done.stderr.splitlines() if x.startswith("preferred: ")]
    mode = line.split(": ")[1]
    assert mode in modes
    assert reason in done.stderr
    plan = site.plan_file("bb")
    assert plan["mode"] == mode
    if mode != "off":
        (noted,) = plan["predicted"]["modes"]
        assert noted["mode"] == mode
    if more:
        assert site.request("bb")["fallback"] == "pfs"


def without_sizes(site: Site) -> None:
    workflow = site.document("workflow.yml")
    for job in workflow["jobs"]:
        for use in job["uses"]:
            use.pop("metadata", None)
    site.save("workflow.yml", workflow)


def test_a_mode_that_cannot_be_planned_is_not_chosen(site: Site) -> None:
    speeds(site, pfs=SLOW, bb=FAST)
    without_sizes(site)
    done = site.plan("bb", "--bb-mode", "auto")
    assert done.returncode == 0, done.stderr
    assert "preferred: off: " in done.stderr
    for mode in ("persistent", "transient"):
        (why,) = [x for x in done.stderr.splitlines() if x.startswith(f"{mode} cannot")]
        assert "needs the size of every file on tier bb" in why


@pytest.mark.parametrize(
    ("known", "missing"), [({}, "x-storage-speeds"), ({"pfs": SLOW}, "none of tier bb")]
)
def test_auto_names_the_speeds_that_are_missing(
    site: Site, known: dict, missing: str
) -> None:
    if known:
        speeds(site, **known)
    done = site.plan("bb", "--bb-mode", "auto")
    assert done.returncode == 2
    assert missing in done.stderr
    assert not site.submit_dir("bb").exists()


def test_speeds_of_a_file_go_before_the_catalog(site: Site) -> None:
    speeds(site, pfs=FAST, bb=FAST)
    site.save("measured.yml", {"cluster": {"pfs": SLOW, "bb": FAST}})
    done = site.bb("explain", "--bb-speeds", "measured.yml")
    assert done.returncode == 0, done.stderr
    assert "by the speeds of " in done.stdout
    assert "measured.yml:1" in done.stdout
    assert "the computing of 5 jobs" in done.stdout


def test_speeds_that_were_measured_are_planned_by(site: Site) -> None:
    for name in ("pfs", "bb"):
        (site.work / f"of {name}").mkdir()
    tiers = [f"--tier={name}={site.work}/of {name}" for name in ("pfs", "bb")]
    how = ("--blocks", "64KiB", "--processes", "1,2")
    said = ("--speeds", "speeds.yml", "--site", "cluster")
    measured = site.bb("bench", *tiers, *how, *said)
    assert measured.returncode == 0, measured.stderr
    assert "explain --sites cluster --bb-speeds speeds.yml WORKFLOW" in measured.stderr
    done = site.bb("explain", "--bb-speeds", "speeds.yml")
    assert done.returncode == 0, done.stderr
    assert "preferred: " in done.stdout and "speeds.yml:" in done.stdout


def test_files_that_have_no_room_are_predicted_on_the_pfs(site: Site) -> None:
    speeds(site, pfs=SLOW, bb=FAST)
    sites = site.document("sites.yml")
    sites["x-storage-tiers"]["cluster"][0]["granularity"] = "100KiB"
    site.save("sites.yml", sites)

    def compute(capacity: str) -> dict[str, float]:
        said = ("--bb-capacity", capacity, "--cleanup", "none", "--json")
        done = site.bb("explain", *said)
        assert done.returncode == 0, done.stderr
        modes = json.loads(done.stdout)["predicted"]["modes"]
        return {found["mode"]: found["compute"] for found in modes}

    enough, short = compute("1MiB"), compute("200K")
    assert short["persistent"] > 2 * enough["persistent"]
    assert short["persistent"] < short["off"] == enough["off"]
    assert short["transient"] == enough["transient"]


def test_the_report_shows_how_far_off_it_was(site: Site, learning: History) -> None:
    speeds(site, pfs=SLOW, bb=FAST)
    site.planned("bb", "--bb-mode", "persistent", *learning)
    assert site.run("bb").returncode == 0
    runs = [learning[1], str(site.submit_dir("bb"))]
    done = site.bb("report", "--pfs", runs[0], "--bb", runs[1], "--json", "r.json")
    assert done.returncode == 0, done.stderr
    assert "predicted makespan " in done.stdout
    document = json.loads((site.work / "r.json").read_text())
    (pfs,), (bb,) = document["runs"]["pfs"], document["runs"]["bb"]
    assert pfs["predicted_makespan"] is None  # no speeds were declared
    assert bb["predicted_makespan"] > 0


def test_sizes_that_are_not_declared_are_learned_from_an_earlier_run(
    site: Site,
    learning: History,
) -> None:
    """Then a capacity need not be said."""
    without_sizes(site)
    refused = site.plan("bb", "--bb-mode", "persistent", "--bb-capacity", "auto")
    assert refused.returncode == 2
    assert "--bb-history SUBMIT_DIR" in refused.stderr
    said = ("--bb-mode", "persistent", "--bb-capacity", "auto", *learning)
    done = site.plan("bb", *said)
    assert done.returncode == 0, done.stderr


def test_several_earlier_runs_are_all_learned_from(
    site: Site, learning: History, earlier: Path
) -> None:
    without_sizes(site)
    speeds(site, pfs=SLOW, bb=FAST)
    given = ("--sites", "cluster", "--output-sites", "local", "--json", *learning)
    done = site.bb("explain", *given, *learning, check=True)
    explained = json.loads(done.stdout)
    assert explained["predicted"]["history"] == f"{earlier} and {earlier}"
    assert explained["times_error"] == 0.0, "two runs that took equally long"
    once = site.bb("explain", *given, check=True)
    assert "times_error" not in json.loads(once.stdout)
    refused = site.bb("explain", *given, "--bb-history", "none")
    assert refused.returncode == 2 and "none" in refused.stderr


def test_a_simulation_says_what_its_runs_leave_out(
    site: Site, learning: History
) -> None:
    speeds(site, pfs=SLOW, bb=FAST)
    words = ("simulate", "--sites", "cluster", "--output-sites", "local", *learning)
    said = " ".join(site.bb(*words, check=True).stdout.split())
    pattern = r"simulation\. With it: (.+?) in mode off and (.+?) in mode persistent"
    [doubt] = re.findall(pattern, said)
    table = said.partition("preferred: ")[0]
    for mode, makespan in zip(("off", "persistent"), doubt, strict=True):
        assert f"{mode} {makespan} " in table


@pytest.mark.sweep
def test_a_wait_for_a_reservation_is_predicted_to_come_again(site: Site) -> None:
    site.declare(delay="8s")  # of which setup and the gate take a part
    speeds(site, pfs=SLOW, bb=FAST)
    before = site.planned("bb", "--bb-mode", "persistent", "--bb-poll", "1s")
    assert site.run("bb").returncode == 0
    given = ("--sites", "cluster", "--output-sites", "local", "--bb-history")
    done = site.bb("explain", *given, str(before), "--json", check=True)
    modes = {
        each["mode"]: each for each in json.loads(done.stdout)["predicted"]["modes"]
    }
    assert modes["off"]["wait"] == modes["transient"]["wait"] == 0
    for found in (modes["persistent"], modes["hybrid"]):
        parts = ("wait", "stage_in", "compute", "stage_out", "other")
        assert 0 < found["wait"] < 30
        assert found["makespan"] == pytest.approx(sum(found[part] for part in parts))


def test_a_worker_predicts_the_same(site: Site, learning: History) -> None:
    """As of a large workflow, where it simulates one of the modes."""
    speeds(site, pfs=SLOW, bb=FAST)
    words = ("explain", "--sites", "cluster", "--output-sites", "local", "--json")
    alone = site.bb(*words, *learning)
    assert alone.returncode == 0, alone.stderr
    argv = [sys.executable, "-c", WITH_WORKER, *words, *learning, "workflow.yml"]
    done = subprocess.run(argv, cwd=site.work, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads(alone.stdout)


def test_a_history_that_shows_nothing_is_refused(site: Site) -> None:
    """A folder with a record that no reader understands."""
    speeds(site, pfs=SLOW, bb=FAST)
    (site.work / "old").mkdir()
    (site.work / "old" / "mix_A.out.000").write_text("yesterday\n")
    done = site.plan("bb", "--bb-mode", "auto", "--bb-history", "old")
    assert done.returncode == 2
    assert "no task that ended well has a record there" in done.stderr
    assert "mix_A.out.000" in done.stderr
