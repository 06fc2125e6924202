"""Mode transient: each job has a reservation, and the scratch stays on the PFS."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pegasus_bb.runtime.job_reservation.planned import LANDING
from tests.support.user_site import Site, done_well, expected


def transient(site: Site, run: str, *more: str) -> Path:
    return site.planned(run, "--bb-mode", "transient", "--bb-poll", "1s", *more)


def test_each_job_waits_for_its_results_and_no_job_reserves_for_all(site: Site) -> None:
    folder = transient(site, "bb")
    dag = (folder / "diamond-0.dag").read_text()
    assert not any(word in dag for word in ("bb_setup", "bb_delete", " PRE "))
    assert not (folder / "bb" / "request.json").exists()
    programs = folder / "bb" / "bin"
    begins = f"SCRIPT DEFER 75 1 POST mix_A {programs}/await_stage_out mix_A "
    begins += f"$JOBID $RETURN {programs}/exitcode -r $RETURN "
    (line,) = (line for line in dag.splitlines() if " POST mix_A " in line)
    assert line.startswith(begins)


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


def test_a_submit_directory_in_the_scratch_itself_is_refused(site: Site) -> None:
    done = site.bb(
        "plan",
        *("--sites", "cluster", "--output-sites", "local"),
        *("--dir", str(site.root / "pfs" / "own"), "--relative-submit-dir", "run"),
        *("--relative-dir", "own", "--bb-mode", "transient", "workflow.yml"),
    )
    assert done.returncode == 2
    assert "lies in the run's own scratch" in done.stderr


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
