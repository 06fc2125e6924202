"""Opening late: the reservation is asked for after the first jobs, which run on the
PFS and leave there what the others read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pegasus_bb.report import read_run

from .conftest import ELSEWHERE, INPUTS, Site, done_well, expected, kill, wait_for_event
from .examples import GRANULE, example_of, gives_what_it_gives_on_the_pfs

LATE = ("--bb-poll", "1s", "--bb-open", "late")
FIRST = "- {lfn: b.dat, tier: bb}\n"  # made at level 2: only A may come before


@pytest.fixture(autouse=True)
def small_granules(site: Site) -> None:
    site.declare(granularity=GRANULE)


def late(site: Site, run: str, mode: str = "persistent", *more: str) -> Path:
    return site.planned(run, "--bb-mode", mode, *LATE, *more)


def after_the_first_job(site: Site, run: str, *more: str) -> Path:
    """A run in which A alone comes before the reservation."""
    (site.work / "places.yml").write_text(FIRST)
    return late(site, run, "persistent", "--bb-placement", "places.yml", *more)


def prior(submit: Path) -> set[str]:
    return set((submit / "bb/prior").read_text().split())


@pytest.mark.parametrize("mode", ["persistent", "hybrid"])
@pytest.mark.parametrize("cleanup", ["none", "leaf", "inplace"])
def test_the_results_are_those_of_a_run_on_the_pfs(
    site: Site, mode: str, cleanup: str
) -> None:
    submit = late(site, "bb", mode, "--cleanup", cleanup)
    assert {"mix_A", "mix_B", "mix_C"} <= prior(submit)
    assert done_well(site.run("bb"))
    assert site.content("bb") == expected()
    assert site.reservations() == []
    if cleanup != "none":
        assert list((site.root / "pfs").rglob("*.dat")) == []


@pytest.mark.parametrize("tier", ELSEWHERE, ids=str)
def test_wherever_files_live_the_results_are_the_same(
    site: Site, tier: dict[str, str]
) -> None:
    site.declare(**tier)
    after_the_first_job(site, "bb")
    assert done_well(site.run("bb"))
    assert site.content("bb") == expected()
    folder = site.root / "inputs"
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == INPUTS
    assert site.reservations() == []


def test_with_an_early_closing_as_well_the_results_are_the_same(site: Site) -> None:
    submit = after_the_first_job(site, "bb", "--bb-close", "early")
    assert {"mix_A"} <= prior(submit)
    beyond = set((submit / "bb/beyond").read_text().split())
    assert {"mix_E"} <= beyond
    assert done_well(site.run("bb"))
    assert site.content("bb") == expected()
    assert list((site.root / "pfs").rglob("*.dat")) == []
    assert site.reservations() == []


def test_jobs_before_it_work_on_the_pfs_and_those_after_it_on_the_tier(
    site: Site,
) -> None:
    submit = after_the_first_job(site, "bb")
    assert done_well(site.run("bb"))
    records = site.records("bb")
    places = {n: r["cwd"] for n, r in records.items() if n.startswith("mix_")}
    assert places.pop("mix_A").startswith(str(site.root / "pfs"))
    assert all(place.startswith(str(site.tier_path)) for place in places.values())
    asked = json.loads((submit / "bb/reservation.json").read_text())["requested_at"]
    first = records["mix_A"]
    assert asked >= first["start"].timestamp() + first["duration"] - 0.1


def test_it_is_asked_for_when_the_first_job_has_ended_and_less_is_reserved(
    site: Site,
) -> None:
    site.slow(4, "a.dat")
    soon = site.planned("soon", "--bb-mode", "persistent", "--bb-poll", "1s")
    after = after_the_first_job(site, "after")
    for run in ("soon", "after"):
        assert done_well(site.run(run))
    assert site.content("soon") == site.content("after") == expected()
    reserved = [read_run(submit).reserved or 0 for submit in (after, soon)]
    assert 0 < reserved[0] < 0.6 * reserved[1]


def test_a_job_that_fails_before_it_has_reserved_nothing(site: Site) -> None:
    site.trouble.write_text("a.dat")
    submit = after_the_first_job(site, "bb", "-Ddagman.retry=0")
    failed = site.run("bb")
    assert failed.returncode == 80, failed.stdout + failed.stderr
    assert not (submit / "bb/reservation.json").exists()
    assert site.reservations() == []
    site.trouble.unlink()
    assert done_well(site.run("bb"))
    assert site.content("bb") == expected()
    assert site.reservations() == []


def test_a_job_that_fails_behind_it_keeps_the_reservation(site: Site) -> None:
    site.trouble.write_text("d.dat")
    after_the_first_job(site, "bb", "-Ddagman.retry=0")
    assert site.run("bb").returncode == 80
    assert len(site.reservations()) == 1
    site.trouble.unlink()
    assert done_well(site.run("bb"))
    assert site.content("bb") == expected()
    assert site.reservations() == []


def test_killed_before_it_and_started_again(site: Site) -> None:
    site.slow(3, "a.dat")
    submit = after_the_first_job(site, "bb")
    run = site.start_run("bb")
    assert wait_for_event(submit / "jobstate.log", "mix_A", "EXECUTE", run)
    kill(run)
    assert site.reservations() == []
    assert done_well(site.run("bb"))
    assert site.content("bb") == expected()


def killed_while_the_gate_waits(site: Site) -> Path:
    """In the middle of the run, which had made A's file before."""
    site.declare(delay="6s")
    submit = after_the_first_job(site, "bb")
    run, gated = site.start_run("bb"), "create_dir_diamond_0_cluster"
    assert wait_for_event(submit / "jobstate.log", gated, "PRE_SCRIPT_STARTED", run)
    kill(run)
    return submit


