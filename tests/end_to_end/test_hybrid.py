"""Mode hybrid: a reservation that jobs share, and one for the files of a single job.

Inputs that are read once stay on the PFS.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pegasus_bb.engine.processes import end_left_over
from pegasus_bb.report import read_run
from pegasus_bb.units import parse_size

from .conftest import Site, done_well, expected, killed_when
from .examples import GRANULE, SMALL, example_of, gives_what_it_gives_on_the_pfs

EXPLAIN = ("--sites", "cluster", "--output-sites", "local", "--bb-mode", "hybrid")


@pytest.fixture(autouse=True)
def small_granules(site: Site) -> None:
    site.declare(granularity=GRANULE)


def hybrid(site: Site, run: str, *more: str) -> Path:
    return site.planned(run, "--bb-mode", "hybrid", "--bb-poll", "1s", *more)


def test_the_plan_has_one_gate_and_one_job_that_waits_for_its_results(
    site: Site,
) -> None:
    submit = hybrid(site, "bb")
    dag = (submit / "diamond-0.dag").read_text()
    assert dag.count(" PRE create_dir_") == 1
    waiting = [
        line.split()[5] for line in dag.splitlines() if "/await_stage_out " in line
    ]
    assert waiting == ["mix_E"]
    assert site.plan_file("bb")["mode"] == "hybrid"
    assert [p.name for p in (submit / "bb/nodes").iterdir()] == ["mix_E.json"]


def test_less_is_reserved_than_in_mode_persistent_and_it_is_measured(
    site: Site,
) -> None:
    site.planned("persistent", "--bb-mode", "persistent")
    submit = str(hybrid(site, "bb"))
    assert site.run("bb").returncode == 0
    assert_no_more_than(site.request("persistent")["capacity"], Path(submit))
    status = json.loads(site.bb("status", "--json", submit, check=True).stdout)
    assert status["reserved_byte_hours"] == read_run(Path(submit)).reserved
    assert "\nreserved: " in site.bb("status", submit, check=True).stdout
    told = site.bb("report", "--pfs", submit, "--bb", submit, check=True)
    assert " x hours" in told.stdout


def assert_no_more_than(capacity: int, submit: Path) -> None:
    """The run has reserved less than ``capacity`` for as long as its shared reservation
    was there."""
    noted = json.loads((submit / "bb/reservation.json").read_text())
    ready = json.loads((submit / "bb/ready.json").read_text())
    hours = (noted["released_at"] - ready["created"]) / 3600
    reserved = read_run(submit).reserved
    assert reserved is not None
    assert noted["size"] * hours < reserved <= capacity * hours  # single jobs' count


def killed_in_a_reservation_of_its_own(site: Site) -> tuple[Path, str]:
    """The engine is killed while job E runs; both reservations stay."""
    begun = site.slow(60, "e.dat")
    folder = hybrid(site, "bb")
    killed_when(site, "bb", "mix_E", begun)
    (own,) = set(site.reservations()) - {site.request("bb")["name"]}
    return folder, own


def test_what_a_killed_job_has_left_is_given_back_and_the_shared_one_kept(
    site: Site,
) -> None:
    folder, own = killed_in_a_reservation_of_its_own(site)
    shared = site.request("bb")["name"]
    listed = site.bb("ls", check=True).stdout
    assert own in listed
    assert shared in listed
    assert "not on this ledger" not in listed
    end_left_over(folder / "bb" / "engine.jsonl")
    site.bb("gc", "--yes", check=True)
    assert site.reservations() == [shared]  # with results that are nowhere else
    task = site.root / "mix.py"
    task.write_text(task.read_text().replace("time.sleep(60", "time.sleep(0"))
    assert done_well(site.run("bb"))
    assert site.content("bb") == expected()
    assert site.reservations() == []


@pytest.mark.sweep
def test_release_gives_back_what_a_killed_job_has_left(site: Site) -> None:
    folder, own = killed_in_a_reservation_of_its_own(site)
    end_left_over(folder / "bb" / "engine.jsonl")
    assert done_well(site.bb("release", own))
    assert site.reservations() == [site.request("bb")["name"]]


def test_explain_tells_single_jobs_reservations_reasons_and_savings(site: Site) -> None:
    told = site.bb("explain", *EXPLAIN[:-2])
    assert "rooms" not in told.stdout
    told = site.bb("explain", *EXPLAIN, check=True)
    assert "job E: 69.0 KiB for 62.5 KiB, 0 files in, 1 out" in told.stdout
    assert "an input that job A alone reads: it stays on the PFS" in told.stdout
    assert "job E makes it, no other reads it: on a reservation of that" in told.stdout
    assert "jobs:     1 of 1 jobs with own files have a reservation" in told.stdout
    site.declare(granularity="1MiB")
    told = site.bb("explain", *EXPLAIN, check=True)
    assert "jobs:     no job reservations: for 1 jobs one would" in told.stdout
    document = json.loads(site.bb("explain", "--json", *EXPLAIN, check=True).stdout)
    assert document["selection"]["job_reservations"] == 0


def test_the_fallback_is_for_runs_on_one_reservation(site: Site) -> None:
    done = site.plan("bb", "--bb-mode", "hybrid", "--bb-fallback", "pfs")
    assert done.returncode == 2
    assert "--bb-fallback pfs is for --bb-mode persistent" in done.stderr
    assert not site.submit_dir("bb").exists()


@pytest.mark.sweep
@pytest.mark.parametrize("name", SMALL)
def test_an_example_gives_what_it_gives_on_the_pfs(name: str, tmp_path: Path) -> None:
    example = example_of(name, tmp_path)
    submit = gives_what_it_gives_on_the_pfs(example, "--bb-mode", "hybrid")
    example.planned("persistent", "--bb-mode", "persistent")
    own = list((submit / "bb/nodes").glob("*.json"))
    assert len(list((submit / "bb/stage_out").glob("*.json"))) == len(own) > 0
    alone = example.request("persistent")["capacity"]
    assert alone - example.request("bb")["capacity"] >= parse_size(GRANULE)
    assert_no_more_than(alone, submit)
