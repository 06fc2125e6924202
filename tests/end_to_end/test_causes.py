"""A user whose run has failed follows its last lines, and nothing else: each cause of
the table ends in a finished run or a clean release."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.run.engine.causes import CAUSES
from tests.support.user_site import Site, done_well

from .cause_stories import INPUT, RELATIVES, RESULT, STORIES, mended


@pytest.fixture
def two_tasks(site: Site) -> Site:
    (site.root / "inputs" / "in.txt").write_bytes(INPUT)
    site.save("workflow.yml", _workflow())
    site.save("transformations.yml", _transformations(site.root))
    mended(site)
    return site


def _workflow() -> dict[str, Any]:
    def job(name: str, reads: str, writes: str, out: bool) -> dict[str, Any]:
        made = {"lfn": writes, "type": "output", "stageOut": out}
        uses = [{"lfn": reads, "type": "input"}, {**made, "registerReplica": False}]
        entry = {"type": "job", "name": name, "id": name.upper()}
        return {**entry, "arguments": ["a", reads, writes], "uses": uses}

    jobs = [job("a", "in.txt", "a.txt", False), job("b", "a.txt", "r.txt", True)]
    return {"pegasus": "5.0", "name": "two", "jobs": jobs}


def _transformations(root: Path) -> dict[str, Any]:
    """The first program is brought to the tier, the second is there."""
    programs = [
        {"name": "a", "sites": [{"name": "local", "pfn": f"{root}/a.sh"}]},
        {"name": "b", "sites": [{"name": "cluster", "pfn": f"{root}/b.sh"}]},
    ]
    programs[0]["sites"][0]["type"] = "stageable"  # type: ignore[index]
    programs[1]["sites"][0]["type"] = "installed"  # type: ignore[index]
    return {"pegasus": "5.0", "transformations": programs}


def test_every_cause_has_a_story() -> None:
    assert list(STORIES) == list(CAUSES)


@pytest.mark.parametrize(
    "cause",
    [*STORIES, *(pytest.param(each, marks=pytest.mark.sweep) for each in RELATIVES)],
)
def test_the_last_lines_of_a_failed_run_lead_to_its_end(
    two_tasks: Site, cause: str
) -> None:
    site = two_tasks
    story = {**STORIES, **RELATIVES}[cause]
    if story.tier:
        site.declare(**story.tier)
    if cause == "reservation_refused":
        site.declare(path=str(site.root / "mnt/fast"))
    story.breaks(site)
    how = ("--bb-mode", story.mode, *story.capacity, "-Ddagman.retry=0")
    site.planned("bb", *how, *story.options)
    story.after_planning(site)
    failed = site.run("bb")
    assert failed.returncode != 0 and story.said in failed.stderr, failed.stderr
    assert "is late" not in failed.stderr or cause == "deadline_passed"
    told = site.bb("status", str(site.submit_dir("bb"))).stdout
    assert commands(told, story.follows) == commands(failed.stderr, story.follows)
    story.mends(site)
    done = followed(site, failed.stderr, story.follows)
    assert done_well(done)
    assert site.content("bb") == {"r.txt": b"a of " + RESULT}
    assert site.reservations() == []
    if cause == "tier_full":
        assert site.request("bb")["capacity"] == 2 << 20


def followed(site: Site, said: str, label: str) -> subprocess.CompletedProcess[str]:
    """Type the commands that ``said`` has under ``label``, and what a plan prints."""
    done = None
    for command in commands(said, label):
        done = site.bb(*command, check=True)
        if command[0] == "plan":
            (run,) = re.findall(r"^  pegasus-bb (run .*)$", done.stdout, re.MULTILINE)
            done = site.bb(*shlex.split(run))
    assert done is not None, f"no line {label!r} in {said}"
    return done


def commands(said: str, label: str) -> list[list[str]]:
    """The arguments of each pegasus-bb command under ``label``."""
    found: list[list[str]] = []
    wanted = False
    for line in said.splitlines():
        if line[:1].strip():
            wanted = line.startswith(f"{label}:")
        typed = re.search(r"pegasus-bb ((?:run|plan|release) .*?)(?:   \(.*)?$", line)
        if wanted and typed:
            found.append(shlex.split(typed[1]))
    return found
