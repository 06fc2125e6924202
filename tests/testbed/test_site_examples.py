"""Workflows under DAGMan at once: both examples, and one that fails halfway."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

from pegasus_bb.engine.journal import read_history
from pegasus_bb.testbed.home import Home
from tests.testbed.condor_desk import (
    PERSISTENT,
    PLANNERS,
    PROJECT,
    Desk,
    Typist,
    behind_slurm,
    expected,
    folder,
)
from tests.testbed.site_hands import Site

pytestmark = [pytest.mark.site, pytest.mark.slow]
SMALL = {
    "cybershake": "--points 200 --timesteps 200 --ruptures 4 --processes 1",
    "1000genome": "--rows 40 --chromosomes 1 --individuals-jobs 2 --populations EUR",
}


class Example(Typist):
    """One of examples/, its cluster the testbed's Slurm."""

    def __init__(self, home: Home, name: str, planner: str) -> None:
        self.home, self.root = home, folder(home, planner) / name
        self.planner = planner
        work = self.root / "work"
        generator = PROJECT / "examples" / name / "workflow_generator.py"
        places = ["--output-dir", str(work), "--scratch", str(self.root / "pfs")]
        argv = [sys.executable, str(generator), *places, *SMALL[name].split()]
        subprocess.run(argv, check=True, capture_output=True)
        sites = yaml.safe_load((work / "sites.yml").read_text())
        (work / "sites.yml").write_text(
            yaml.safe_dump(behind_slurm(sites, self.planner))
        )
        self.belongs_to_the_user()

    def plan(self, run: str, mode: str) -> None:
        self.planned(run, "--conf", "pegasus.properties", "--bb-mode", mode)

    def content(self, run: str) -> dict[str, bytes]:
        found = self.results(run)
        files = (path for path in found.rglob("*") if path.is_file())
        return {str(path.relative_to(found)): path.read_bytes() for path in files}


@pytest.mark.parametrize("planner", PLANNERS)
def test_three_runs_at_once_each_come_to_their_own_end(
    submit_host: Site, home: Home, planner: str, planners: None
) -> None:
    with ThreadPoolExecutor() as stories:
        told = [
            stories.submit(gives_what_it_gives_on_the_pfs, home, name, planner)
            for name in SMALL
        ]
        told += [
            stories.submit(fails_halfway_and_goes_on_later, submit_host, home, planner)
        ]
        for story in told:
            story.result(timeout=600)
    assert not submit_host.buffers()


def gives_what_it_gives_on_the_pfs(home: Home, name: str, planner: str) -> None:
    example = Example(home, name, planner)
    example.plan("bb", "persistent")
    example.plan("pfs", "off")
    run = example.start("bb")
    on_pfs = example.run_to_the_end("pfs", "--engine", "local")  # meanwhile
    done = run.end(400)
    assert on_pfs.status == 0, on_pfs.err
    assert done.status == 0, done.err
    assert "engine: dagman (a schedd takes jobs here)" in done.err
    assert example.content("bb")
    assert example.content("bb") == example.content("pfs")
    assert not left_in(example.root / "pfs")
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
    before = read_history(submit / "jobstate.log").events
    mended = desk.run_to_the_end("bb")
    assert mended.status == 0, mended.err
    again = read_history(submit / "jobstate.log").events[len(before) :]
    ran = {event.node for event in again if event.event == "SUBMIT"}
    assert "mix_A" not in ran
    assert "mix_B" in ran
    assert desk.content("bb") == expected(jobs=2)
    assert name not in submit_host.buffers()


def left_in(scratch: Path) -> list[str]:
    """Files that stayed on the PFS."""
    return [name for _, _, names in os.walk(scratch) for name in names]
