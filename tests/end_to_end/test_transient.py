"""Mode transient: each job has a reservation, and the scratch stays on the PFS."""

from __future__ import annotations

from pathlib import Path

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
