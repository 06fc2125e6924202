"""An example on a site with burst_buffer/lua and the staging service, in every mode."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pegasus_bb_testbed.home import Home
from pegasus_bb_testbed.namespace import call

from testbed.tests.lua_site import ON_LUA, LuaSite
from testbed.tests.workflow_runner import PLANNERS, ExampleRunner
from tests.support.waiting import until

pytestmark = [pytest.mark.site, ON_LUA]
MODES = ("persistent", "transient", "hybrid")


class Started:
    """Side by side."""

    def __init__(self, home: Home, planner: str, pool: ThreadPoolExecutor) -> None:
        self.example = ExampleRunner(home, "1000genome", planner)
        self.runs = {mode: pool.submit(self._run, mode) for mode in ("off", *MODES)}

    def _run(self, mode: str) -> None:
        words = ("--conf", "pegasus.properties", "--bb-mode", mode)
        self.example.planned(mode, *words)
        self.example.run_well(mode, *(("--engine", "local") * (mode == "off")))


@pytest.fixture(params=PLANNERS, scope="module")
def started(
    request: pytest.FixtureRequest, home: Home, planners: None
) -> Iterator[Started]:
    LuaSite(home)
    with ThreadPoolExecutor() as pool:
        yield Started(home, request.param, pool)


@pytest.mark.parametrize("mode", MODES)
def test_results_are_those_of_a_run_on_the_pfs(started: Started, mode: str) -> None:
    started.runs["off"].result()
    started.runs[mode].result()
    assert started.example.content(mode) == started.example.content("off") != {}


def test_nothing_is_left(started: Started, home: Home) -> None:
    for run in started.runs.values():
        run.result()
    ours = f"{started.example.submits}/"
    rows = started.example.ls().values()
    states = {row["state"] for row in rows if row["submit_dir"].startswith(ours)}
    assert states <= {"released", "absent"}, states
    until(lambda: left(home) == {"buffers": [], "kept": []})


def left(home: Home) -> dict[str, Any]:
    done = call(home, ["scontrol", "show", "bbstat", "list"])
    answer: dict[str, Any] = json.loads(done.out)["ok"]
    return {key: answer[key] for key in ("buffers", "kept")}
