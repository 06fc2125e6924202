"""Both examples, on the burst buffer under DAGMan at the same time, and on the PFS."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pegasus_bb.testbed.home import Home
from tests.testbed.condor_desk import PROJECT, Typist, behind_slurm, folder
from tests.testbed.site_hands import Site

pytestmark = [pytest.mark.site, pytest.mark.slow]
SMALL = {
    "cybershake": "--points 200 --timesteps 200 --ruptures 4 --processes 1",
    "1000genome": "--rows 40 --chromosomes 1 --individuals-jobs 2 --populations EUR",
}


class Example(Typist):
    """One of examples/, its cluster the testbed's Slurm."""

    def __init__(self, home: Home, name: str) -> None:
        self.home, self.root = home, folder(home) / name
        work = self.root / "work"
        generator = PROJECT / "examples" / name / "workflow_generator.py"
        places = ["--output-dir", str(work), "--scratch", str(self.root / "pfs")]
        argv = [sys.executable, str(generator), *places, *SMALL[name].split()]
        subprocess.run(argv, check=True, capture_output=True)
        sites = yaml.safe_load((work / "sites.yml").read_text())
        (work / "sites.yml").write_text(yaml.safe_dump(behind_slurm(sites)))
        self.belongs_to_the_user()

    def plan(self, run: str, mode: str) -> None:
        self.planned(run, "--conf", "pegasus.properties", "--bb-mode", mode)

    def content(self, run: str) -> dict[str, bytes]:
        found = self.results(run)
        files = (path for path in found.rglob("*") if path.is_file())
        return {str(path.relative_to(found)): path.read_bytes() for path in files}


def test_two_workflows_at_once_give_what_they_give_on_the_pfs(
    submit_host: Site, home: Home
) -> None:
    examples = [Example(home, name) for name in SMALL]
    runs = []
    for example in examples:
        example.plan("bb", "persistent")
        example.plan("pfs", "off")
        runs.append(example.start("bb"))
    for example in examples:  # meanwhile
        done = example.run_to_the_end("pfs", "--engine", "local")
        assert done.status == 0, done.err
    for example, run in zip(examples, runs, strict=True):
        done = run.end(600)
        assert done.status == 0, done.err
        assert "engine: dagman" in done.err
        assert example.content("bb")
        assert example.content("bb") == example.content("pfs")
        assert not left_in(example.root / "pfs")
    assert not submit_host.buffers()
    report = examples[1]
    words = (
        "--pfs",
        str(report.submit_dir("pfs")),
        "--bb",
        str(report.submit_dir("bb")),
    )
    said = report.bb("report", *words)
    assert said.status == 0, said.err


def left_in(scratch: Path) -> list[str]:
    """Files that stayed on the PFS."""
    return [name for _, _, names in os.walk(scratch) for name in names]
