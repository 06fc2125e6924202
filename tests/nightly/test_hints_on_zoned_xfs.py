"""Hints on a real kernel: XFS on zoned storage copies less where files have them.

Eight users run workflows on a disk that is nearly full. Their movers do the same twice:
once with no hint, once with those that the planner gives. What the device writes is the
files of the users, and what XFS copies to have empty zones again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from pegasus_bb_testbed.home import Home

from testbed.tests.shared_testbed import turn
from tests.nightly import guest
from tests.nightly.campaign import LEVELS, campaign

pytestmark = pytest.mark.nightly
SEEDS = (1, 2, 3)
FILL = 0.93  # of the capacity, when the most files are alive
LEAST = 1.15  # device writes without hints, by those with hints
# Neither side is always the first: number of the campaign, with hints.
ROUNDS = [(0, False), (0, True), (1, True), (1, False), (2, False), (2, True)]


@pytest.fixture
def home() -> Iterator[Home]:
    """Skipped by name where no guest can run; with CI=true it fails then."""
    home = guest.home()
    with turn(home):
        missing = guest.why_not(home)
        if missing:
            (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(missing)
        yield home


def test_device_writes_less_where_files_have_hints(home: Home, tmp_path: Path) -> None:
    campaigns = [campaign(tmp_path, seed) for seed in SEEDS]
    plan = {"campaigns": campaigns, "rounds": ROUNDS, "fill": FILL}
    found = guest.run(home, plan)
    plain, hinted = (
        {each["seed"]: each for each in found if each["hinted"] is with_hints}
        for with_hints in (False, True)
    )
    print(f"Linux {found[0]['kernel']}\n{table(plain, hinted)}")
    for seed in SEEDS:
        assert plain[seed]["users"] == hinted[seed]["users"]
        assert plain[seed]["kept_hints"] == 0
        assert hinted[seed]["kept_hints"] == hinted[seed]["files"]
        assert plain[seed]["device"] / hinted[seed]["device"] >= LEAST


def table(plain: dict[int, Any], hinted: dict[int, Any]) -> str:
    lines = ["seed  users MiB  in use: mean, most  device MiB: plain, hinted  ratio"]
    for seed, each in plain.items():
        other = hinted[seed]["device"]
        uses = [1 - free / each["capacity"] for free in each["free"][LEVELS:]]
        lines.append(
            f"{seed:4}  {each['users'] >> 20:9}  {fmean(uses):11.2f} {max(uses):5.2f}  "
            f"{each['device'] >> 20:18} {other >> 20:7}  {each['device'] / other:5.2f}"
        )
    return "\n".join(lines)
