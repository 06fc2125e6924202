"""A capacity below the sum of the files, under DAGMan and Slurm, of both planners."""

from __future__ import annotations

import json

import pytest

from pegasus_bb.testbed.home import Home
from tests.end_to_end.chains import INPUT, Chains, watched
from tests.testbed.condor_desk import PLANNERS, Desk
from tests.testbed.site_hands import Site

pytestmark = [pytest.mark.site]
CHAINS = Chains(width=2, rungs=3)
CAPACITY = 1_300_000  # of 2.4 MB; two levels have 1.2 MB
TOGETHER = 500.0  # seconds


class Short(Desk):
    """The chains' desk."""

    def write(self) -> None:
        for name, data in CHAINS.inputs().items():
            (self.root / "inputs" / name).write_bytes(data)
        super().write()
        self.save("workflow.yml", CHAINS.workflow())


@pytest.mark.parametrize("planner", PLANNERS)
def test_in_phases_the_buffer_is_never_filled(
    submit_host: Site, home: Home, planner: str, planners: None
) -> None:
    desk = Short(home, "phases", planner=planner)
    words = ("--bb-mode", "persistent", "--bb-capacity", str(CAPACITY))
    submit = desk.planned("bb", *words)
    phases = json.loads((submit / "bb" / "phases.json").read_text())
    assert phases["limit"] == CAPACITY
    assert phases["barriers"]
    with watched(submit_host.place.buffers, every=0.02) as most:
        done = desk.start("bb").end(TOGETHER)
    assert done.status == 0, done.err
    assert desk.content("bb") == CHAINS.results()
    assert 2 * INPUT < most[0] <= CAPACITY
    assert not submit_host.buffers()
