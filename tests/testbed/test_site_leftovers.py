"""Reservations that leak on a whole site: DAGMan is killed, then removed; ls and gc."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pegasus_bb.testbed.home import Home
from tests.testbed.condor_desk import PERSISTENT, Desk, Running, until
from tests.testbed.site_hands import Site

pytestmark = [pytest.mark.site]
ENDED = ("failed, data kept", "dead: nobody works on it")


def listed(desk: Desk) -> dict[str, Any]:
    """What ``ls`` says of the run's reservation; empty where it is not listed."""
    done = desk.bb("ls", "--json")
    assert done.status == 0, done.err
    name = desk.reservation("bb")
    return next((one for one in json.loads(done.out) if one["name"] == name), {})


def gc(desk: Desk, *options: str) -> dict[str, Any]:
    """Its verdict about the run's reservation."""
    done = desk.bb("gc", "--json", *options, timeout=120.0)
    assert done.status == 0, done.err
    name = desk.reservation("bb")
    return next(one for one in json.loads(done.out) if one["name"] == name)


def leak(desk: Desk, run: Running) -> None:
    """kill -9 of DAGMan, which schedd would start again, then condor_rm."""
    submit = desk.submit_dir("bb")
    number = until(lambda: listed(desk)["run_words"]).split("job ")[1].rstrip(",")
    found = desk.ask("pgrep", "-f", f"condor_scheduniv_exec.{number}.0")
    assert found.status == 0, "DAGMan is not there"
    assert desk.ask("kill", "-KILL", *found.out.split()).status == 0
    kept = gc(desk, "--yes")
    assert (kept["goes"], listed(desk)["run"]) == (False, "running"), kept
    assert desk.ask("condor_rm", number).status == 0
    assert run.end(120).status == 130
    until(lambda: listed(desk)["run"] in ENDED)
    assert f"pegasus-bb run {submit}" in listed(desk)["next"]


def test_one_that_never_came_up_is_withdrawn(submit_host: Site, home: Home) -> None:
    desk = Desk(home, "leaked", 1)
    desk.planned("bb", *PERSISTENT, "--bb-capacity", "900MiB")
    submit_host.hold("other", "filler", 1000 << 20)
    run = desk.start("bb")
    until((desk.submit_dir("bb") / "bb" / "gate.json").exists, 120)
    leak(desk, run)
    assert listed(desk)["state"] == "pending"
    verdict = until(lambda: (one := gc(desk))["goes"] and one)
    assert "no job ever had it" in verdict["why"]
    assert listed(desk)["state"] == "pending", "a dry run changes nothing"
    assert gc(desk, "--yes")["goes"]
    assert listed(desk) == {}
    submit_host.give_back("other", "filler")
    name = desk.reservation("bb")
    with pytest.raises(AssertionError, match="not within"):
        submit_host.until(lambda: name in submit_host.buffers(), seconds=5.0)


def test_one_with_unsaved_data_stays_and_the_run_goes_on(
    submit_host: Site, home: Home
) -> None:
    desk = Desk(home, "unsaved", 1)
    desk.planned("bb", *PERSISTENT)
    name, journal = desk.reservation("bb"), desk.submit_dir("bb") / "jobstate.log"
    run = desk.start("bb")
    made = " mix_A POST_SCRIPT_SUCCESS "
    until(lambda: journal.exists() and made in journal.read_text(), 120)
    leak(desk, run)
    found = listed(desk)
    assert (found["state"], found["backend"]) == ("ready", "datawarp")
    verdict = until(
        lambda: "in the queue" not in (one := gc(desk, "--yes"))["why"] and one
    )
    assert not verdict["goes"]
    assert "promised results are not safe" in verdict["why"]
    assert name in submit_host.buffers()
    strange = {one["name"] for one in rows(desk) if not one["on_ledger"]}
    assert name not in strange
    done = desk.run_to_the_end("bb")
    assert done.status == 0, done.err
    assert (listed(desk), name in submit_host.buffers()) == ({}, False)


def test_a_buffer_that_was_made_by_hand_is_left_alone(
    submit_host: Site, home: Home
) -> None:
    desk = Desk(home, "byhand", 1)
    submit_host.hold("wfuser", "byhand", 10 << 20)
    submit_host.hold("other", "theirs", 10 << 20)
    known = {one["name"]: one["on_ledger"] for one in rows(desk)}
    assert (known.get("byhand"), "theirs" in known) == (False, False)
    done = desk.bb("gc", "--yes")
    assert "KEPT        byhand (10.0 MiB, datawarp): made by hand" in done.out
    assert {"byhand", "theirs"} <= set(submit_host.buffers())
    submit_host.give_back("wfuser", "byhand")
    submit_host.give_back("other", "theirs")


def rows(desk: Desk) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(desk.bb("ls", "--json").out)
    return found
