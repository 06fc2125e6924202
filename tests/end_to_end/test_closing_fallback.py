"""A reservation that is to be given back early, and that cannot be had: all of the run
is on the PFS then, and nothing is left to close."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import ELSEWHERE, INPUTS, Site, expected
from .examples import GRANULE
from .test_closing import beyond, done_well
from .test_fallback import FALLBACK, ONCE, ran_on_the_pfs, settled

CLOSED = (*FALLBACK, "--bb-close", "early")
REFUSED = "create: no such project"


@pytest.fixture(autouse=True)
def small_granules(site: Site) -> None:
    site.declare(granularity=GRANULE)


def test_refused_it_runs_on_the_pfs_and_leaves_nothing(site: Site) -> None:
    site.declare(fail=REFUSED)
    submit = site.planned("bb", *CLOSED)
    assert "mix_E" in beyond(submit)
    assert list((submit / "bb/carry").iterdir()) != []
    ran_on_the_pfs(site, "no such project")
    assert site.reservations() == []


@pytest.mark.parametrize("cleanup", ["none", "leaf"])
def test_whatever_is_cleaned_up_the_results_are_the_same(
    site: Site, cleanup: str
) -> None:
    site.declare(fail=REFUSED)
    site.planned("bb", *CLOSED, "--cleanup", cleanup)
    assert done_well(site.run("bb"))
    assert site.content("bb") == expected()
    left = sorted(p.stem for p in (site.root / "pfs").rglob("*.dat"))
    assert left == (["a", "b", "c", "d", "e"] if cleanup == "none" else [])


@pytest.mark.parametrize("tier", ELSEWHERE, ids=str)
def test_wherever_files_were_to_live(site: Site, tier: dict[str, str]) -> None:
    site.declare(fail=REFUSED, **tier)
    site.planned("bb", *CLOSED)
    assert done_well(site.run("bb"))
    assert site.content("bb") == expected()
    inputs = site.root / "inputs"
    assert {p.name: p.read_bytes() for p in inputs.iterdir()} == INPUTS


def test_where_it_is_up_it_closes_early_as_ever(site: Site) -> None:
    site.trouble.write_text("e.dat")
    site.planned("bb", *CLOSED, ONCE)
    assert site.run("bb").returncode == 80
    assert settled(site)["to"] == "bb"
    assert site.reservations() == []
    site.trouble.unlink()
    assert done_well(site.run("bb"))
    assert site.content("bb") == expected()


@pytest.mark.parametrize("trouble", ["a.dat", "e.dat"])
def test_a_task_that_fails_on_the_pfs_goes_on_there(site: Site, trouble: str) -> None:
    site.declare(fail=REFUSED)
    site.trouble.write_text(trouble)
    site.planned("bb", *CLOSED, ONCE)
    assert site.run("bb").returncode == 80
    site.trouble.unlink()
    ran_on_the_pfs(site, "no such project")


def test_started_over_it_may_have_its_reservation(site: Site) -> None:
    """What the first run has left on the PFS is not taken for what this one makes."""
    site.declare(fail="create*1: no such project")
    submit = site.planned("bb", *CLOSED, "--cleanup", "none")
    assert done_well(site.run("bb"))
    for made in (site.root / "pfs").rglob("*.dat"):
        made.write_bytes(b"of an older run")
    for result in site.results("bb").iterdir():
        result.unlink()
    assert done_well(site.bb("run", "--restart", str(submit)))
    assert settled(site)["to"] == "bb"
    assert site.content("bb") == expected()
    assert site.reservations() == []


def test_what_came_up_too_late_is_given_back(site: Site) -> None:
    site.declare(delay="2s")
    submit = site.planned("bb", *CLOSED, "--bb-wait", "0s")
    ran_on_the_pfs(site, "did not come up within 0.0 s")
    assert site.reservations() == []
    assert noted_copies(submit) == {p.stem for p in (submit / "bb/carry").iterdir()}


def noted_copies(submit: Path) -> set[str]:
    return {p.name for p in (submit / "bb/carried").iterdir()}


def test_status_and_report_say_so(site: Site) -> None:
    site.declare(fail=REFUSED)
    folder = str(site.planned("bb", *CLOSED))
    assert done_well(site.run("bb"))
    status = json.loads(site.bb("status", "--json", folder).stdout)
    assert status["fallback"]["to"] == "pfs"
    told = site.bb("report", "--pfs", folder, "--bb", folder).stdout
    assert "WAS REALLY ON THE PFS" in told
