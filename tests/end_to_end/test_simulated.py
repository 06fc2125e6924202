"""A user asks for the report of runs that never happen."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.user_site import Site

from .test_predicted import FAST, SLOW, speeds, tier_is_faster


def simulate(site: Site, *more: str) -> str:
    said = ("simulate", "--sites", "cluster", "--output-sites", "local", *more)
    done = site.bb(*said, check=True)
    return str(done.stdout)


def test_a_simulated_run_is_reported_as_a_measured_one(site: Site) -> None:
    tier_is_faster(site)
    said = simulate(site, "--mode", "persistent", "--seeds", "2", "--html", "page.html")
    assert "BB run 2: " in said and ", simulated, mode persistent" in said
    assert "== simulated: who waits for what in mode persistent" in said
    assert "WARNING: these runs are simulated: nothing was run." in said
    page = (site.work / "page.html").read_text()
    assert 'class="headline">Simulated: the burst buffer' in page
    assert not (site.work / "submit").exists()


def simulated(site: Site, *more: str) -> list[str]:
    document: dict[str, Any] = json.loads(simulate(site, "--json", *more))
    return list(document["waits"])


@pytest.mark.parametrize(
    ("more", "modes"),
    [
        ((), ["off", "persistent"]),
        (("--bb-mode", "transient"), ["off", "transient"]),
        (("--bb-mode", "hybrid"), ["off", "hybrid"]),
        (("--bb-mode", "off"), ["off", "persistent"]),
        (("--bb-mode", "transient", "--mode", "hybrid"), ["off", "hybrid"]),
    ],
)
def test_the_planned_mode_is_simulated(
    site: Site, more: tuple[str, ...], modes: list[str]
) -> None:
    tier_is_faster(site)
    assert simulated(site, *more) == modes


def test_the_preferred_mode_is_simulated_of_mode_auto(site: Site) -> None:
    tier_is_faster(site)
    said = simulate(site, "--bb-mode", "auto", "--json")
    found = json.loads(said)
    assert list(found["waits"]) == ["off", found["predicted"]["choice"]]


@pytest.mark.parametrize("mode", ["", "transient", "off"])
def test_a_tier_of_one_node_is_simulated_in_mode_transient(
    site: Site, mode: str
) -> None:
    site.has_disks()
    speeds(site, pfs=SLOW, nvme=FAST)
    more = ("--bb-mode", mode) if mode else ()
    assert simulated(site, *more) == ["off", "transient"]
    assert "reserved under" not in simulate(site, *more)
    assert simulated(site, *more, "--mode", "off") == ["off"]
    refused = site.bb("simulate", *more, "--mode", "persistent")
    assert refused.returncode == 2
    assert "--mode persistent cannot be simulated" in refused.stderr


def test_mode_off_names_the_mode_that_uses_the_tier(site: Site) -> None:
    for mode in ("persistent", "transient"):
        done = site.plan(mode)
        assert f"is not used; --bb-mode {mode} uses it" in done.stderr
        site.has_disks()
