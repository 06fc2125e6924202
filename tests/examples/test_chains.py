"""Both examples, with chains and without: the results are the same."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support import forked

from .genomes import generator as genomes
from .test_cybershake import generate as generate_cybershake


def cybershake(folder: Path) -> Path:
    generate_cybershake(folder, processes=1, scratch=folder / "pfs")
    return folder / "workflow.yml"


def genome(folder: Path) -> Path:
    """One chromosome, whose jobs wait for no other."""
    options = genomes.Options(folder, 1, 2, 20, ("GBR",), scratch=folder / "pfs")
    return Path(genomes.generate(options))


def bb(folder: Path, *words: str) -> Any:
    environ = {**os.environ, "PEGASUS_BB_LEDGER": str(folder / "ledger.jsonl")}
    done = forked.pegasus_bb(list(words), folder, environ)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def results(
    folder: Path, workflow: Path, run: str, *options: str, **keys: str
) -> dict[str, str]:
    """The digests of a run on the node's disk, a tier with these ``keys``."""
    here = folder / run
    tier = {"name": "nvme", "backend": "node-local", "path": str(folder / "nvme")}
    sites = {"x-storage-tiers": {"cluster": [{**tier, **keys, "mount": "any"}]}}
    (folder / "tiers.yml").write_text(json.dumps(sites))
    own = ("--bb-mode", "transient", "--bb-tiers", "tiers.yml", *options)
    there = ("--sites", "cluster", "--output-dir", str(here), "--dir", "submit")
    words = ("--bb-planner", "builtin", *there, "--relative-submit-dir", run)
    bb(folder, "plan", *own, *words, str(workflow))
    bb(folder, "run", f"submit/{run}")
    files = [path for path in here.rglob("*") if path.is_file()]
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def with_chains(
    folder: Path, workflow: Path, chains: str, *more: str
) -> dict[str, str]:
    found = results(folder, workflow, chains, "--bb-chains", chains, *more)
    assert list((folder / "nvme").iterdir()) == []
    return found


@pytest.mark.parametrize(
    ("generate", "chains"),
    [
        pytest.param(cybershake, 1, id="cybershake"),
        pytest.param(genome, 1, id="genome", marks=pytest.mark.sweep),
    ],
)
def test_results_are_the_same_with_chains(
    tmp_path: Path, generate: Any, chains: int
) -> None:
    workflow = generate(tmp_path)
    (tmp_path / "nvme").mkdir()
    plain = with_chains(tmp_path, workflow, "off")
    assert plain
    known = ("--bb-history", "submit/off")
    assert with_chains(tmp_path, workflow, "on", *known) == plain
    nodes = [path.stem for path in (tmp_path / "submit/on/bb/nodes").iterdir()]
    assert (
        sum(name.startswith("merge_") and "chain" in name for name in nodes) == chains
    )
