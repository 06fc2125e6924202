"""Both examples on a site with burst_buffer/lua and the staging service."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from pegasus_bb_testbed.home import Home
from pegasus_bb_testbed.namespace import call

from testbed.tests.lua_site import ON_LUA, LuaSite
from testbed.tests.test_site_modes import fail_halfway
from testbed.tests.workflow_runner import PLANNERS, ExampleRunner
from tests.support.waiting import until

pytestmark = [pytest.mark.site, ON_LUA]
MODES = ("persistent", "transient", "hybrid")


class Started:
    """Examples in every mode, side by side."""

    def __init__(
        self,
        home: Home,
        planner: str,
        pool: ThreadPoolExecutor,
        runner: type[ExampleRunner] = ExampleRunner,
        names: Iterable[str] = ExampleRunner.SMALL,
    ) -> None:
        self.examples = {name: runner(home, name, planner) for name in names}
        self.halfway: dict[str, Future[None]] = {}
        self.runs = {
            (name, mode): pool.submit(self._run, name, mode)
            for name in self.examples
            for mode in ("off", *MODES)
        }

    def _run(self, name: str, mode: str) -> None:
        example = self.examples[name]
        example.planned(mode, "--conf", "pegasus.properties", "--bb-mode", mode)
        example.run_well(mode, *(("--engine", "local") * (mode == "off")))


@pytest.fixture(params=PLANNERS, scope="module")
def started(
    request: pytest.FixtureRequest, home: Home, planners: None
) -> Iterator[Started]:
    slurm = LuaSite(home)
    planner = request.param
    with ThreadPoolExecutor(18) as pool:
        started = Started(home, planner, pool)
        started.halfway = {
            mode: pool.submit(fail_halfway, slurm, mode, planner) for mode in MODES[:2]
        }
        yield started


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ExampleRunner.SMALL)
def test_results_are_those_of_a_run_on_the_pfs(
    started: Started, name: str, mode: str
) -> None:
    started.runs[name, "off"].result()
    started.runs[name, mode].result()
    example = started.examples[name]
    assert example.content(mode) == example.content("off") != {}


@pytest.mark.parametrize("mode", MODES[:2])
def test_a_run_that_fails_halfway_goes_on_later(started: Started, mode: str) -> None:
    started.halfway[mode].result()


def test_nothing_is_left(started: Started, home: Home) -> None:
    for run in (*started.runs.values(), *started.halfway.values()):
        run.result()
    example = started.examples["cybershake"]
    states = {row["state"] for row in example.ls().values()}
    assert states <= {"released", "absent"}, states
    until(lambda: left(home) == {"buffers": [], "kept": []})


def left(home: Home) -> dict[str, Any]:
    done = call(home, ["scontrol", "show", "bbstat", "list"])
    answer: dict[str, Any] = json.loads(done.out)["ok"]
    return {key: answer[key] for key in ("buffers", "kept")}
