"""A run in the testbed that has a reservation: its setup, gate and delete programs."""

from __future__ import annotations

import json
import os
import shutil
import time
from dataclasses import replace
from typing import Any
from uuid import uuid4

from pegasus_bb.model.reservation import Request
from pegasus_bb.process import Finished
from pegasus_bb.runtime.install import install_runtime
from pegasus_bb.testbed import site
from pegasus_bb.units import MIB
from tests.testbed.slurm_site import SlurmSite

USER = "wfuser"
_REQUEST = Request(
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
    """Its programs run inside, as DAGMan and blahp would start them."""

    def __init__(self, slurm: SlurmSite, name: str, **changes: Any) -> None:
        self.slurm, self.name = slurm, name
        self.bb = slurm.work / "runs" / name / "bb"
        shutil.rmtree(self.bb.parent, ignore_errors=True)
        self.bb.mkdir(parents=True)
        install_runtime(str(self.bb), "/usr/bin/python3")
        words = {
            "name": name,
            "prefix": f"/bb/{name}",
            "uuid": str(uuid4()),
        }  # as in no ledger
        self.request = replace(_REQUEST, **{**words, **changes})
        self._json("request.json", self.request.to_json())
        places = {"scratch": f"/bb/{name}/run", "pfs_scratch": str(slurm.work / "pfs")}
        nothing: dict[str, Any] = {"version": 1, "files": {}, "outputs": {}}
        self._json("placement.json", {**nothing, "prefix": f"/bb/{name}", **places})
        for path in (self.bb.parent, self.bb):
            os.chown(path, site.USERS[USER], site.USERS[USER])

    def _json(self, name: str, data: Any) -> None:
        (self.bb / name).write_text(json.dumps(data))

    def allow(self, wait: int) -> None:
        """From now on the gate waits for so many seconds."""
        self._json("request.json", replace(self.request, wait=wait).to_json())

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
