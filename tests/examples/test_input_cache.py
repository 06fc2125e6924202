"""Both examples, with a cache on the node and without: the results are the same."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.report.run_folder import read_run

from .test_chains import bb, cybershake, genome


def results(folder: Path, workflow: Path, run: str, **keys: str) -> dict[str, str]:
    """The digests of a run on the node's disk; also small inputs may be shared."""
    here = folder / run
    disk = folder / "nvme"
    tier = {"name": "nvme", "backend": "node-local", "path": str(disk), **keys}
    sites = {"x-storage-tiers": {"cluster": [{**tier, "mount": "any"}]}}
    (folder / "tiers.yml").write_text(json.dumps(sites))
    own = ("--bb-mode", "transient", "--bb-tiers", "tiers.yml", "--bb-copy-below", "0")
    there = ("--sites", "cluster", "--output-dir", str(here), "--dir", "submit")
    words = ("--bb-planner", "builtin", *there, "--relative-submit-dir", run)
    bb(folder, "plan", *own, *words, str(workflow))
    bb(folder, "run", f"submit/{run}")
    files = [path for path in here.rglob("*") if path.is_file()]
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


@pytest.mark.parametrize(
    ("generate", "entries"),
    [
        pytest.param(genome, 1, id="genome"),
        pytest.param(cybershake, 0, id="cybershake", marks=pytest.mark.sweep),
    ],
)
def test_results_are_the_same_with_a_cache(
    tmp_path: Path, generate: Any, entries: int
) -> None:
    """The two jobs of the CyberShake example share no input."""
    workflow = generate(tmp_path)
    (tmp_path / "nvme").mkdir(mode=0o755)
    plain = results(tmp_path, workflow, "plain")
    assert plain
    assert list((tmp_path / "nvme").iterdir()) == []
    assert results(tmp_path, workflow, "cached", cache="1GiB") == plain
    assert bool(read_run(tmp_path / "submit/cached").cached) == bool(entries)
    left = [path.name.split(".")[0] for path in (tmp_path / "nvme").iterdir()]
    assert left == ["pegasus_bb-cache"] * entries
