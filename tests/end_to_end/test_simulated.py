"""A user asks for the report of runs that never happen."""

from __future__ import annotations

import json

import pytest

from tests.support.user_site import Site

from .test_predicted import FAST, SLOW, speeds


def simulate(site: Site, *more: str) -> str:
    said = ("simulate", "--sites", "cluster", "--output-sites", "local", *more)
    done = site.bb(*said)
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


def test_a_simulated_run_is_reported_as_a_measured_one(site: Site) -> None:
    speeds(site, pfs=SLOW, bb=FAST)
    said = simulate(site, "--mode", "persistent", "--seeds", "2", "--html", "page.html")
    assert "BB run 2: " in said and ", simulated, mode persistent" in said
    assert "== simulated: who waits for what in mode persistent" in said
    assert "WARNING: these runs are simulated: nothing was run." in said
    page = (site.work / "page.html").read_text()
    assert 'class="headline">Simulated: the burst buffer' in page
    assert not (site.work / "submit").exists()


def test_the_same_seeds_print_the_same_bytes(site: Site) -> None:
    speeds(site, pfs=SLOW, bb=FAST)
    more = ("--mode", "off", "--mode", "transient", "--seeds", "3", "--json")
    once, again = simulate(site, *more), simulate(site, *more)
    assert once == again
    document = json.loads(once)
    assert document["simulated"] is True
    assert list(document["comparisons"]) == ["transient"]
    runs = document["comparisons"]["transient"]["runs"]
    assert [len(runs[side]) for side in ("pfs", "bb")] == [3, 3]
    assert {run["simulated"] for side in runs.values() for run in side} == {True}
    assert {each["name"] for each in document["waits"]["off"]} >= {"stage_in"}


def test_a_trace_has_the_times_of_every_node(site: Site) -> None:
    speeds(site, pfs=SLOW, bb=FAST)
    said = json.loads(simulate(site, "--json", "--trace", "trace.jsonl"))
    lines = (site.work / "trace.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    assert {each["mode"] for each in events} == {"off", "persistent"}
    for each in events:
        keys = ("ready", "executing", "terminated", "ended")
        times = [each[key] for key in keys if each[key] is not None]
        assert times == sorted(times)
    jobs = sum(each["jobs"] for each in said["waits"]["off"])
    assert sum(each["mode"] == "off" for each in events) == jobs


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--mode", "fast"), "--mode fast: one of off, persistent, transient, hybrid"),
        (("--seeds", "0"), "'--seeds': 0 is not in the range"),
        ((), "simulate compares how long a run would take, and no speeds are declared"),
    ],
)
def test_a_mistake_is_named(site: Site, more: tuple[str, ...], message: str) -> None:
    done = site.bb("simulate", "--sites", "cluster", "--output-sites", "local", *more)
    assert done.returncode == 2
    assert message in done.stderr


def test_more_runs_than_memory_holds_are_refused(site: Site) -> None:
    speeds(site, pfs=SLOW, bb=FAST)
    words = ("--sites", "cluster", "--output-sites", "local", "--seeds", "99999")
    done = site.bb("simulate", *words)
    assert done.returncode == 2
    assert "--seeds 99999: 199,998 runs of " in done.stderr
    assert "this workflow can have " in done.stderr
