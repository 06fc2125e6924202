"""Mode hybrid: a reservation that jobs share, and one for the files of a single job.

Inputs that are read once stay on the PFS.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pegasus_bb.report.run_folder import read_run
from tests.support.user_site import Site


@pytest.fixture(autouse=True)
def small_granules(site: Site) -> None:
    site.declare(granularity="1KiB")


def hybrid(site: Site, run: str, *more: str) -> Path:
    return site.planned(run, "--bb-mode", "hybrid", "--bb-poll", "1s", *more)


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
    assert " GiB hours" in told.stdout


def assert_no_more_than(capacity: int, submit: Path) -> None:
    """The run has reserved less than ``capacity`` for as long as its shared reservation
    was there."""
    noted = json.loads((submit / "bb/reservation.json").read_text())
    ready = json.loads((submit / "bb/ready.json").read_text())
    hours = (noted["released_at"] - ready["created"]) / 3600
    reserved = read_run(submit).reserved
    assert reserved is not None
    assert noted["size"] * hours < reserved <= capacity * hours  # single jobs' count
