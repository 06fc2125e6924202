"""A job on its own reservation, and the way back of its results."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

from pegasus_bb.core.files import read_json
from pegasus_bb.report.run_notes import jobs_on_pfs
from tests.support.forked import install_programs
from tests.support.hybrid_site import BELOW, PREFIX, HybridSite
from tests.support.job_reservation_site import JOB, NODE, JobSite, digest

from .sweep import Story, no_parts_below

MADE = {"out.txt": "input\n", "sub/more.txt": "input\n"}


def noted(site: JobSite) -> dict[str, Any]:
    """The results that this try says it has made; none where it says nothing."""
    try:
        note = read_json(str(site.bb / "stage_out" / f"{NODE}.json"))
    except FileNotFoundError:
        return {}
    return dict(note["files"])


class Job(Story):
    """A task with two results, one of them a link to the other."""

    backend = "directory"
    errors = (errno.ENOSPC, errno.EIO, errno.EDQUOT)
    task = (
        "cat in.txt > out.txt; ln -sf ../out.txt sub/more.txt; cat in.txt > pfs-out.txt"
    )

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.site = self.planned(root)
        install_programs(self.site.bb)

    def planned(self, root: Path) -> JobSite:
        return JobSite(root, self.backend)

    @property
    def planned_scratch(self) -> str:
        return str(self.site.scratch)

    @property
    def argv(self) -> list[str]:
        record = [str(self.site.bb / "bin/record"), "-w", self.planned_scratch]
        launch = str(self.site.bb / "bin/launch")
        return [launch, *record, "/bin/sh", "-e", "-c", self.task]

    @property
    def environ(self) -> dict[str, str]:
        known = {"PEGASUS_DAG_JOB_ID": NODE, "CONDOR_JOBID": JOB}
        return {**super().environ, "PATH": "/usr/bin:/bin", **known, **self.site.space}

    def results(self) -> Path:
        return self.site.landing

    def check_left(self) -> None:
        """What is noted is there, and nothing has its name yet."""
        assert (self.site.inputs / "in.txt").read_text() == "input\n"
        assert not (self.site.scratch / "out.txt").exists()
        for lfn, said in noted(self.site).items():
            assert said == {"size": 6, "digest": digest(MADE[lfn].encode())}
            assert (self.results() / lfn).read_text() == MADE[lfn]

    def check_done(self) -> None:
        self.check_left()
        assert noted(self.site).keys() == MADE.keys()
        assert (self.site.scratch / "pfs-out.txt").read_text() == "input\n"
        no_parts_below(self.results())
        self.check_tier()

    def check_tier(self) -> None:
        """The reservation was given back, and the ledger knows."""
        assert self.site.own_reservations() == []
        assert self.ledger()[-1] == "released"


class JobOfDataWarp(Job):
    """Whose space the batch system makes and takes away."""

    backend = "datawarp"

    def results(self) -> Path:
        return self.site.fast / "results" / JOB

    def check_tier(self) -> None:
        assert (self.site.fast / "results").is_dir()


class JobOnADisk(Job):
    """Of its node. An older try was killed there."""

    backend = "node-local"

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        older = self.site.fast / f"pegasus_bb.{os.uname().nodename}.pbbolder.6.0"
        (older / "run").mkdir(parents=True)
        (older / "run" / "out.txt").write_text("half a res")

    def check_tier(self) -> None:
        """Nothing is left, and the task did not work on the PFS."""
        assert list(self.site.fast.iterdir()) == []
        assert jobs_on_pfs(self.site.bb.parent) == ((), ())


class JobWithACache(JobOnADisk):
    """Other jobs read its input, too. An older job was killed while it brought one."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.site.fast.chmod(0o755)
        self.site.declare(cache="10")
        self.site.reserve(shared={"in.txt": ""})
        self.cache = (
            self.site.fast / f"pegasus_bb-cache.{os.uname().nodename}.{os.geteuid()}"
        )
        (self.cache / "older.6.part" / "new").mkdir(parents=True)
        self.cache.chmod(0o700)

    def check_left(self) -> None:
        """A copy that has its name is whole."""
        super().check_left()
        for copy in self.cache.glob("*/in.txt"):
            assert copy.read_text() == "input\n" or not copy.with_name(".note").exists()

    def check_tier(self) -> None:
        """One is there, unless the job had to do without the cache."""
        assert list(self.site.fast.iterdir()) == [self.cache]
        assert jobs_on_pfs(self.site.bb.parent) == ((), ())
        assert len(list(self.cache.glob("*/in.txt"))) <= 1
        assert {file.read_text() for file in self.cache.rglob("*.txt")} <= {"input\n"}


