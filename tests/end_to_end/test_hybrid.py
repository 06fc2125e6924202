"""Mode hybrid on a directory tier: what jobs share stays together, what one job makes
for nobody else has a reservation of its own, and read-once inputs stay on the PFS."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.engine.processes import end_left_over
from pegasus_bb.report import read_run
from pegasus_bb.units import parse_size

from .conftest import ELSEWHERE, INPUTS, Site, expected, kill, wait_for_event
from .examples import GRANULE, SMALL, example_of, gives_what_it_gives_on_the_pfs
from .test_transient import ledger, until


@pytest.fixture(autouse=True)
def small_granules(site: Site) -> None:
    site.declare(granularity=GRANULE)


def hybrid(site: Site, run: str, *more: str) -> Path:
    return site.planned(run, "--bb-mode", "hybrid", "--bb-poll", "1s", *more)


def request_of(submit: Path) -> dict[str, Any]:
    return dict(json.loads((submit / "bb/request.json").read_text()))


def test_the_results_are_the_same_bytes_as_on_the_pfs(site: Site) -> None:
    site.planned("pfs", "--bb-mode", "off")
    assert site.run("pfs").returncode == 0
    hybrid(site, "bb")
    done = site.run("bb")
    assert done.returncode == 0, done.stdout + done.stderr
    assert site.content("bb") == site.content("pfs") == expected()


def test_every_reservation_is_on_the_ledger_and_given_back(site: Site) -> None:
    submit = hybrid(site, "bb")
    assert site.run("bb").returncode == 0
    assert site.reservations() == []
    events = [(line["name"], line["event"]) for line in ledger(site)]
    names = {name for name, _ in events}
    assert len(names) == 2  # of all jobs, and of E, whose result nobody reads
    assert request_of(submit)["name"] in names
    wanted = {(name, e) for name in names for e in ("requested", "released")}
    assert set(events) == wanted
    assert list((site.root / "pfs").rglob("*.dat")) == []


def test_the_plan_has_one_gate_and_one_job_that_waits_for_its_results(
    site: Site,
) -> None:
    submit = hybrid(site, "bb")
    dag = (submit / "diamond-0.dag").read_text()
    assert dag.count(" PRE create_dir_") == 1
    assert [line.split()[5] for line in dag.splitlines() if "/landed " in line] == [
        "mix_E"
    ]
    assert site.plan_file("bb")["mode"] == "hybrid"
    assert [p.name for p in (submit / "bb/jobs").iterdir()] == ["mix_E.json"]


def test_that_job_works_in_its_room_and_all_others_in_one_folder(site: Site) -> None:
    submit = hybrid(site, "bb")
    assert site.run("bb").returncode == 0
    shared = f"{site.tier_path}/{request_of(submit)['name']}/"
    places = {
        n: r["cwd"] for n, r in site.records("bb").items() if n.startswith("mix_")
    }
    assert not places["mix_E"].startswith(shared)
    assert places["mix_E"].startswith(f"{site.tier_path}/pbb")
    others = {place for node, place in places.items() if node != "mix_E"}
    assert len(others) == 1
    assert others.pop().startswith(shared)


def test_what_was_reserved_is_measured_and_less_than_in_mode_persistent(
    site: Site,
) -> None:
    persistent = site.planned("persistent", "--bb-mode", "persistent")
    submit = hybrid(site, "bb")
    assert site.run("bb").returncode == 0
    assert no_more_than(submit, request_of(persistent)["capacity"])
    status = json.loads(site.bb("status", "--json", str(submit), check=True).stdout)
    assert status["reserved_byte_hours"] == read_run(submit).reserved
    assert "\nreserved: " in site.bb("status", str(submit), check=True).stdout
    pfs = site.planned("pfs", "--bb-mode", "off")
    assert site.run("pfs").returncode == 0
    told = site.bb("report", "--pfs", str(pfs), "--bb", str(submit), check=True)
    assert " x hours" in told.stdout


def no_more_than(submit: Path, capacity: int) -> bool:
    """Whether this very run had no more reserved than ``capacity`` would have been for
    as long as its shared reservation was there."""
    noted = json.loads((submit / "bb/reservation.json").read_text())
    ready = json.loads((submit / "bb/ready.json").read_text())
    hours = (noted["released_at"] - ready["created"]) / 3600
    reserved = read_run(submit).reserved
    assert reserved is not None
    assert reserved > noted["size"] * hours  # rooms count, too
    return reserved <= capacity * hours


@pytest.mark.parametrize(
    "tier",
    [*ELSEWHERE, {"granularity": "1MiB"}],  # in the last no room pays
    ids=str,
)
@pytest.mark.parametrize("cleanup", ["none", "inplace"])
def test_wherever_files_live_the_results_are_the_same(
    site: Site, tier: dict[str, str], cleanup: str
) -> None:
    site.declare(**tier)
    hybrid(site, "bb", "--cleanup", cleanup)
    done = site.run("bb")
    assert done.returncode == 0, done.stdout + done.stderr
    assert site.content("bb") == expected()
    folder = site.root / "inputs"
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == INPUTS
    assert site.reservations() == []


def test_a_failed_task_keeps_the_shared_reservation_and_not_its_room(
    site: Site,
) -> None:
    site.trouble.write_text("e.dat")
    submit = hybrid(site, "bb", "-Ddagman.retry=0")
    failed = site.run("bb")
    assert failed.returncode == 80, failed.stdout + failed.stderr
    assert site.reservations() == [request_of(submit)["name"]]
    site.trouble.unlink()
    done = site.run("bb")
    assert done.returncode == 0, done.stdout + done.stderr
    assert site.content("bb") == expected()
    assert site.reservations() == []


def killed_in_a_room(site: Site) -> tuple[Path, str]:
    """The engine and all that it has started; both reservations stay."""
    begun = site.slow(60, "e.dat")
    folder = hybrid(site, "bb")
    engine = site.start_run("bb")
    assert wait_for_event(folder / "jobstate.log", "mix_E", "EXECUTE", engine)
    until(begun.exists)
    kill(engine)
    (own,) = set(site.reservations()) - {request_of(folder)["name"]}
    return folder, own


def test_what_a_killed_job_has_left_is_given_back_and_the_shared_one_kept(
    site: Site,
) -> None:
    folder, own = killed_in_a_room(site)
    shared = request_of(folder)["name"]
    listed = site.bb("ls", check=True).stdout
    assert own in listed
    assert shared in listed
    assert "not on this ledger" not in listed
    end_left_over(folder / "bb" / "engine.jsonl")
    site.bb("gc", "--yes", check=True)
    assert site.reservations() == [shared]  # with results that are nowhere else
    task = site.root / "mix.py"
    task.write_text(task.read_text().replace("time.sleep(60", "time.sleep(0"))
    done = site.run("bb")
    assert done.returncode == 0, done.stdout + done.stderr
    assert site.content("bb") == expected()
    assert site.reservations() == []


def test_release_gives_back_what_a_killed_job_has_left(site: Site) -> None:
    folder, own = killed_in_a_room(site)
    end_left_over(folder / "bb" / "engine.jsonl")
    done = site.bb("release", own)
    assert done.returncode == 0, done.stderr
    assert site.reservations() == [request_of(folder)["name"]]


def test_explain_tells_rooms_reasons_and_what_they_save(site: Site) -> None:
    told = site.bb("explain", "--sites", "cluster", "--output-sites", "local")
    assert "rooms" not in told.stdout
    words = ("--sites", "cluster", "--output-sites", "local", "--bb-mode", "hybrid")
    told = site.bb("explain", *words, check=True)
    assert "job E: 69.0 KiB for 62.5 KiB, 0 files in, 1 out" in told.stdout
    assert "an input that job A alone reads: it stays on the PFS" in told.stdout
    assert "job E makes it, no other reads it: on a reservation of that" in told.stdout
    assert "rooms:    1 of 1 jobs with files of their own" in told.stdout
    site.declare(granularity="1MiB")
    told = site.bb("explain", *words, check=True)
    assert "rooms:    none: for 1 jobs a room was looked at" in told.stdout
    document = json.loads(site.bb("explain", "--json", *words, check=True).stdout)
    assert document["worth"]["rooms"] == 0


def test_the_fallback_is_for_runs_on_one_reservation(site: Site) -> None:
    done = site.plan("bb", "--bb-mode", "hybrid", "--bb-fallback", "pfs")
    assert done.returncode == 2
    assert "--bb-fallback pfs is for --bb-mode persistent" in done.stderr
    assert not site.submit_dir("bb").exists()


@pytest.mark.parametrize("name", SMALL)
def test_an_example_gives_what_it_gives_on_the_pfs(name: str, tmp_path: Path) -> None:
    example = example_of(name, tmp_path)
    submit = gives_what_it_gives_on_the_pfs(example, "--bb-mode", "hybrid")
    persistent = example.planned("persistent", "--bb-mode", "persistent")
    rooms = list((submit / "bb/jobs").glob("*.json"))
    assert len(list((submit / "bb/landed").glob("*.json"))) == len(rooms) > 0
    saved = request_of(persistent)["capacity"] - request_of(submit)["capacity"]
    assert saved >= parse_size(GRANULE)
    assert no_more_than(submit, request_of(persistent)["capacity"])
