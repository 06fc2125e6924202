"""Workflows under DAGMan at once: both examples, and one that fails halfway."""

from __future__ import annotations

from functools import partial

import pytest

from pegasus_bb.testbed.home import Home
from tests.testbed.condor_desk import PERSISTENT, PLANNERS, Desk, expected
from tests.testbed.example_desk import SMALL, Example
from tests.testbed.site_hands import Site
from tests.testbed.together import all_told

pytestmark = [pytest.mark.site]


@pytest.mark.parametrize("planner", PLANNERS)
def test_three_runs_at_once_each_come_to_their_own_end(
    submit_host: Site, home: Home, planner: str, planners: None
) -> None:
    stories = [partial(is_as_on_the_pfs, home, name, planner) for name in SMALL]
    halfway = partial(fails_halfway_and_goes_on_later, submit_host, home, planner)
    all_told([*stories, halfway], 600)
    assert not submit_host.buffers()


def is_as_on_the_pfs(home: Home, name: str, planner: str) -> None:
    example = Example(home, name, planner)
    example.gives_what_it_gives_on_the_pfs("persistent", 400)
    pfs, bb = example.submit_dir("pfs"), example.submit_dir("bb")
    said = example.bb("report", "--pfs", str(pfs), "--bb", str(bb))
    assert said.status == 0, said.err


def fails_halfway_and_goes_on_later(
    submit_host: Site, home: Home, planner: str
) -> None:
    """The reservation stays with what is on it, and DAGMan's rescue file is used."""
    desk = Desk(home, "halfway", 2, planner)
    submit = desk.planned("bb", *PERSISTENT)
    name = desk.reservation("bb")
    desk.trouble.write_text("b.dat")
    failed = desk.run_to_the_end("bb")
    assert failed.status == 80, failed.err
    assert "mix_B: record 1 says that its task failed (exit code 1)" in failed.err
    assert "| mix: the disk on my desk is full" in failed.err
    assert "rescue file: diamond-0.dag.rescue001" in failed.err
    assert name in submit_host.buffers()  # with what mix_A has written there
    assert "stopped; pegasus-bb run goes on" in desk.bb("status", str(submit)).out

    desk.trouble.unlink()
    ran = desk.goes_on("bb")
    assert "mix_A" not in ran
    assert "mix_B" in ran
    assert desk.content("bb") == expected(jobs=2)
    assert name not in submit_host.buffers()
