"""The workflows of examples/, small, for stories about whole runs of them."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.user_site import Site, done_well

EXAMPLES = Path(__file__).parents[2] / "examples"
GRANULE = "1KiB"  # small, as the files are: else no room, and no cut, would pay
SMALL = {
    "cybershake": "--points 200 --timesteps 200 --ruptures 4 --processes 1",
    "1000genome": "--rows 40 --chromosomes 1 --individuals-jobs 2 --populations EUR",
}


@dataclass
class Example(Site):
    """One of examples/, on a directory tier."""

    name: str = ""

    def write(self) -> None:
        generator = EXAMPLES / self.name / "workflow_generator.py"
        places = ["--output-dir", str(self.work), "--scratch", str(self.root / "pfs")]
        places += ["--tier-path", str(self.tier_path)]
        argv = [sys.executable, str(generator), *places, *SMALL[self.name].split()]
        subprocess.run(argv, check=True, capture_output=True)

    def declare(self, **tier: Any) -> None:
        sites = yaml.safe_load((self.work / "sites.yml").read_text())
        ((declared,),) = sites["x-storage-tiers"].values()
        declared.update(tier)
        self.save("sites.yml", sites)

    def planned(self, run: str, *more: str) -> Path:
        conf = ("--conf", "pegasus.properties", "--bb-poll", "1s")
        return super().planned(run, *conf, *more)


def example_of(name: str, root: Path) -> Example:
    """Skips where what its tasks or its generator need is not installed."""
    pytest.importorskip("numpy")
    pytest.importorskip("Pegasus.api")
    (root / name).mkdir()
    example = Example(root / name, name=name)
    example.declare(granularity=GRANULE)
    return example


def gives_what_it_gives_on_the_pfs(example: Example, *words: str) -> Path:
    """Runs it twice; the submit directory of the run that ``words`` describe."""
    example.planned("pfs", "--bb-mode", "off")
    submit = example.planned("bb", *words)
    for run in ("pfs", "bb"):
        assert done_well(example.run(run))
    assert example.content("bb") == example.content("pfs") != {}
    assert example.reservations() == []
    return submit
