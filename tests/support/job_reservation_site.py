"""One job with a reservation of its own: on a directory tier, or as DataWarp has it."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

from pegasus_bb.model.reservation import Request
from pegasus_bb.runtime.bbdir import BBDir
from pegasus_bb.runtime.job_reservation.planned import landing_of
from tests.support import forked

NODE = "work_ID0000001"
JOB = "7.0"


def digest(text: bytes) -> str:
    return "sha256:" + hashlib.sha256(text).hexdigest()


class JobSite:
    """The task reads in.txt and makes out.txt and sub/more.txt; pfs-in.txt and
    pfs-out.txt live on the PFS."""

    def __init__(self, root: Path, backend: str) -> None:
        self.root, self.bb = root, root / "submit" / "bb"
        self.fast, self.scratch = root / "fast", root / "pfs" / "run0001"
        self.cwd = self.scratch  # where jobs start
        self.backend = backend  # such as datawarp, or datawarp/private
        backend, _, access = backend.partition("/")
        for folder in (self.bb / "nodes", self.fast, self.scratch):
            folder.mkdir(parents=True)
        settings = {"path": str(self.fast), "mount": "any"}
        request = Request(
            name="pbbrun1",
            backend=backend,
            access=access or "striped",
            capacity=4 << 20,
            prefix=str(self.scratch),
            uuid="run1",
            tier="bb",
            site="cori",
            wait=3600,
            settings=settings,
        )
        self.write("transient.json", request.to_json())
        self._reservation: dict[str, Any] = {}
        self.reserve(
            job="ID0000001",
            capacity=4 << 20,
            stage_in=["in.txt"],
            stage_out=["out.txt", "sub/more.txt"],
            read=["pfs-in.txt"],
            write=["pfs-out.txt"],
        )
        (self.scratch / "in.txt").write_text("input\n")
        (self.scratch / "pfs-in.txt").write_text("on the PFS\n")
        if self.backend == "datawarp":  # what Slurm has done before the job starts
            (self.fast / "run").mkdir()
            (self.fast / "run" / "in.txt").write_text("input\n")

    def write(self, name: str, data: Any) -> None:
        (self.bb / name).write_text(json.dumps(data))

    def reserve(self, **said: Any) -> None:
        self._reservation.update(said)
        data = {"version": 2, "reservation": self._reservation}
        self.write(f"nodes/{NODE}.json", data)

    def declare(self, **settings: str) -> None:
        """What the tier says."""
        known = self.bbdir.transient().to_json()
        settings = {"path": str(self.fast), "mount": "any", **settings}
        self.write("transient.json", {**known, "settings": settings})

    def wait(self, seconds: int) -> None:
        known = json.loads((self.bb / "transient.json").read_text())
        self.write("transient.json", {**known, "wait": seconds})

    @property
    def inputs(self) -> Path:
        return self.scratch

    @property
    def bbdir(self) -> BBDir:
        return BBDir(str(self.bb))

    @property
    def landing(self) -> Path:
        return Path(landing_of(str(self.scratch), NODE, JOB))

    @property
    def note(self) -> Any:
        return json.loads((self.bb / "stage_out" / f"{NODE}.json").read_text())

    @property
    def space(self) -> dict[str, str]:
        if not self.backend.startswith("datawarp"):
            return {}
        return {f"DW_JOB_{self.bbdir.transient().access.upper()}": str(self.fast)}

    def launch(
        self, script: str, *argv: str, **environ: str
    ) -> subprocess.CompletedProcess[bytes]:
        self.install()
        words = [*self._launch(script), "sh", *argv]
        return forked.program(words, self.cwd, {**self._environ, **environ})

    def start(self, script: str, **environ: str) -> subprocess.Popen[str]:
        """The same in the background, with programs that are real."""
        self.install()
        return subprocess.Popen(
            self._launch(script),
            env={**self._environ, **environ},
            cwd=self.scratch,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            text=True,
        )

    def _launch(self, script: str) -> list[str]:
        return [str(self.bb / "bin" / "launch"), "sh", "-c", script]

    @property
    def _environ(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "PEGASUS_BB_LEDGER": str(self.root / "ledger.jsonl"),
            "PEGASUS_DAG_JOB_ID": NODE,
            "CONDOR_JOBID": JOB,
            **self.space,
        }

    def own_reservations(self) -> list[str]:
        return [p.name for p in self.fast.iterdir() if p.is_dir()]

    def install(self) -> None:
        if not (self.bb / "bin").exists():
            forked.install_programs(self.bb)

    def stage_out(self) -> None:
        """What DataWarp does after the job, from the folder form of #DW stage_out."""
        for file in (self.fast / "results").rglob("*"):
            dest = self.landing.parent / file.relative_to(self.fast / "results")
            if file.is_file():
                dest.parent.mkdir(parents=True, exist_ok=True)
                dest.write_bytes(file.read_bytes())