def what_was_made_before_is_not_made_again(site: Site, submit: Path) -> None:
    assert (submit / "jobstate.log").read_text().count(" mix_A EXECUTE ") == 1
    assert site.content("bb") == expected()
    assert site.reservations() == []


def test_killed_while_the_gate_waits_in_the_middle(site: Site) -> None:
    submit = killed_while_the_gate_waits(site)
    assert len(site.reservations()) == 1
    assert done_well(site.run("bb"))
    what_was_made_before_is_not_made_again(site, submit)


def test_given_back_before_any_job_had_it_it_is_asked_for_again(site: Site) -> None:
    submit = killed_while_the_gate_waits(site)
    (name,) = site.reservations()
    site.bb("release", name, check=True)
    assert site.reservations() == []
    done = site.run("bb")
    assert done_well(done)
    assert f"{name} was given back before any job had it" in done.stderr
    what_was_made_before_is_not_made_again(site, submit)


def test_one_that_is_refused_ends_the_run_in_the_middle(site: Site) -> None:
    submit = after_the_first_job(site, "bb", "-Ddagman.retry=0")
    site.declare(fail="create: no such project")
    refused = after_the_first_job(site, "refused", "-Ddagman.retry=0")
    done = site.run("refused")
    assert done.returncode == 80, done.stdout + done.stderr
    assert "no such project" in done.stderr
    ended = (refused / "jobstate.log").read_text()
    assert " mix_A JOB_SUCCESS " in ended
    assert " mix_B SUBMIT " not in ended
    assert site.content("refused") == {}
    assert done_well(site.run(submit.name))  # another run is none the wiser


def test_one_that_was_refused_is_asked_for_again_though_a_result_is_safe_by_then(
    site: Site,
) -> None:
    """d.dat was made and staged out before: nothing of it was on a reservation."""
    site.declare(fail="create*1: no such project")
    submit = late(site, "bb", "persistent", "-Ddagman.retry=0")
    assert site.run("bb").returncode == 80
    assert list(site.content("bb")) == ["d.dat"]
    name = json.loads((submit / "bb/request.json").read_text())["name"]
    nothing = site.bb("release", name, check=True).stdout
    assert "there is nothing to give back" in nothing
    assert done_well(site.run("bb"))
    assert site.content("bb") == expected()
    assert site.reservations() == []


def test_one_that_no_job_had_is_given_back_though_a_result_is_safe_by_then(
    site: Site,
) -> None:
    site.declare(delay="1h")
    submit = late(site, "bb", "persistent")
    run, log = site.start_run("bb"), submit / "jobstate.log"
    gated = "create_dir_diamond_0_cluster"
    assert wait_for_event(log, "stage_out_remote_cluster_2_0", "JOB_SUCCESS", run)
    assert wait_for_event(log, gated, "PRE_SCRIPT_STARTED", run)
    kill(run)
    assert len(site.reservations()) == 1
    assert "GIVEN BACK" in site.bb("gc", "--yes", check=True).stdout
    assert site.reservations() == []


