"""Spaces of jobs whose results Slurm could not stage out: ls names them, gc keeps what
is nowhere else."""

from __future__ import annotations

import pytest

from pegasus_bb.run.inventory.leftovers import give_back, leftovers
from tests.run.inventory.conftest import OneRun, Runs, drops_what_its_next_try_brought
from tests.support.datawarp_bench import DataWarpBench, bench

__all__ = ["bench"]
NUMBER = 7
WORDS = "burst_buffer/datawarp: data_out: dwsd: no route"


@pytest.fixture
def run(runs: Runs, bench: DataWarpBench) -> OneRun:
    run = runs.run()
    stuck(bench, run.loses_its_results("datawarp", NUMBER))
    return run


def stuck(bench: DataWarpBench, destination: str, words: str = WORDS) -> None:
    """Slurm has the job in its queue, with its space."""
    line = f"#DW jobdw capacity=8388608\n#DW stage_out destination={destination}"
    job = {"id": NUMBER, "name": "bl_7", "comment": "", "line": line, "waited": 0}
    state = {"state": "STAGE_OUT", "reason": "None", "priority": 1, "made": True}
    uid = bench.backend.uid
    bench.change(jobs=[{**job, **state, "uid": uid, "comment_of_system": words}])


def job_state(bench: DataWarpBench) -> str:
    return str(bench.read()["jobs"][0]["state"])


def test_ls_lists_a_stuck_stage_out_with_the_message_of_slurm(run: OneRun) -> None:
    found = run.held()
    assert (found.state, found.size) == ("staging-out", 8 << 20)
    assert found.run == "failed"
    assert found.message == f"kept by Slurm, with the results of node work: {WORDS}"
    assert found.submit_dir == str(run.submit)
    assert found.next == (f"scancel --hurry {NUMBER}",)


def test_results_that_are_nowhere_else_are_kept(
    run: OneRun, bench: DataWarpBench
) -> None:
    verdict = run.verdict()
    assert not verdict.goes
    assert "node work is not done, so its results are nowhere else" in verdict.why
    assert f"pegasus-bb run {run.submit}" in verdict.why
    assert not give_back(verdict).goes
    assert job_state(bench) == "STAGE_OUT"


def test_gc_drops_a_stuck_space_once_the_node_ran_again(
    run: OneRun, bench: DataWarpBench
) -> None:
    drops_what_its_next_try_brought(run, lambda: job_state(bench) == "STAGE_OUT")
    assert job_state(bench) == "COMPLETED"


def test_a_number_given_again_is_another_job(run: OneRun, bench: DataWarpBench) -> None:
    stuck(bench, f"{run.root}/pfs/.pegasus_bb_landing/work2")
    run.has_its_results()
    verdict = run.verdict()
    assert (verdict.goes, "given the number once more" in verdict.why) == (False, True)


def test_gc_keeps_the_space_of_an_unknown_run(runs: Runs, bench: DataWarpBench) -> None:
    stuck(bench, "/lus/of/another/ledger")
    [verdict] = leftovers()
    assert (verdict.record.name, verdict.goes) == (f"job {NUMBER}", False)
    assert "of a run that this ledger does not know" in verdict.why
    assert WORDS in verdict.why
