"""A user asks what each mode would take, lets planning choose, and sees how far off it
was."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.support.user_site import Site, done_well

History = tuple[str, str]
SLOW = {"read": "50KB/s", "write": "50KB/s", "latency": "100ms"}
FAST = {"read": "8GB/s", "write": "8GB/s"}


def speeds(site: Site, **places: dict) -> None:
    """The catalog says how fast the site is."""
    with site.edited("sites.yml") as sites:
        sites["x-storage-speeds"] = {"cluster": {"slots": 2, **places}}


def tier_is_faster(site: Site) -> None:
    """Than the PFS."""
    speeds(site, pfs=SLOW, bb=FAST)


@pytest.fixture(scope="session")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The submit directory of a run on the PFS."""
    site = Site(tmp_path_factory.mktemp("earlier"))
    folder = site.planned("pfs", "--bb-mode", "off")
    assert done_well(site.run("pfs"))
    return folder


def without_plan(site: Site, folder: str | Path) -> Path:
    """The records of a run alone."""
    records = site.work / "records"
    shutil.copytree(folder, records, ignore=shutil.ignore_patterns("bb"))
    return records


@pytest.fixture
def learning(earlier: Path) -> History:
    return "--bb-history", str(earlier)


@pytest.mark.parametrize(
    ("pfs", "more", "modes", "reason"),
    [  # a copy of the inputs costs next to nothing
        (SLOW, (), ("persistent", "hybrid"), "comes on top of both"),
        (SLOW, ("--bb-fallback", "pfs"), ("persistent",), "works only in mode "),
        (FAST, (), ("off",), ""),
    ],
)
def test_auto_takes_the_mode_that_is_preferred(
    site: Site,
    pfs: dict,
    more: tuple[str, ...],
    modes: tuple[str, ...],
    reason: str,
) -> None:
    speeds(site, pfs=pfs, bb=FAST)
    done = site.plan("bb", "--bb-mode", "auto", *more)
    (line,) = [x for x in done.stderr.splitlines() if x.startswith("preferred: ")]
    mode = line.removeprefix("preferred: ").partition(";")[0]
    assert mode in modes
    assert reason in done.stderr
    assert f"mode:     {mode} (chosen by auto)" in done.stderr
    assert "is not used" not in done.stderr
    plan = site.plan_file("bb")
    assert plan["mode"] == mode
    explained = site.bb("explain", "--bb-mode", "auto").stderr
    assert ("auto takes no tier; the table" in explained) == (mode == "off")
    if mode != "off":
        (noted,) = plan["predicted"]["modes"]
        assert noted["mode"] == mode
    if more:
        assert site.request("bb")["fallback"] == "pfs"


@pytest.mark.parametrize(
    ("known", "missing"), [({}, "x-storage-speeds"), ({"pfs": SLOW}, "none of tier bb")]
)
def test_auto_names_the_speeds_that_are_missing(
    site: Site, known: dict, missing: str
) -> None:
    if known:
        speeds(site, **known)
    said = site.refuses("bb", "--bb-mode", "auto")
    assert missing in said


def test_the_report_shows_how_far_off_it_was(site: Site, learning: History) -> None:
    tier_is_faster(site)
    site.planned("bb", "--bb-mode", "persistent", *learning)
    assert site.run("bb").returncode == 0
    runs = [learning[1], str(site.submit_dir("bb"))]
    done = site.bb(
        "report", "--pfs", runs[0], "--bb", runs[1], "--json", "r.json", check=True
    )
    assert "predicted makespan " in done.stdout
    assert "With 10 times the data the forecast is " in " ".join(done.stdout.split())
    document = json.loads((site.work / "r.json").read_text())
    (pfs,), (bb,) = document["runs"]["pfs"], document["runs"]["bb"]
    assert pfs["predicted_makespan"] is None  # no speeds were declared
    assert bb["predicted_makespan"] > 0


def test_a_history_that_shows_nothing_is_refused(site: Site) -> None:
    """A folder with a record that no reader understands."""
    tier_is_faster(site)
    (site.work / "old").mkdir()
    (site.work / "old" / "mix_A.out.000").write_text("yesterday\n")
    said = site.refuses("bb", "--bb-mode", "auto", "--bb-history", "old")
    assert "no task that ended well has a record there" in said
    assert "mix_A.out.000" in said


