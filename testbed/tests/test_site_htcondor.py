"""HTCondor in the testbed: the pool runs jobs of each user, blahp waits for Slurm."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from pegasus_bb_testbed import site

from testbed.tests.slurm_site import SlurmSite

pytestmark = [pytest.mark.site]
VANILLA = """\
universe = vanilla
request_memory = 10
executable = /usr/bin/id
transfer_executable = false
arguments = -un
output = {user}.out
log = {user}.log
queue
"""


@pytest.mark.parametrize("user", site.USERS)
def test_a_job_of_each_user_runs_in_the_pool(slurm: SlurmSite, user: str) -> None:
    submit = slurm.work / f"{user}.sub"
    submit.write_text(VANILLA.format(user=user))
    assert slurm.run(user, "condor_submit", str(submit)).status == 0
    log = str(slurm.work / f"{user}.log")
    assert slurm.run(user, "condor_wait", "-wait", "50", log).status == 0
    assert (slurm.work / f"{user}.out").read_text() == f"{user}\n"


def test_a_busy_controller_is_waited_for(slurm: SlurmSite) -> None:
    """Its job may be taken after sbatch gave up, and would then be held for ever."""
    submit = "/usr/libexec/blahp/slurm_submit.sh"
    with ThreadPoolExecutor() as pool:
        try:
            slurm.run("root", "pkill", "-STOP", "-x", "slurmctld")
            asked = pool.submit(slurm.run, "wfuser", submit, "-c", "/bin/true")
            time.sleep(8)
            assert not asked.done()
        finally:
            slurm.run("root", "pkill", "-CONT", "-x", "slurmctld")
        answer = asked.result(timeout=60)
    assert (answer.status, "slurm/" in answer.out) == (0, True), answer