def test_what_was_left_is_made_anew_by_a_run_that_starts_over(site: Site) -> None:
    submit = after_the_first_job(site, "bb", "--cleanup", "none")
    assert done_well(site.run("bb"))
    for file in (site.root / "pfs").rglob("*.dat"):
        file.write_bytes(b"of an older run")
    for result in site.results("bb").iterdir():
        result.unlink()
    assert done_well(site.bb("run", "--restart", str(submit)))
    assert site.content("bb") == expected()


def test_a_result_from_before_it_that_was_lost_is_staged_out_again(site: Site) -> None:
    """d.dat is made on the PFS; bb_delete misses it, and a next run brings it again."""
    submit = late(site, "bb", "persistent", "--cleanup", "none", "-Ddagman.retry=0")
    assert "mix_D" in prior(submit)
    site.trouble.write_text("e.dat")
    assert site.run("bb").returncode == 80
    (site.results("bb") / "d.dat").unlink()
    site.trouble.unlink()
    assert site.run("bb").returncode != 0  # data is not safe
    assert len(site.reservations()) == 1
    assert done_well(site.run("bb"))
    assert site.content("bb") == expected()
    assert site.reservations() == []


def test_explain_tells_the_cut_its_sums_or_why_there_is_none(site: Site) -> None:
    words = ("--sites", "cluster", "--output-sites", "local")
    told = site.bb("explain", *words, "--bb-open", "late", check=True).stdout
    assert "opening:  late, after level 3 of 4: 4 jobs run on the PFS before" in told
    assert "how long they wait for the reservation is not known" in told
    assert "used up to level 3, before the reservation is there" in told
    told = site.bb("explain", *words, "--bb-open", "auto", check=True).stdout
    assert "opening:  at the start: more than 5 % of what tasks read and write" in told
    assert "opening" not in site.bb("explain", *words, check=True).stdout
    words = (*words, "--json", "--bb-open", "late")
    document = json.loads(site.bb("explain", *words, check=True).stdout)
    opening = document["opening"]
    assert opening["jobs"] == ["A", "B", "C", "D"]
    assert opening["files"] == ["d.dat"]
    assert 0 < opening["late"] < opening["whole"]


def test_what_an_earlier_run_has_waited_is_told_and_reckoned_with(site: Site) -> None:
    site.declare(delay="4s")
    words = ("--sites", "cluster", "--output-sites", "local", "--bb-open", "late")
    submit = site.planned("bb", "--bb-mode", "persistent", "--bb-poll", "1s")
    assert done_well(site.run("bb"))
    known = ("--bb-history", str(submit))
    told = site.bb("explain", *words, *known, "--json", check=True).stdout
    assert 3 < json.loads(told)["opening"]["wait"] < 30
    told = site.bb("explain", *words, *known, check=True).stdout
    assert "in the earlier run" in told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--bb-mode", "transient"), "--bb-open late is for --bb-mode persistent"),
        (("--bb-mode", "persistent", "--bb-fallback", "pfs"), "are not for one run"),
        (("--bb-mode", "persistent", "--bb-placement", "all.yml"), "no cut through"),
    ],
    ids=["mode", "fallback", "pinned"],
)
def test_where_it_cannot_be_planning_says_so_and_leaves_nothing(
    site: Site, words: tuple[str, ...], said: str
) -> None:
    (site.work / "all.yml").write_text("- {lfn: '*', tier: bb}\n")
    done = site.plan("bb", *words, "--bb-open", "late")
    assert done.returncode == 2
    assert said in done.stderr
    assert not site.submit_dir("bb").exists()


def test_1000genome_gives_what_it_gives_on_the_pfs(tmp_path: Path) -> None:
    example = example_of("1000genome", tmp_path)
    words = ("--bb-mode", "persistent", "--bb-open", "late")
    submit = gives_what_it_gives_on_the_pfs(example, *words)
    assert any(name.startswith("individuals") for name in prior(submit))
