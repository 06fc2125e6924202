"""Mode hybrid on the real Slurm of a testbed, under DAGMan: both examples."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from pegasus_bb.report import read_run
from pegasus_bb.testbed.home import Home
from tests.testbed.condor_desk import PLANNERS
from tests.testbed.example_desk import SMALL, Example
from tests.testbed.site_hands import Site
from tests.testbed.test_site_transient import spaces
from tests.testbed.together import all_told

pytestmark = [pytest.mark.site]
TOGETHER = 500.0  # seconds, for all of them side by side
RESULT, OTHER = 40 << 20, 1 << 20  # bytes, whatever the files really have


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

    def reserved(self, run: str) -> float:
        """Bytes x hours, as they were measured."""
        found = read_run(self.submit_dir(run)).reserved
        assert found is not None
        return found


def declare(use: dict[str, Any]) -> None:
    is_result = use["type"] == "output" and use.get("stageOut", True)
    use.pop("size", None)
    more = {"size": RESULT if is_result else OTHER}
    use["metadata"] = {**use.get("metadata", {}), **more}


def names(folder: Path) -> list[str]:
    return sorted(file.stem for file in folder.glob("*.json"))


def reserves_less_and_gives_the_same(home: Home, name: str, planner: str) -> None:
    example = Sized(home, name, planner)
    example.plan("one", "persistent")
    one = example.start("one")
    example.gives_what_it_gives_on_the_pfs("hybrid", TOGETHER)
    done = one.end(TOGETHER)
    assert done.status == 0, done.err
    assert example.content("one") == example.content("bb")
    bb = example.submit_dir("bb") / "bb"
    assert names(bb / "landed") == names(bb / "jobs") != []
    figures = {run: example.reserved(run) for run in ("bb", "one")}
    print(name, planner, figures)
    assert figures["bb"] <= figures["one"]


@pytest.mark.parametrize("planner", PLANNERS)
def test_both_examples_reserve_less_and_give_the_same(
    submit_host: Site, home: Home, planner: str, planners: None
) -> None:
    told = [
        partial(reserves_less_and_gives_the_same, home, name, planner) for name in SMALL
    ]
    all_told(told, 2 * TOGETHER)
    assert not submit_host.buffers()
    assert not spaces(submit_host)
