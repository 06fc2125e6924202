"""Mode transient: each job has a reservation, and the scratch stays on the PFS."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pegasus_bb.engine.processes import end_left_over
from pegasus_bb.runtime.job_reservation.planned import LANDING

from .conftest import Site, done_well, expected, killed_when


def transient(site: Site, run: str, *more: str) -> Path:
    return site.planned(run, "--bb-mode", "transient", "--bb-poll", "1s", *more)


def test_each_job_waits_for_its_results_and_no_job_reserves_for_all(site: Site) -> None:
    folder = transient(site, "bb")
    dag = (folder / "diamond-0.dag").read_text()
    assert "bb_setup" not in dag
    assert "bb_delete" not in dag
    assert " PRE " not in dag
    assert not (folder / "bb" / "request.json").exists()
    assert site.plan_file("bb")["mode"] == "transient"
    assert site.plan_file("bb")["scratch"].startswith(str(site.root / "pfs"))
    programs = folder / "bb" / "bin"
    begins = f"SCRIPT DEFER 75 1 POST mix_A {programs}/await_stage_out mix_A "
    begins += f"$JOBID $RETURN {programs}/exitcode -r $RETURN "
    (line,) = (line for line in dag.splitlines() if " POST mix_A " in line)
    assert line.startswith(begins)
    assert "SCRIPT POST stage_in" in dag


def test_a_tier_that_holds_one_job_runs_one_job_after_the_other(site: Site) -> None:
    site.declare(quota="1MiB")  # a granule
    transient(site, "bb", "--cleanup", "none")
    assert done_well(site.run("bb"))
    assert site.content("bb") == expected()
    scratch = Path(site.plan_file("bb")["scratch"])
    assert list((scratch / LANDING).iterdir()) == []


def test_a_task_that_does_not_make_what_it_should_fails_by_name(site: Site) -> None:
    workflow = site.document("workflow.yml")
    uses = workflow["jobs"][0]["uses"]
    uses.append({"lfn": "no.dat", "type": "output", "metadata": {"size": 1}})
    site.save("workflow.yml", workflow)
    said = failed_first_job(site)
    assert "no.dat: the task ended well, but has not made" in said


def test_a_refused_reservation_fails_its_job_with_the_reason(site: Site) -> None:
    site.declare(fail="create:no such project")
    assert "no such project" in failed_first_job(site)


def failed_first_job(site: Site) -> str:
    """What the failed job A says."""
    folder = transient(site, "bb", "-Ddagman.retry=0")
    assert site.run("bb").returncode == 80
    (said,) = folder.glob("*/*/mix_A.err.000")
    return said.read_text()


def test_explain_says_what_each_job_reserves(site: Site) -> None:
    words = ("--sites", "cluster", "--bb-mode", "transient")
    told = site.bb("explain", *words, check=True).stdout
    assert "job A: 1.0 MiB for 66.4 KiB, 1 files in, 1 out" in told
    assert "capacity: up to 1.0 MiB for each job" in told


def test_a_submit_directory_in_the_scratch_itself_is_refused(site: Site) -> None:
    done = site.bb(
        "plan",
        *("--sites", "cluster", "--output-sites", "local"),
        *("--dir", str(site.root / "pfs" / "own"), "--relative-submit-dir", "run"),
        *("--relative-dir", "own", "--bb-mode", "transient", "workflow.yml"),
    )
    assert done.returncode == 2
    assert "lies in the run's own scratch" in done.stderr


def killed_while_a_task_runs(site: Site) -> Path:
    """The engine is killed, its task runs on, and the job's reservation stays."""
    begun = site.slow(60)
    folder = transient(site, "bb")
    # The reservation's folder is there before, and half made.
    killed_when(site, "bb", "mix_A", begun)
    return folder


def end_its_tasks(folder: Path) -> None:
    """What a reboot does; the next run would do it as well."""
    end_left_over(folder / "bb" / "engine.jsonl")


def test_what_a_killed_run_leaves_is_listed_and_given_back(site: Site) -> None:
    folder = killed_while_a_task_runs(site)
    (name,) = site.reservations()
    listed = site.bb("ls", check=True).stdout
    assert name in listed
    assert "not on this ledger" not in listed
    kept = site.bb("gc", "--yes", check=True)
    assert site.reservations() == [name], kept.stdout  # its task runs on
    end_its_tasks(folder)
    told = site.bb("gc", check=True).stdout
    assert "left by a job that was killed" in " ".join(told.split())
    assert site.reservations() == [name]
    site.bb("gc", "--yes", check=True)
    assert site.reservations() == []
    assert site.ledger()[-1]["event"] == "discarded"


def test_release_gives_back_what_a_killed_job_has_left(site: Site) -> None:
    folder = killed_while_a_task_runs(site)
    end_its_tasks(folder)
    (name,) = site.reservations()
    assert done_well(site.bb("release", name))
    assert site.reservations() == []


def test_a_killed_run_goes_on_and_takes_its_leftovers_over(site: Site) -> None:
    folder = killed_while_a_task_runs(site)
    task = site.root / "mix.py"
    task.write_text(task.read_text().replace("time.sleep(60)", ""))
    assert done_well(site.run("bb"))
    assert site.content("bb") == expected()
    assert site.reservations() == []
    assert (folder / "bb" / "stage_out" / "mix_A.json").exists()


@pytest.mark.sweep
def test_a_run_that_starts_over_believes_no_older_note(site: Site) -> None:
    folder = transient(site, "bb")
    assert site.run("bb").returncode == 0
    assert done_well(site.bb("run", "--restart", str(folder)))
    older = folder / "bb" / "stage_out.000" / "mix_A.json"
    newer = folder / "bb" / "stage_out" / "mix_A.json"
    times = [json.loads(file.read_text())["time"] for file in (older, newer)]
    assert times[0] < times[1]
    assert site.content("bb") == expected()