class EvacuatingJob(Job):
    """Its task fails and leaves a checkpoint, which takes the place of an older one;
    its folder is kept."""

    backend = "node-local"
    ends = 3
    task = "cat in.txt > state.new; mv state.new state; echo log > log; exit 3"

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        plan = {"within": 30, "every": 0, "keep": True}
        self.site.reserve(checkpoints=["state"], evacuation=plan)
        (self.site.scratch / "state").write_text("older\n")

    def check_left(self) -> None:
        """The checkpoint is one or the other, and what has its name is whole."""
        assert (self.site.scratch / "state").read_text() in ("older\n", "input\n")
        for folder in self.kept():
            texts = [path.read_text() for path in folder.rglob("*") if path.is_file()]
            whole = {"older\n", "input\n", "log\n", "on the PFS\n"}
            assert not set(texts) - whole - {""}  # a file that the task left empty

    def kept(self) -> list[Path]:
        return list((self.site.bb / "failed").glob("[!.]*.[0-9]*[!n]"))

    def check_done(self) -> None:
        self.check_left()
        assert (self.site.scratch / "state").read_text() == "input\n"
        assert any((folder / "log").exists() for folder in self.kept())
        no_parts_below(self.site.bb / "failed")
        assert list(self.site.scratch.rglob("*.saving")) == []
        assert list(self.site.fast.iterdir()) == []


class SharingJob(Job):
    """Mode hybrid: a result that others read goes to the reservation of all jobs."""

    task = f"{Job.task}; cat in.txt > shared.txt"

    def planned(self, root: Path) -> HybridSite:
        self.there = HybridSite(root, self.backend)
        return self.there

    @property
    def planned_scratch(self) -> str:
        return f"{PREFIX}/{BELOW}"

    @property
    def environ(self) -> dict[str, str]:
        return {**super().environ, **self.there.mounts}

    def check_left(self) -> None:
        """With the note there is what is shared, and links to what comes back."""
        super().check_left()
        shared = self.there.shared / "shared.txt"
        if shared.exists() or noted(self.site):
            assert shared.read_text() == "input\n"
        for lfn in noted(self.site):
            way = self.there.shared / lfn
            assert way.readlink() == self.site.scratch / lfn

    def check_done(self) -> None:
        super().check_done()
        assert self.there.text("shared.txt") == "input\n"
        assert self.there.text("pfs-out.txt") == "input\n"
        no_parts_below(self.there.shared)


class AwaitStageOut(Story):
    """The POST script, when all results have arrived."""

    errors = ()

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.site = JobSite(root, "datawarp")
        install_programs(self.site.bb)
        (self.site.bb / "stage_out").mkdir()
        files = {
            n: {"size": 6, "digest": digest(text.encode())} for n, text in MADE.items()
        }
        note = {"job": JOB, "status": 0, "slurm": "", "source": "/dw", "files": files}
        self.site.write(f"stage_out/{NODE}.json", note)
        for lfn, text in MADE.items():
            file = self.site.landing / lfn
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        (self.site.scratch / "out.txt").write_text("of an older try\n")

    @property
    def argv(self) -> list[str]:
        landed = str(self.site.bb / "bin/await_stage_out")
        return [landed, NODE, JOB, "0", "/bin/sh", "-c", "exit 0"]

    def check_left(self) -> None:
        """Each result is whole, under its name or where it has arrived."""
        for lfn, text in MADE.items():
            places = (self.site.scratch / lfn, self.site.landing / lfn)
            assert text in [p.read_text() for p in places if p.exists()]

    def check_done(self) -> None:
        for lfn, text in MADE.items():
            assert (self.site.scratch / lfn).read_text() == text
        assert not self.site.landing.parent.exists()
        assert not (self.site.bb / "stage_out" / f"{NODE}.wait.json").exists()


class PrivateJob(Job):
    """The space is the batch system's, what is in it was brought by launch."""

    backend = "datawarp/private"

    def check_tier(self) -> None:
        """Slurm gives it back, and the ledger knows nothing of it."""
        assert [p.name for p in self.site.fast.iterdir()] == ["run"]
        assert self.ledger() == []
