"""A user plans and runs on a burst buffer, and nothing but the speed changes."""

from __future__ import annotations

import json
import shutil
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.user_site import Site, done_well, wait_for_event

from .test_unsafe_again import before


def test_the_gate_waits_until_the_reservation_is_up(site: Site) -> None:
    site.declare(delay="2s")
    site.planned("bb", "--bb-mode", "persistent", "--bb-poll", "1s")
    assert site.run("bb").returncode == 0
    log = (site.submit_dir("bb") / "jobstate.log").read_text().splitlines()
    ended = time_of(log, " bb_setup_BB0000001 JOB_SUCCESS ")
    begun = time_of(log, " create_dir_diamond_0_cluster SUBMIT ")
    assert 1 <= begun - ended <= 30


def time_of(log: list[str], words: str) -> int:
    return next(int(line.split()[0]) for line in log if words in line)


def test_two_workflows_share_one_tier(site: Site) -> None:
    for run in ("one", "two"):
        site.planned(run, "--bb-mode", "persistent")
    with ThreadPoolExecutor(2) as both:
        assert all(map(done_well, both.map(site.run, ("one", "two"))))
    assert site.content("one") == site.content("two") != {}
    assert site.reservations() == []


def test_results_that_did_not_arrive_keep_the_reservation(site: Site) -> None:
    site.planned("bb", "--bb-mode", "persistent", "-Ddagman.retry=0")
    site.results("bb").write_text("a file where the folder should be")
    site.fails("bb")
    assert len(site.reservations()) == 1
    site.results("bb").unlink()
    site.finishes("bb")


@pytest.mark.parametrize("mode", ["persistent", "transient", "off"])
def test_results_do_not_go_to_the_empty_place_of_a_file_system_that_is_away(
    site: Site, mode: str
) -> None:
    results, away = site.results("bb"), site.root / "away"
    results.mkdir(parents=True)
    submit = site.planned("bb", "--bb-mode", mode, "-Ddagman.retry=0")
    before(submit / "bb" / "bin" / "transfer", f"mv {results} {away} 2>/dev/null")
    failed = site.run("bb")
    assert failed.returncode == 80
    assert f"{results}: was there when this was planned" in failed.stderr
    assert len(site.reservations()) == (mode == "persistent")
    assert not results.exists()
    for more in ((), ("--restart",)):
        refused = site.bb("run", *more, str(submit))
        assert refused.returncode == 2
        assert f"{results}: was there when this was planned" in refused.stderr
    assert not list(submit.glob("jobstate.log.*")), "nothing was moved aside"
    (submit / "bb" / "bin" / "transfer.real").replace(
        submit / "bb" / "bin" / "transfer"
    )
    away.rename(results)
    site.finishes("bb")


def test_ctrl_c_stops_cleanly_and_resumes(site: Site) -> None:
    site.planned("bb", "--bb-mode", "persistent")
    engine = site.start_run("bb")
    log = site.submit_dir("bb") / "jobstate.log"
    assert wait_for_event(log, "mix_A", "EXECUTE", engine)
    engine.send_signal(signal.SIGINT)
    assert engine.wait() != 0
    assert len(site.reservations()) == 1
    site.finishes("bb")


@pytest.mark.parametrize(
    ("fails", "kept", "give_back"),
    [
        ("e.dat", 79, "release {} --discard"),
        pytest.param("a.dat", 0, "gc --yes", marks=pytest.mark.sweep),
    ],
)
def test_once_a_failed_run_has_given_its_reservation_back_only_a_restart_helps(
    site: Site, fails: str, kept: int, give_back: str
) -> None:
    site.trouble.write_text(fails)
    submit = str(site.planned("bb", "--bb-mode", "persistent", "-Ddagman.retry=0"))
    site.fails("bb")
    (name,) = site.reservations()
    status = json.loads(site.bb("status", "--json", submit, check=True).stdout)
    assert status["reservation"]["state"] == "ready"
    if kept:
        assert site.bb("release", name).returncode == kept
        assert site.reservations() == [name]
    site.bb(*give_back.format(name).split(), check=True)
    assert site.reservations() == []
    assert "pegasus-bb run --restart" in site.bb("status", submit).stdout
    again = site.run("bb")
    assert again.returncode == 76
    assert "pegasus-bb run --restart" in again.stderr
    site.trouble.unlink()
    site.bb("run", "--restart", submit, check=True)
    site.has_all_results("bb")


@pytest.mark.parametrize("version", [1, pytest.param(None, marks=pytest.mark.sweep)])
def test_a_run_that_another_version_planned_is_seen_given_back_and_not_run(
    site: Site, version: int | None
) -> None:
    """Version 1 differs from ours for programs of a run; what it has noted does not."""
    site.trouble.write_text("e.dat")
    folder = site.planned("bb", "--bb-mode", "persistent", "-Ddagman.retry=0")
    site.fails("bb")
    plan = site.plan_file("bb")
    del plan["version"]
    older = {"version": version, **plan} if version else plan
    (folder / "bb/plan.json").write_text(json.dumps(older))
    shutil.rmtree(folder / "bb/nodes")
    (name,) = site.reservations()
    for option in ("", "--restart"):
        done = site.bb("run", *filter(None, [option]), str(folder))
        assert done.returncode == 2
        assert "another version of pegasus-bb planned this run" in done.stderr
    runs = ("--pfs", str(folder), "--bb", str(folder))
    for words in (["ls"], ["status", str(folder)], ["report", *runs]):
        site.bb(*words, check=True)
    assert "KEPT" in site.bb("gc", "--yes", check=True).stdout
    assert site.bb("release", name).returncode == 79
    site.bb("release", name, "--discard", check=True)
    assert site.reservations() == []


def test_a_dag_that_was_edited_so_that_results_would_be_lost_is_not_run(
    site: Site,
) -> None:
    """The folder is removed without waiting for stage-out."""
    folder = site.planned("bb", "--bb-mode", "persistent")
    file = folder / "diamond-0.dag"
    lines = file.read_text().splitlines()
    kept = [x for x in lines if not x.startswith("PARENT stage_out_remote_cluster_")]
    site.edit_dag("bb", "\n".join([*kept, ""]))
    done = site.run("bb")
    assert done.returncode == 2, done.stderr
    assert "could remove results that are nowhere else" in done.stderr
    assert not (folder / "jobstate.log").exists()
