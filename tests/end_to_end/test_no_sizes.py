"""A workflow that says no size is planned all the same, and better the second time."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.user_site import Site

MIB = 1 << 20


def plan(site: Site, *more: str) -> str:
    """What planning says, in a folder of the run's own."""
    words = ("--sites", "cluster", "--output-sites", "local", "--bb-mode", "persistent")
    planner = ("--bb-planner", "builtin", "--dir", str(site.root / "runs"))
    done = site.bb("plan", *words, *planner, *more, "workflow.yml", check=True)
    return done.stderr


def runs(site: Site) -> list[str]:
    return sorted(str(p) for p in (site.root / "runs").glob("*/pegasus/*/run*"))


def without_sizes(site: Site) -> None:
    with site.edited("workflow.yml") as workflow:
        for job in workflow["jobs"]:
            for use in job["uses"]:
                use.pop("metadata", None)


def test_the_first_run_takes_a_share_and_the_next_one_its_sizes(site: Site) -> None:
    without_sizes(site)
    said = plan(site)
    assert f"capacity: 32.0 MiB = {32 * MIB} bytes" in said  # the quota is 64 MiB
    assert "50 % of what the tier has free" in said
    (first,) = runs(site)
    site.bb("run", first, check=True)
    assert f"sizes are those of the last run of this workflow, {first}" in plan(site)
    request = json.loads(Path(runs(site)[-1], "bb/request.json").read_text())
    assert request["capacity"] < 4 * MIB
    again = plan(site, "--bb-history", "none", "--bb-share", "25")
    assert f"capacity: 16.0 MiB = {16 * MIB} bytes" in again
    site.bb("run", runs(site)[-1], check=True)
