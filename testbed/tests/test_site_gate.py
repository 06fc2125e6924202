"""The gate on a real slurmctld: each answer is told apart, in the scheduler's words.

On 22.05: its testbed, without HTCondor, has less to do.
"""

from __future__ import annotations

import json
import os
import time
from typing import Any
from uuid import uuid4

import pytest
from pegasus_bb_testbed import site

from pegasus_bb.core.process import Finished
from pegasus_bb.core.units import MIB
from pegasus_bb.model.reservation import Request
from pegasus_bb.runtime.install import install_runtime
from testbed.tests.slurm_site import POOL, SlurmSite, on_slurm

pytestmark = [pytest.mark.site, on_slurm("22.05")]
USER = "wfuser"
REQUEST = Request(
    name="",
    backend="datawarp",
    capacity=100 * MIB,
    prefix="",
    uuid="",
    tier="bb",
    site="testbed",
    settings={"mount": "any", "timeout": "30s", "poll": "1s"},
)


class GatedRun:
    """A run's setup, gate and delete programs, started inside as DAGMan would."""

    def __init__(self, slurm: SlurmSite, name: str) -> None:
        self.slurm = slurm
        self.bb = slurm.work / "runs" / name / "bb"
        self.bb.mkdir(parents=True)
        install_runtime(str(self.bb), "/usr/bin/python3")
        # as in no ledger
        prefix = f"/bb/{name}"
        uuid = str(uuid4())
        self.request = REQUEST._replace(name=name, prefix=prefix, uuid=uuid)
        (self.bb / "request.json").write_text(json.dumps(self.request.to_json()))
        placement = {"version": 1, "files": {}, "outputs": {}, "prefix": prefix}
        placement["scratch"] = f"{prefix}/run"
        placement["pfs_scratch"] = str(slurm.work / "pfs")
        (self.bb / "placement.json").write_text(json.dumps(placement))
        for path in (self.bb.parent, self.bb):
            os.chown(path, site.USERS[USER], site.USERS[USER])

    def program(self, name: str) -> Finished:
        return self.slurm.run(USER, str(self.bb / "bin" / name))

    def asked(self) -> None:
        answer = self.program("setup")
        assert answer.status == 0, answer

    def gate(self) -> tuple[int, str]:
        """One poll: exit status and words."""
        answer = self.program("gate")
        return answer.status, " ".join((answer.out + answer.err).split())

    def final(self, seconds: float = 60.0) -> tuple[int, str]:
        """Poll as DAGMan does: the first answer that is not `not yet`."""
        until = time.monotonic() + seconds
        while True:
            status, words = self.gate()
            if status != 75:
                return status, words
            assert time.monotonic() < until, words
            time.sleep(0.3)

    def noted(self) -> Any:
        return json.loads((self.bb / "reservation.json").read_text())


def ready_run(slurm: SlurmSite, name: str) -> GatedRun:
    run = GatedRun(slurm, name)
    run.asked()
    assert run.final()[0] == 0
    return run


def test_a_slurm_without_the_plugin_fails_at_once(slurm: SlurmSite) -> None:
    run = ready_run(slurm, "gplugin")
    conf = slurm.home.root / "etc/slurm/slurm.conf"
    text = conf.read_text()
    site.stop_controller(slurm.home)
    try:
        conf.write_text(text.replace("BurstBufferType=", "#BurstBufferType="))
        site.must(slurm.home, ["/usr/sbin/slurmctld"])
        slurm.until(lambda: slurm.run("root", "sinfo").status == 0)
        status, words = run.gate()
    finally:
        conf.write_text(text)
        site.forget_jobs(slurm.home, POOL)
    assert (status, "no burst buffer" in words) == (76, True)


def test_a_buffer_that_slurm_has_not_read_back_is_not_gone(slurm: SlurmSite) -> None:
    """DataWarp answers a slurmctld that starts with nothing but its pools."""
    run = ready_run(slurm, "unread")
    slurm.ended(run.noted()["job"])  # else a restart of slurmctld would do it once more
    slurm.inject("show_sessions exit=1\nshow_instances exit=1\n")
    site.stop_controller(slurm.home)
    site.start_controller(slurm.home)
    assert "unread" not in slurm.buffers()
    status, said = run.gate()
    assert (status, "100.0 MiB of pool wlm_pool are in use" in said) == (75, True)
    assert run.program("delete").status == 78
    assert run.noted()["released_at"] is None
    slurm.inject("")
    site.stop_controller(slurm.home)
    site.start_controller(slurm.home)
    assert run.final()[0] == 0
    assert run.program("delete").status == 0
    assert "unread" not in slurm.buffers()
