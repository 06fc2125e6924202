"""Mode hybrid on the real Slurm of a testbed, under DAGMan: both examples."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml

from pegasus_bb.report import read_run
from pegasus_bb.testbed.home import Home
from tests.testbed.condor_desk import PLANNERS
from tests.testbed.site_hands import Site
from tests.testbed.test_site_examples import SMALL, Example, left_in
from tests.testbed.test_site_transient import spaces

pytestmark = [pytest.mark.site, pytest.mark.slow]
TOGETHER = 500.0  # seconds, for all of them side by side
LARGE, SHARED = 40 << 20, 1 << 20  # declared sizes: results, and all else


class Sized(Example):
    """With declared sizes that make it worth while to keep results apart."""

    def __init__(self, home: Home, name: str, planner: str) -> None:
        super().__init__(home, name, planner)
        file = self.root / "work" / "workflow.yml"
        workflow = yaml.safe_load(file.read_text())
        for job in workflow["jobs"]:
            for use in job["uses"]:
                declare(use)
        file.write_text(yaml.safe_dump(workflow, sort_keys=False))
        self.belongs_to_the_user()


def declare(use: dict[str, Any]) -> None:
    is_result = use["type"] == "output" and use.get("stageOut", True)
    use.pop("size", None)
    size = LARGE if is_result else SHARED
    use["metadata"] = {**use.get("metadata", {}), "size": size}


def rooms_of(submit: Path) -> list[str]:
    return sorted(file.stem for file in (submit / "bb/jobs").glob("*.json"))


def reserves_less_and_gives_the_same(home: Home, name: str, planner: str) -> None:
    example = Sized(home, f"{name}", planner)
    for run, mode in (("pfs", "off"), ("one", "persistent"), ("bb", "hybrid")):
        example.plan(run, mode)
    started = [example.start("bb"), example.start("one")]
    on_pfs = example.run_to_the_end("pfs", "--engine", "local")  # meanwhile
    assert on_pfs.status == 0, on_pfs.err
    for run in started:
        done = run.end(TOGETHER)
        assert done.status == 0, done.err
        assert "engine: dagman (a schedd takes jobs here)" in done.err
    assert example.content("bb") == example.content("pfs") != {}
    assert example.content("one") == example.content("pfs")
    assert not left_in(example.root / "pfs")
    submit = example.submit_dir("bb")
    landed = sorted(file.stem for file in (submit / "bb/landed").glob("*.json"))
    assert landed == rooms_of(submit) != []
    hybrid, one = (read_run(example.submit_dir(run)).reserved for run in ("bb", "one"))
    assert hybrid is not None
    assert one is not None
    print(json.dumps({"example": name, "hybrid": hybrid, "persistent": one}))
    assert hybrid <= one


@pytest.mark.parametrize("planner", PLANNERS)
def test_both_examples_reserve_less_and_give_the_same(
    submit_host: Site, home: Home, planner: str, planners: None
) -> None:
    with ThreadPoolExecutor() as stories:
        told = [
            stories.submit(reserves_less_and_gives_the_same, home, name, planner)
            for name in SMALL
        ]
        for story in told:
            story.result(timeout=2 * TOGETHER)
    assert not submit_host.buffers()
    assert not spaces(submit_host)
