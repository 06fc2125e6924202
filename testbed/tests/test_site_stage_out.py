"""Stage-out of a job's own reservation fails under DAGMan and Slurm.

With DataWarp Slurm keeps the job for ever, and HTCondor does not see its end. With
burst_buffer/lua Slurm gives the job up, and the staging service keeps its results: the
node waits for them as long as the run may wait.
"""

from __future__ import annotations

import json

import pytest
from pegasus_bb_testbed.home import Home

from pegasus_bb.runtime.job_reservation.planned import LANDING
from testbed.tests.lua_site import ON_EACH_PLUGIN
from testbed.tests.slurm_site import SlurmSite
from testbed.tests.workflow_runner import WorkflowRunner

pytestmark = [pytest.mark.site, ON_EACH_PLUGIN]
TRANSIENT = ("--bb-mode", "transient", "--cleanup", "none", "-Ddagman.retry=0")
WAIT = {"datawarp": (), "lua": ("--bb-wait", "10s")}
DROP = {
    "datawarp": "scancel --hurry {}",
    "lua": "scontrol show bbstat discard job={}",
}
IN_THE_WAY = {"datawarp": "File exists", "lua": "Not a directory"}


class BlockingRunner(WorkflowRunner):
    """While ``blocking`` is there, its task puts a file where its results go."""

    def __init__(self, home: Home) -> None:
        super().__init__(home, "never", 1)
        self.blocking = self.root / "blocking"
        landing = f"{self.root}/pfs/**/{LANDING}/mix_A"
        block = (
            f"import glob; [landing] = glob.glob({landing!r}, recursive=True)\n"
            f"if os.path.exists({str(self.blocking)!r}):\n"
            "    os.rmdir(landing); open(landing, 'w').close()"
        )
        task = self.root / "mix.py"
        task.write_text(task.read_text().replace("time.sleep(0.02)", block))

    def make_way(self) -> None:
        """For the next try; what the first one left cannot get there any more."""
        self.blocking.unlink()
        note = self.submit_dir("bb") / "bb/stage_out/mix_A.json"
        [landing] = (self.root / "pfs").rglob(f"{LANDING}/mix_A")
        landing.unlink()
        landing.mkdir()
        (landing / json.loads(note.read_text())["job"]).touch()
        self.give_to_user()


def test_a_stage_out_that_fails_fails_the_node_and_the_data_is_kept(
    submit_host: SlurmSite, home: Home
) -> None:
    runner = BlockingRunner(home)
    plugin = home.flavour.plugin
    submit = runner.planned("bb", *TRANSIENT, *WAIT[plugin])
    runner.blocking.touch()
    failed = runner.run_to_the_end("bb")
    assert failed.status == 80, failed.err
    assert "mix_A: its results did not come back" in failed.err
    [row] = submit_host.job_buffers()
    number = row.split("JobID=")[1].split()[0]
    drop = DROP[plugin].format(number)
    for said in (failed.err, (submit / "bb/stage_out/mix_A.err").read_text()):
        assert IN_THE_WAY[plugin] in said
        assert drop in said
    found = runner.ls()[f"job {number}"]
    assert found["state"] == "staging-out"
    assert "with the results of node mix_A" in found["message"]
    assert IN_THE_WAY[plugin] in found["message"]
    assert found["next"] == [drop]
    kept = runner.bb("gc", "--yes")
    assert "node mix_A is not done, so its results are nowhere else" in kept.out
    assert submit_host.job_buffers() == [row]
    runner.make_way()
    assert "mix_A" in runner.run_again("bb")  # it makes them again
    dropped = runner.bb("gc", "--yes", timeout=120.0)
    assert "GIVEN BACK  job" in dropped.out, dropped.out
    assert not submit_host.job_buffers()
    assert f"job {number}" not in runner.ls()
