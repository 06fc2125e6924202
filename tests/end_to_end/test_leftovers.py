"""What killed runs leave behind: ls lists it, gc gives back what nobody needs."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from .conftest import Site, expected, kill, wait_for_event
from .test_kill import PERSISTENT

# The node at whose start the engine is killed -> whether gc may give back then.
KILLED_AT = {
    "bb_setup_BB0000001": True,  # nothing was ever on it
    "mix_A": False,
    "stage_out_remote_cluster_2_0": False,
    "cleanup_diamond_0_cluster": True,  # every result is at its destination
}


def listed(site: Site, *options: str) -> list[dict[str, Any]]:
    done = site.bb("ls", "--json", *options, check=True)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def dead(site: Site) -> dict[str, Any]:
    """The one reservation, once what the killed engine has left has come to its end."""
    deadline = time.monotonic() + 60
    while True:
        found = listed(site)
        if found and found[0]["run"] != "running":
            return found[0]
        assert time.monotonic() < deadline, found
        time.sleep(0.2)


@pytest.mark.parametrize("node", KILLED_AT)
def test_an_engine_that_was_killed(site: Site, node: str) -> None:
    submit = site.planned("bb", *PERSISTENT)
    engine = site.start_run("bb")
    assert wait_for_event(submit / "jobstate.log", node, "EXECUTE", engine)
    kill(engine)
    found = dead(site)
    assert (found["run"], found["submit_dir"]) == (
        "dead: nobody works on it",
        str(submit),
    )
    assert f"pegasus-bb run {submit}" in found["next"]
    before = site.reservations()

    dry = site.bb("gc", check=True)
    assert ("WOULD GO" in dry.stdout) == KILLED_AT[node], dry.stdout
    assert site.reservations() == before, "a dry run changes nothing"

    done = site.bb("gc", "--yes", check=True)
    assert ("GIVEN BACK" in done.stdout) == KILLED_AT[node], done.stdout
    if KILLED_AT[node]:
        assert (site.reservations(), listed(site)) == ([], [])
        assert [h["ended"] for h in listed(site, "--all")] == ["released"]
    else:
        assert site.reservations() == before
        assert "promised results are not safe" in done.stdout
        assert site.run("bb").returncode == 0
        assert site.content("bb") == expected()


def test_a_gate_that_waited_when_its_engine_was_killed(site: Site) -> None:
    """Another run holds all the room; the killed one waits for it for ever. What gc
    has given back is asked for again where the run goes on after all."""
    site.declare(quota="4MiB", capacity="3MiB")
    site.planned("first", *PERSISTENT)
    site.trouble.write_text("a.dat")
    assert site.run("first").returncode == 80
    submit = site.planned("bb", *PERSISTENT, "--bb-poll", "1s")
    engine = site.start_run("bb")
    log, gated = submit / "jobstate.log", "create_dir_diamond_0_cluster"
    assert wait_for_event(log, gated, "PRE_SCRIPT_STARTED", engine)
    [first, waits] = listed(site)
    assert (first["run"], first["state"]) == ("failed, data kept", "ready")
    assert (waits["run"], waits["label"]) == ("running", "diamond")
    assert "GIVEN BACK" not in site.bb("gc", "--yes", check=True).stdout
    kill(engine)
    while (found := listed(site))[1]["run"] == "running":
        time.sleep(0.1)
    assert (found[1]["state"], found[1]["site"]) == ("pending", "cluster")
    done = site.bb("gc", "--yes", "--json", check=True)
    verdicts = {one["name"]: one for one in json.loads(done.stdout)}
    assert verdicts[waits["name"]]["goes"]
    assert not verdicts[first["name"]]["goes"]
    assert site.reservations() == [first["name"]]
    site.bb("release", "--discard", first["name"], check=True)
    site.trouble.unlink()
    again = site.run("bb")
    assert again.returncode == 0, again.stderr
    assert (
        "was given back before any job had it; to run again: bb_setup" in again.stderr
    )
    assert site.content("bb") == expected()
    assert site.reservations() == []


def test_a_submit_directory_that_was_removed(site: Site) -> None:
    submit = site.planned("bb", *PERSISTENT)
    site.trouble.write_text("e.dat")
    assert site.run("bb").returncode == 80
    [name] = site.reservations()
    submit.rename(site.root / "moved")
    [found] = listed(site)
    assert (found["run"], found["state"]) == ("submit directory not here", "ready")
    assert found["next"] == [f"pegasus-bb release {name} --discard"]
    assert site.bb("gc", "--yes", check=True).stdout.startswith("KEPT")
    refused = site.bb("release", name)
    assert (refused.returncode, "not there any more" in refused.stderr) == (2, True)
    assert site.reservations() == [name]
    dropped = site.bb("release", name, "--discard")
    assert (dropped.returncode, site.reservations()) == (0, []), dropped.stderr
    assert listed(site) == []
    assert [h["ended"] for h in listed(site, "--all")] == ["discarded"]
