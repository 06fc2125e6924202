"""Closing early: the reservation is given back before the last jobs, which run on the
PFS with what was copied there for them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pegasus_bb.report import read_run

from .conftest import ELSEWHERE, INPUTS, Site, done_well, expected
from .examples import GRANULE, example_of, gives_what_it_gives_on_the_pfs

EARLY = ("--bb-poll", "1s", "--bb-close", "early")
LAST = "- {lfn: b.dat, tier: bb}\n"  # read at level 3: only E may come after the cut


@pytest.fixture(autouse=True)
def small_granules(site: Site) -> None:
    site.declare(granularity=GRANULE)


def early(site: Site, run: str, mode: str = "persistent", *more: str) -> Path:
    return site.planned(run, "--bb-mode", mode, *EARLY, *more)


def before_the_last_job(site: Site, run: str, *more: str) -> Path:
    """A run in which E alone comes after the cut."""
    (site.work / "places.yml").write_text(LAST)
    return early(site, run, "persistent", "--bb-placement", "places.yml", *more)


def beyond(submit: Path) -> set[str]:
    return set((submit / "bb/beyond").read_text().split())


@pytest.mark.parametrize("mode", ["persistent", "hybrid"])
@pytest.mark.parametrize("cleanup", ["none", "leaf", "inplace"])
def test_the_results_are_those_of_a_run_on_the_pfs(
    site: Site, mode: str, cleanup: str
) -> None:
    submit = early(site, "bb", mode, "--cleanup", cleanup)
    assert {"mix_B", "mix_C", "mix_D", "mix_E"} <= beyond(submit)
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
    early(site, "bb")
    assert done_well(site.run("bb"))
    assert site.content("bb") == expected()
    folder = site.root / "inputs"
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == INPUTS
    assert site.reservations() == []


def test_where_nobody_would_copy_what_later_jobs_read_it_is_not_run(
    site: Site,
) -> None:
    submit = before_the_last_job(site, "bb")
    (submit / "bb/carry/mix_D.json").rename(submit / "aside.json")
    done = site.run("bb")
    assert done.returncode == 2
    assert "nothing in bb/carry says who copies d.dat to the PFS" in done.stderr
    (submit / "aside.json").rename(submit / "bb/carry/mix_D.json")
    assert done_well(site.run("bb"))


def test_jobs_after_the_cut_work_on_the_pfs_and_those_before_on_the_tier(
    site: Site,
) -> None:
    submit = before_the_last_job(site, "bb")
    assert done_well(site.run("bb"))
    places = {
        node: record["cwd"]
        for node, record in site.records("bb").items()
        if node.startswith("mix_")
    }
    assert places.pop("mix_E").startswith(str(site.root / "pfs"))
    assert all(place.startswith(str(site.tier_path)) for place in places.values())
    assert "bb_delete_BB0000002" not in beyond(submit)


def test_it_is_given_back_while_the_last_job_runs_and_less_is_reserved(
    site: Site,
) -> None:
    site.slow(4, "e.dat")
    late = site.planned("late", "--bb-mode", "persistent", "--bb-poll", "1s")
    soon = before_the_last_job(site, "soon")
    for run in ("late", "soon"):
        assert done_well(site.run(run))
    assert site.content("soon") == site.content("late") == expected()
    reserved = [read_run(submit).reserved or 0 for submit in (soon, late)]
    assert 0 < reserved[0] < 0.6 * reserved[1]
    given_back = json.loads((soon / "bb/reservation.json").read_text())["released_at"]
    assert given_back < (site.results("soon") / "e.dat").stat().st_mtime - 2


def test_a_job_that_fails_after_the_cut_goes_on_without_the_reservation(
    site: Site,
) -> None:
    site.trouble.write_text("e.dat")
    before_the_last_job(site, "bb", "-Ddagman.retry=0")
    failed = site.run("bb")
    assert failed.returncode == 80, failed.stdout + failed.stderr
    assert site.reservations() == []
    assert site.content("bb").keys() == {"d.dat"}
    site.trouble.unlink()
    assert done_well(site.run("bb"))
    assert site.content("bb") == expected()


def test_a_job_that_fails_before_the_cut_keeps_the_reservation(site: Site) -> None:
    site.trouble.write_text("d.dat")
    before_the_last_job(site, "bb", "-Ddagman.retry=0")
    assert site.run("bb").returncode == 80
    assert len(site.reservations()) == 1
    site.trouble.unlink()
    assert done_well(site.run("bb"))
    assert site.content("bb") == expected()
    assert site.reservations() == []


def test_what_was_copied_is_made_anew_by_a_run_that_starts_over(site: Site) -> None:
    submit = early(site, "bb", "persistent", "--cleanup", "none")
    assert done_well(site.run("bb"))
    for copy in (site.root / "pfs").rglob("*.dat"):
        copy.write_bytes(b"of an older run")
    for result in site.results("bb").iterdir():
        result.unlink()
    assert done_well(site.bb("run", "--restart", str(submit)))
    assert site.content("bb") == expected()


def test_only_results_from_before_the_cut_are_asked_for_when_it_is_given_back(
    site: Site,
) -> None:
    submit = before_the_last_job(site, "bb")
    placement = json.loads((submit / "bb/placement.json").read_text())
    assert placement["outputs"].keys() == {"d.dat"}
    assert placement["later"].keys() == {"e.dat"}


def test_an_edited_list_of_jobs_after_the_cut_is_not_run(site: Site) -> None:
    submit = before_the_last_job(site, "bb")
    with (submit / "bb/beyond").open("a") as names:
        names.write("mix_D\n")  # bb_delete waits for it, and so does stage-out
    done = site.run("bb")
    assert done.returncode == 2
    assert "is not said (bb/beyond) to do without it" in done.stderr


def test_explain_tells_the_cut_its_sums_or_why_there_is_none(site: Site) -> None:
    words = ("--sites", "cluster", "--output-sites", "local")
    told = site.bb("explain", *words, "--bb-close", "early", check=True).stdout
    assert "closing:  early, after level 1 of 4: 4 jobs run on the PFS" in told
    assert "used before and after the reservation is given back: copied" in told
    told = site.bb("explain", *words, "--bb-close", "auto", check=True).stdout
    assert "closing:  at the end: more than 5 % of what tasks read and write" in told
    assert "closing" not in site.bb("explain", *words, check=True).stdout
    words = (*words, "--json", "--bb-close", "early")
    document = json.loads(site.bb("explain", *words, check=True).stdout)
    closing = document["closing"]
    assert closing["jobs"] == ["B", "C", "D", "E"]
    assert closing["files"] == ["a.dat"]
    assert 0 < closing["early"] < closing["whole"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--bb-mode", "transient"), "--bb-close early is for --bb-mode persistent"),
        (("--bb-mode", "persistent", "--bb-placement", "all.yml"), "no cut through"),
    ],
    ids=["mode", "pinned"],
)
def test_where_it_cannot_be_planning_says_so_and_leaves_nothing(
    site: Site, words: tuple[str, ...], said: str
) -> None:
    (site.work / "all.yml").write_text("- {lfn: '*', tier: bb}\n")
    done = site.plan("bb", *words, "--bb-close", "early")
    assert done.returncode == 2
    assert said in done.stderr
    assert not site.submit_dir("bb").exists()


def test_1000genome_gives_what_it_gives_on_the_pfs(tmp_path: Path) -> None:
    example = example_of("1000genome", tmp_path)
    words = ("--bb-mode", "persistent", "--bb-close", "early")
    submit = gives_what_it_gives_on_the_pfs(example, *words)
    assert any(name.startswith("frequency") for name in beyond(submit))
