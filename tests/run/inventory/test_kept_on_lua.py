"""Results of jobs that the staging service of slurm-lua could not stage out."""

from __future__ import annotations

import json
import os

import pytest

from tests.run.inventory.conftest import OneRun, Runs, drops_what_its_next_try_brought
from tests.support.lua_bench import LuaBench, bench

__all__ = ["bench"]
NUMBER = 7
WORDS = "flash://job.7/results: /lus/out: Disk quota exceeded"


@pytest.fixture
def run(runs: Runs, bench: LuaBench) -> OneRun:
    run = runs.run()
    keep(bench, run.loses_its_results("slurm-lua", NUMBER))
    return run


def keep(bench: LuaBench, dest: str) -> None:
    """The service has the results of the job that are to go there."""
    row = {"job": NUMBER, "uid": os.getuid(), "size": 8 << 20, "created": 1.7e9}
    row |= {"path": "/bb/job.7", "dests": [dest], "message": WORDS}
    (bench.folder / "kept.json").write_text(json.dumps([row]))


def test_ls_lists_kept_results_with_the_message_of_the_service(run: OneRun) -> None:
    found = run.held()
    assert (found.backend, found.size) == ("slurm-lua", 8 << 20)
    assert found.message == (
        f"kept by the staging service, with the results of node work: {WORDS}"
    )
    assert found.next == (f"scontrol show bbstat discard job={NUMBER}",)


def test_gc_drops_kept_results_once_the_node_ran_again(
    run: OneRun, bench: LuaBench
) -> None:
    kept = bench.folder / "kept.json"
    drops_what_its_next_try_brought(run, lambda: kept.read_text() != "[]")
