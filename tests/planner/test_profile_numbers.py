"""An odd amount in a profile is refused where it stands, by plan, explain and check."""

from __future__ import annotations

from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.support.user_site import Site, done_well

WORDS = ("--sites", "cluster", "--output-sites", "local", "--bb-mode")
ODD = [
    ("nodes", "abc", "nodes is a whole number, 1 or more"),
    ("nodes", 0, "nodes is a whole number, 1 or more"),
    ("cores", 0, "cores is a whole number, 1 or more"),
    ("runtime", "abc", "runtime is a whole number"),
    ("runtime", -1, "runtime is a whole number"),
]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def said(
    site: Site,
    file: str,
    number: int,
    profiles: dict[str, object],
    *,
    command: str = "explain",
    mode: str = "persistent",
) -> CompletedProcess[str]:
    """What a command says where an entry of ``file`` has these pegasus profiles."""
    kind = {"workflow.yml": "jobs"}.get(file, "transformations")
    with site.edited(file) as document:
        document[kind][number]["profiles"] = {"pegasus": profiles}
    return site.bb(command, *WORDS, mode, "workflow.yml")


@pytest.mark.parametrize(("key", "value", "what"), ODD)
@pytest.mark.parametrize("command", ["plan", "explain"])
def test_of_a_transformation(
    site: Site, command: str, key: str, value: object, what: str
) -> None:
    done = said(site, "transformations.yml", 0, {key: value}, command=command)
    assert done.returncode == 2
    (line,) = (line for line in done.stderr.splitlines() if what in line)
    assert "transformations.yml:" in line
    assert f"transformations.0.profiles.pegasus.{key}\n" in done.stderr


def test_check_names_the_same_place(site: Site) -> None:
    odd: dict[str, object] = {"nodes": "abc"}
    how = {"command": "check", "mode": "transient"}
    done = said(site, "transformations.yml", 0, odd, **how)
    assert done.returncode == 2
    assert "key: transformations.0.profiles.pegasus.nodes\n" in done.stdout


def test_of_a_job(site: Site) -> None:
    done = said(site, "workflow.yml", 1, {"runtime": "soon"})
    assert done.returncode == 2
    assert "jobs.1.profiles.pegasus.runtime\n" in done.stderr


def test_blanks_around_a_number_say_nothing(site: Site) -> None:
    done = said(site, "workflow.yml", 0, {"runtime": " 60 "})
    assert done_well(done)
