"""Stage-out of a job's own reservation fails under DAGMan and Slurm."""

from __future__ import annotations

import pytest

from pegasus_bb.testbed.home import Home
from tests.testbed.slurm_site import SlurmSite
from tests.testbed.workflow_runner import WorkflowRunner

pytestmark = [pytest.mark.site]
TRANSIENT = ("--bb-mode", "transient", "--cleanup", "none")


def test_a_stage_out_that_fails_fails_the_node_and_slurm_keeps_the_data(
    submit_host: SlurmSite, home: Home
) -> None:
    runner = WorkflowRunner(home, "never", 1)
    submit = runner.planned("bb", *TRANSIENT, "-Ddagman.retry=0")
    with submit_host.injected("data_out says=dwsd: no route to the PFS\n"):
        failed = runner.run_to_the_end("bb")
    assert failed.status == 80, failed.err
    said = (submit / "bb/stage_out/mix_A.err").read_text()
    assert "no route to the PFS" in said
    assert "mix_A: its results did not come back" in failed.err
    assert "no route to the PFS" in failed.err
    [row] = submit_host.job_buffers()
    number = row.split("JobID=")[1].split()[0]
    assert f"scancel --hurry {number}" in said
    found = runner.ls()[f"job {number}"]
    assert found["state"] == "staging-out"
    assert "with the results of node mix_A" in found["message"]
    assert "no route to the PFS" in found["message"]
    assert found["next"] == [f"scancel --hurry {number}"]
    kept = runner.bb("gc", "--yes")
    assert "node mix_A is not done, so its results are nowhere else" in kept.out
    assert submit_host.job_buffers() == [row]
    assert "mix_A" in runner.run_again("bb")  # it makes them again
    dropped = runner.bb("gc", "--yes", timeout=120.0)
    assert "GIVEN BACK  job" in dropped.out, dropped.out
    assert not submit_host.job_buffers()
    assert f"job {number}" not in runner.ls()
