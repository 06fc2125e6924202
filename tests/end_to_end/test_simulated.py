"""A user asks for the report of runs that never happen."""

from __future__ import annotations

from tests.support.user_site import Site

from .test_predicted import FAST, SLOW, speeds


def simulate(site: Site, *more: str) -> str:
    said = ("simulate", "--sites", "cluster", "--output-sites", "local", *more)
    done = site.bb(*said, check=True)
    return str(done.stdout)


def test_a_simulated_run_is_reported_as_a_measured_one(site: Site) -> None:
    speeds(site, pfs=SLOW, bb=FAST)
    said = simulate(site, "--mode", "persistent", "--seeds", "2", "--html", "page.html")
    assert "BB run 2: " in said and ", simulated, mode persistent" in said
    assert "== simulated: who waits for what in mode persistent" in said
    assert "WARNING: these runs are simulated: nothing was run." in said
    page = (site.work / "page.html").read_text()
    assert 'class="headline">Simulated: the burst buffer' in page
    assert not (site.work / "submit").exists()
