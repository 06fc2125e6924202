"""Mode transient: each job has a reservation, and the scratch stays on the PFS."""

from __future__ import annotations

from pathlib import Path

from pegasus_bb.runtime.job_reservation.planned import LANDING
from tests.support.user_site import Site


def transient(site: Site, run: str, *more: str) -> Path:
    return site.planned(run, "--bb-mode", "transient", "--bb-poll", "1s", *more)


def test_a_tier_that_holds_one_job_runs_one_job_after_the_other(site: Site) -> None:
    site.declare(quota="1MiB")  # a granule
    transient(site, "bb", "--cleanup", "none")
    site.finishes("bb")
    scratch = Path(site.plan_file("bb")["scratch"])
    assert list((scratch / LANDING).iterdir()) == []
