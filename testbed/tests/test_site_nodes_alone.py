"""A pool without a shared scratch: each node has a disk, and HTCondor brings inputs and
takes results back."""

from __future__ import annotations

from typing import Any

import pytest
from pegasus_bb_testbed.home import Home

from testbed.tests.slurm_site import ON_SECOND
from testbed.tests.test_site_unseen_submit_dir import UnseenRunner, look_around, unseen
from tests.support.user_site import expected

__all__ = ["unseen"]
pytestmark = [pytest.mark.site, ON_SECOND]
TRANSIENT = ("--bb-mode", "transient")


class AloneRunner(UnseenRunner):
    def _sites(self) -> dict[str, Any]:
        sites = super()._sites()
        row = {"name": "disk", "backend": "node-local", "path": "$_CONDOR_SCRATCH_DIR"}
        row |= {"mount": "any", "submit_dir": "local", "request": "request_disk={kib}"}
        sites["x-storage-tiers"] = {"cluster": [row]}
        return sites


def test_files_come_and_go_with_jobs_and_chains(unseen: Home) -> None:
    runner = AloneRunner(unseen, "alone")
    look_around(runner)
    runner.planned("bb", *TRANSIENT, "--bb-chains", "on")
    assert "engine: dagman" in runner.run_well("bb").err
    assert runner.content("bb") == expected()
    notes = {path.stem for path in runner.submit_dir("bb").glob("bb/stage_out/*.json")}
    assert notes == {"mix_A", "mix_B", "mix_C", "merge_mix_chain1_ID1"}
