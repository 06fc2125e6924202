"""One of examples/, its cluster the testbed's Slurm."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import yaml

from pegasus_bb.testbed.home import Home
from tests.testbed.condor_desk import PROJECT, Typist, behind_slurm, folder

SMALL = {
    "cybershake": "--points 200 --timesteps 200 --ruptures 4 --processes 1",
    "1000genome": "--rows 40 --chromosomes 1 --individuals-jobs 2 --populations EUR",
}


class Example(Typist):
    """As its generator makes it, in a small size."""

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

    def gives_what_it_gives_on_the_pfs(self, mode: str, seconds: float) -> None:
        """And leaves nothing there."""
        self.plan("bb", mode)
        self.plan("pfs", "off")
        run = self.start("bb")
        on_pfs = self.run_to_the_end("pfs", "--engine", "local")  # meanwhile
        done = run.end(seconds)
        assert on_pfs.status == 0, on_pfs.err
        assert done.status == 0, done.err
        assert "engine: dagman (a schedd takes jobs here)" in done.err
        assert self.content("bb") == self.content("pfs") != {}
        assert not _files_below(self.root / "pfs")


def _files_below(scratch: Path) -> list[str]:
    return [name for _, _, names in os.walk(scratch) for name in names]