def test_a_history_of_another_workflow_is_said_to_teach_nothing(
    site: Site, earlier: Path
) -> None:
    words = ("explain", "--bb-history", str(earlier))
    note = f"--bb-history {earlier}: no task and no file of it is in this workflow"
    assert note not in site.bb(*words, check=True).stderr
    ours = re.compile(r"\b(mix|\w+[.]dat|in[.]txt)\b")
    for name in ("workflow.yml", "transformations.yml", "replicas.yml"):
        file = site.work / name
        file.write_text(ours.sub(r"my-\1", file.read_text()))
    assert note in site.bb(*words).stderr


def test_a_place_that_the_records_contradict_is_refused(
    site: Site, earlier: Path
) -> None:
    tier_is_faster(site)
    said = site.refuses("bb", "--bb-mode", "auto", "--bb-history", f"bb={earlier}")
    assert f"--bb-history bb={earlier}" in said
    assert "was on pfs, not on bb" in said
    site.bb("explain", "--bb-history", f"pfs={earlier}", check=True)
    records = f"bb={without_plan(site, earlier)}"
    site.bb("explain", "--bb-history", records, check=True)


def test_a_simulation_of_larger_files_says_what_it_assumes(
    site: Site, learning: History
) -> None:
    speeds(site, pfs=FAST, bb=FAST)
    seconds = []
    for scale in ("1", "100"):
        done = site.bb("simulate", "--scale", scale, *learning, "--json", check=True)
        found = json.loads(done.stdout)["predicted"]
        seconds.append(found["modes"][0]["compute"])
        assert any("as their files do" in x for x in found["remarks"]) == (scale != "1")
    assert seconds[1] > 10 * seconds[0]  # all but starting


def test_workflows_and_planned_runs_are_members_of_a_mix(
    site: Site, learning: History
) -> None:
    tier_is_faster(site)
    (site.work / "mix.yml").write_text(
        f"members:\n- {{workflow: workflow.yml, copies: 2}}\n"
        f"- {{planned: {learning[1]}, mode: off}}\nspeeds: speeds.yml\n"
    )
    rates = {"cluster": {"slots": 2, "pfs": SLOW, "bb": FAST}}
    (site.work / "speeds.yml").write_text(json.dumps(rates))
    done = site.bb("simulate", "--mix", "mix.yml", "--json", check=True)
    first, second, off = json.loads(done.stdout)["members"]
    assert first["makespan"] <= second["makespan"]
    assert (off["mode"], off["reserved"], off["name"]) == ("off", 0, learning[1])
    (site.work / "mix.yml").write_text("members:\n- {copies: 2}\n")
    done = site.bb("simulate", "--mix", "mix.yml")
    assert done.returncode == 2
    assert "one of workflow and planned" in done.stderr


def test_slots_that_the_speeds_lack_are_those_of_the_earlier_run(
    site: Site, learning: History
) -> None:
    speeds(site, pfs=FAST, bb=FAST)
    with site.edited("sites.yml") as sites:
        del sites["x-storage-speeds"]["cluster"]["slots"]
    assert "1 job at a time, that is assumed: " in site.bb("explain").stdout
    assert f" as in {learning[1]}: " in site.bb("explain", *learning).stdout


def test_a_profile_that_runs_have_made_predicts_another_plan(
    site: Site, learning: History
) -> None:
    done = site.bb("learn", learning[1], "--profile", "site.yml", check=True)
    assert "it knows pfs alone; next: learn from a run on a tier" in done.stdout
    profile = (site.work / "site.yml").read_text()
    (site.work / "edited.yml").write_text(profile.replace("runs: 1", "runs: -1"))
    damaged = site.bb("learn", learning[1], "--profile", "edited.yml")
    assert damaged.returncode == 2
    assert "x-learned-from.cluster.pfs.runs" in damaged.stderr
    assert "Traceback" not in damaged.stderr
    other = site.bb("explain", "--bb-speeds", "site.yml")
    assert other.returncode == 2
    assert "none of tier bb" in other.stderr
    records = f"bb={without_plan(site, learning[1])}"
    tier_is_faster(site)
    shown = json.loads(site.bb("explain", "--json", "--bb-history", records).stdout)
    modes = shown["predicted"]["modes"]
    assert [m["mode"] for m in modes if m["is_measured"]] == ["persistent"]
