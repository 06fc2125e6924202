"""A buffer that ends behind Slurm's back; on one Slurm: it takes over a minute.

On 22.05: its testbed, without HTCondor, has less to do.
"""

from __future__ import annotations

import json

import pytest

from pegasus_bb.testbed import site
from tests.testbed.gated import GatedRun
from tests.testbed.slurm_site import SlurmSite, on_slurm

pytestmark = [pytest.mark.site, on_slurm("22.05")]


def test_a_buffer_that_vanishes_in_datawarp_is_gone_for_the_gate(
    slurm: SlurmSite,
) -> None:
    """What an administrator, or a broken server, does; Slurm notices by itself."""
    run = GatedRun(slurm, "fragile")
    run.asked()
    assert run.final()[0] == 0
    program = f"{site.DATAWARP}/bin/dw_wlm_cli"
    words = ["--function", "teardown", "--token", "fragile", "--job", "/dev/null"]
    assert slurm.run("root", program, *words).status == 0
    slurm.until(lambda: "fragile" not in slurm.buffers(), seconds=120)
    status, said = run.final()  # the pool's free space may follow some seconds later
    assert (status, "was up and is gone" in said) == (76, True)


def test_a_buffer_that_slurm_has_not_read_back_is_not_gone(slurm: SlurmSite) -> None:
    """DataWarp answers a slurmctld that starts with nothing but its pools."""
    run = GatedRun(slurm, "unread")
    run.asked()
    assert run.final()[0] == 0
    noted = json.loads((run.bb / "reservation.json").read_text())
    slurm.ended(noted["job"])  # else a restart of slurmctld would do it once more
    slurm.inject("show_sessions exit=1\nshow_instances exit=1\n")
    site.stop_controller(slurm.home)
    site.start_controller(slurm.home)
    assert "unread" not in slurm.buffers()
    status, said = run.gate()
    assert (status, "100.0 MiB of pool wlm_pool are in use" in said) == (75, True)
    assert run.program("delete").status == 78
    noted = json.loads((run.bb / "reservation.json").read_text())
    assert noted["released_at"] is None
    slurm.inject("")
    site.stop_controller(slurm.home)
    site.start_controller(slurm.home)
    assert run.final()[0] == 0
    assert run.program("delete").status == 0
    assert "unread" not in slurm.buffers()
