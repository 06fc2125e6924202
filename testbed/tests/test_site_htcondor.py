"""HTCondor in the testbed: the pool runs jobs of each user, blahp waits for Slurm."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from testbed.tests.slurm_site import SlurmSite

pytestmark = [pytest.mark.site]


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
