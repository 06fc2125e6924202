"""What killed runs leave behind: ls lists it, gc gives back what no run needs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pegasus_bb.run.engine.processes import end_left_over
from tests.support.user_site import Site, killed_when

from .test_kill import PERSISTENT


def listed(site: Site, *options: str) -> list[dict[str, Any]]:
    done = site.bb("ls", "--json", *options, check=True)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def test_a_submit_directory_that_was_removed(site: Site) -> None:
    submit = site.planned("bb", *PERSISTENT)
    site.trouble.write_text("e.dat")
    site.fails("bb")
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


@pytest.mark.parametrize(
    ("mode", "way"),
    [
        ("transient", "run"),
        pytest.param("transient", "release", marks=pytest.mark.sweep),
        pytest.param("hybrid", "gc", marks=pytest.mark.sweep),
    ],
)
def test_the_reservation_of_a_killed_job(site: Site, mode: str, way: str) -> None:
    """gc and release give it back, and the next run takes it over."""
    site.declare(granularity="1KiB")
    node, result = ("mix_E", "e.dat") if mode == "hybrid" else ("mix_A", "a.dat")
    begun = site.slow(60, result)
    folder = site.planned("bb", "--bb-mode", mode, "--bb-poll", "1s")
    killed_when(site, "bb", node, begun)
    shared = [site.request("bb")["name"]] if mode == "hybrid" else []
    (own,) = set(site.reservations()) - set(shared)
    told = site.bb("ls", check=True).stdout
    assert own in told and "not on this ledger" not in told
    assert site.bb("gc", "--yes").returncode == 0
    assert own in site.reservations(), "its task runs on"
    end_left_over(folder / "bb" / "engine.jsonl")  # as a reboot does
    if way == "gc":
        told = site.bb("gc", check=True).stdout
        assert "left by a job that was killed" in " ".join(told.split())
        site.bb("gc", "--yes", check=True)
        assert site.ledger()[-1]["event"] == "discarded"
    elif way == "release":
        site.bb("release", own, check=True)
    assert site.reservations() == shared + ([own] if way == "run" else [])
    site.write_task()
    site.finishes("bb")
    assert (folder / f"bb/stage_out/{node}.json").exists()
