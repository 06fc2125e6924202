"""A reservation that is asked for in the middle of a run, on the real Slurm of a
testbed, under DAGMan: the jobs before it name no buffer, for there is none yet."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

import tests.end_to_end.conftest as end_to_end
from pegasus_bb.engine.journal import read_history
from pegasus_bb.errors import INTERRUPTED, RUN_FAILED
from pegasus_bb.testbed.home import Home
from tests.testbed.condor_desk import PLANNERS, Desk, Typist
from tests.testbed.example_desk import Example
from tests.testbed.site_hands import Site
from tests.testbed.together import all_told

pytestmark = [pytest.mark.site]
TOGETHER = 500.0  # seconds, for all of them side by side
LATE = ("--bb-mode", "persistent", "--bb-open", "late")


def ran_before_it(typist: Typist, run: str) -> set[str]:
    """Nodes that had ended before the second in which the reservation was asked for."""
    submit = typist.submit_dir(run)
    asked = json.loads((submit / "bb/reservation.json").read_text())["requested_at"]
    events = read_history(submit / "jobstate.log").events
    early = {
        event.node
        for event in events
        if event.event == "JOB_SUCCESS" and event.time < int(asked)
        if not event.node.endswith("_local")  # a planner's folder on the submit host
    }
    assert early <= set((submit / "bb/prior").read_text().split())
    return early


def runs_to_its_end(home: Home, planner: str) -> None:
    desk = Desk(home, "opening", planner=planner)
    desk.planned("bb", *LATE)
    done = desk.start("bb").end(TOGETHER)
    assert done.status == 0, done.err
    assert desk.content("bb") == end_to_end.expected()
    assert "mix_A" in ran_before_it(desk, "bb")


def ends_before_it_and_goes_on(home: Home, planner: str) -> None:
    """The first job fails: nothing was asked for, and the next run asks for it."""
    desk = Desk(home, "again", planner=planner)
    submit = desk.planned("bb", *LATE, "-Ddagman.retry=0")
    desk.trouble.write_text("a.dat")
    failed = desk.start("bb").end(TOGETHER)
    assert failed.status == RUN_FAILED, failed.err
    assert not (submit / "bb/reservation.json").exists()
    desk.trouble.unlink()
    assert "mix_A" in desk.goes_on("bb")
    assert desk.content("bb") == end_to_end.expected()
    assert "mix_A" in ran_before_it(desk, "bb")


def is_refused_and_goes_on(submit_host: Site, home: Home, planner: str) -> None:
    """In the middle: what the first job has made is there when it is granted."""
    desk = Desk(home, "refused", planner=planner)
    desk.planned("bb", *LATE, "-Ddagman.retry=0")
    said = "says=dwsd: no space left on any server: 507"
    with mishap(
        submit_host, f"create_persistent token={desk.reservation('bb')} {said}"
    ):
        refused = desk.start("bb").end(TOGETHER)
    assert refused.status == RUN_FAILED, refused.err
    assert "no space left on any server" in refused.err
    again = desk.goes_on("bb")
    assert "bb_setup_BB0000001" in again
    assert "mix_A" not in again
    assert desk.content("bb") == end_to_end.expected()


def is_removed_and_goes_on(submit_host: Site, home: Home, planner: str) -> None:
    """While the gate waits in the middle of the run."""
    desk = Desk(home, "removed", planner=planner)
    submit = desk.planned("bb", *LATE)
    with mishap(
        submit_host, f"create_persistent token={desk.reservation('bb')} delay=15"
    ):
        run = desk.start("bb")
        run.until((submit / "bb/gate.json").exists, TOGETHER)
        assert " mix_A JOB_SUCCESS " in (submit / "jobstate.log").read_text()
        desk.ask("condor_rm", "-constraint", "JobUniverse == 7")
        removed = run.end(TOGETHER)
    assert removed.status == INTERRUPTED, removed.err
    again = desk.goes_on("bb")
    assert "mix_A" not in again
    assert desk.content("bb") == end_to_end.expected()


@contextmanager
def mishap(submit_host: Site, line: str) -> Iterator[None]:
    """What DataWarp does meanwhile."""
    file = submit_host.place.root / "mishaps"
    file.write_text(f"{line}\n")
    try:
        yield
    finally:
        file.unlink()


def an_example_gives_the_same(home: Home, planner: str) -> None:
    example = Example(home, "1000genome", planner)
    example.planned("bb", "--conf", "pegasus.properties", *LATE)
    example.plan("pfs", "off")
    run = example.start("bb")
    on_pfs = example.run_to_the_end("pfs", "--engine", "local")
    done = run.end(TOGETHER)
    assert on_pfs.status == 0, on_pfs.err
    assert done.status == 0, done.err
    assert example.content("bb") == example.content("pfs") != {}
    assert ran_before_it(example, "bb")


STORIES = (runs_to_its_end, ends_before_it_and_goes_on, an_example_gives_the_same)


@pytest.mark.parametrize("planner", PLANNERS)
def test_it_is_asked_for_late_and_the_results_are_the_same(
    submit_host: Site, home: Home, planner: str, planners: None
) -> None:
    told = [partial(story, home, planner) for story in STORIES]
    all_told(told, 2 * TOGETHER)
    assert not submit_host.buffers()


@pytest.mark.parametrize("planner", PLANNERS)
def test_it_is_not_there_in_the_middle_and_the_next_run_goes_on(
    submit_host: Site, home: Home, planner: str, planners: None
) -> None:
    for story in (is_refused_and_goes_on, is_removed_and_goes_on):
        story(submit_host, home, planner)
    assert not submit_host.buffers()
