"""Mode hybrid: a reservation that jobs share, and one for the files of a single job.

Inputs that are read once stay on the PFS.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pegasus_bb.core.units import parse_size
from pegasus_bb.report.run_folder import read_run
from tests.support.user_site import Site

from .examples import GRANULE, SMALL, example_of, gives_what_it_gives_on_the_pfs


@pytest.fixture(autouse=True)
def small_granules(site: Site) -> None:
    site.declare(granularity=GRANULE)


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
