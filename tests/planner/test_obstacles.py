"""All mistakes are told at once, in the order in which to mend them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pegasus_bb.cli.plan_options import options_of
from pegasus_bb.planner import obstacles
from tests.support.user_site import Site

WORDS = ("--sites", "cluster", "--output-sites", "local", "--bb-mode", "persistent")


@pytest.fixture
def wrong(tmp_path: Path) -> Site:
    """A site where a program, a site and the configuration are wrong."""
    site = Site(tmp_path)
    with site.edited("workflow.yml") as workflow:
        workflow["jobs"][0]["name"] = "unheard-of"
        workflow["jobs"][1]["stdin"] = "nowhere.txt"
    return site


@pytest.mark.parametrize("command", ["plan", "explain"])
def test_each_is_told_with_its_place(wrong: Site, command: str) -> None:
    words = ("--staging-site", "elsewhere", *WORDS)
    done = wrong.bb(command, *words, "workflow.yml")
    assert done.returncode == 2
    said = done.stderr.splitlines()
    (head,) = (line for line in said if "obstacles" in line)
    assert head.endswith("3 obstacles, in the order in which to mend them")
    first, second, third = (line for line in said if line[:2] in ("1.", "2.", "3."))
    assert "--staging-site elsewhere" in first
    assert "unheard-of" in second
    assert "workflow.yml:" in third
    assert "stdin of job" in third


def test_check_has_a_line_for_each(wrong: Site) -> None:
    done = wrong.bb("check", "--staging-site", "elsewhere", *WORDS, "workflow.yml")
    assert done.returncode == 2
    lines = [line for line in done.stdout.splitlines() if line.startswith("no ")]
    assert len(lines) == 3


@pytest.mark.parametrize("command", ["plan", "explain", "check"])
def test_values_of_jobs_that_no_submit_file_can_have_are_told_at_once(
    tmp_path: Path, command: str
) -> None:
    site = Site(tmp_path)
    with site.edited("workflow.yml") as workflow:
        first, second, *_ = workflow["jobs"]
        first["profiles"] = {"env": {"A": "two\nlines"}}
        second["profiles"] = {"condor": {"queue": "3"}}
        second["arguments"] = ['open"quote']
    done = site.bb(command, *WORDS, "workflow.yml")
    assert done.returncode == 2
    said = done.stdout + done.stderr
    for mistake in ("env A has a line break", "condor profile queue", "not closed"):
        assert said.count(mistake) == 1, said


def test_of_many_mistakes_twenty_are_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site(tmp_path)
    with site.edited("workflow.yml") as workflow:
        job = workflow["jobs"][0]
        one = {**job, "arguments": ['open"quote'], "uses": []}
        workflow["jobs"] += [{**one, "id": f"X{number}"} for number in range(60)]
    asked: list[str] = []
    words = ("--sites", "cluster", "--bb-mode", "off", str(site.work / "workflow.yml"))
    options = options_of(words, site.work)
    real = obstacles.task_words
    monkeypatch.setattr(
        obstacles, "task_words", lambda *args: asked.append(args[1]) or real(*args)
    )
    assert len(obstacles.find_obstacles(options)) == 20
    assert asked[-1] == "X19"


def test_a_place_of_a_history_that_the_site_lacks_is_refused(tmp_path: Path) -> None:
    site = Site(tmp_path)
    words = (*WORDS, "--bb-history", "bc=submit/run0001", "workflow.yml")
    done = site.bb("plan", *words)
    assert done.returncode == 2
    assert "the site has no tier bc; one of pfs, bb" in done.stderr


def test_a_misspelt_site_is_one_mistake(tmp_path: Path) -> None:
    words = ("--sites", "cluster", "--output-sites", "lokal", "--bb-mode", "off")
    done = Site(tmp_path).bb("plan", *words, "workflow.yml")
    assert done.returncode == 2
    assert "obstacles" not in done.stderr
    assert "lokal" in done.stderr
