"""Slurm's part of the service, while hooks and scontrol ask it for something."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from .attend import attend
from .sweep import Story

SOURCES = Path(__file__).parents[2]
ATTEND = Path(__file__).with_name("attend.py")
JOB = 7
DIRECTIVES = """
#BB_LUA jobbb capacity=2MiB pool=flash
#BB_LUA persist store Genomes size=3MiB
#BB_LUA stage_in lustre://in job://in
#BB_LUA stage_out job://out lustre://out
"""
ME = os.getuid()


class OfTheService(Story):
    """The hooks ``earlier`` were heeded; then ``hooks`` were noted, in this order."""

    earlier: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    polled: tuple[str, ...] = ()  # asked again where a call has failed
    errors = (errno.ENOSPC, errno.EDQUOT)  # a job fails where a disk fails
    words = ("disk I/O error", "unable to open database", "is full")  # SQLite's

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.noted = self.day = 0  # of the clock that tells when
        for folder in ("lustre", "var", "bb"):
            (root / folder).mkdir()
        (root / "lustre" / "in").write_text("an input")
        self.serve()
        for hook in self.earlier:
            self.note(hook)
            self.serve()
            if hook == "data_in":
                (self.bb / "job.7" / "out").write_text("a result")
        self.before()
        self.day = 9_000_000_000
        for hook in self.hooks:
            self.note(hook)

    def before(self) -> None:
        """What else happened so far."""

    @property
    def argv(self) -> list[str]:
        return [sys.executable, "-S", str(ATTEND), str(self.root)]

    @property
    def environ(self) -> dict[str, str]:
        return {**super().environ, "PYTHONPATH": str(SOURCES)}

    @property
    def bb(self) -> Path:
        return self.root / "bb"

    @property
    def result(self) -> Path:
        return self.root / "lustre" / "out"

    def serve(self) -> None:
        assert attend(str(self.root)) == 0

    def note(self, what: str) -> None:
        """As burst_buffer.lua does: a hook of the job, or words for scontrol."""
        self.noted += 1
        verb, *words = what.split()
        do = "status" if words else verb
        head = [f"do={do}", f"uid={ME}", f"gid={ME}", f"job={JOB}", "bell=0"]
        head += [f"arg={word}" for word in what.split()]
        text = "\n".join(head) + "\n\n" + ("" if words else DIRECTIVES)
        requests = self.root / "spool" / "requests"
        (requests / f"{self.day + self.noted:010}.0.{do}").write_text(text)

    def buffers(self) -> list[dict[str, Any]]:
        return self.records("Buffer")

    def jobs(self) -> dict[str, str]:
        """The states of all records."""
        jobs = self.records("SlurmJob")
        return {job["folder"]: job["state"] for job in jobs}

    def records(self, kind: str) -> list[dict[str, Any]]:
        query = "SELECT record FROM records WHERE kind = ?"
        with closing(sqlite3.connect(self.root / "var" / "tasks.sqlite")) as found:
            return [json.loads(row[0]) for row in found.execute(query, (kind,))]

    def free(self) -> int:
        """Granules, as Slurm is told."""
        [pool] = json.loads((self.root / "spool" / "pools").read_text())["pools"]
        return int(pool["free"])

    def folders(self) -> list[str]:
        return sorted(path.name for path in self.bb.iterdir())

    def check_left(self) -> None:
        """Those that were told to ask again do."""
        if self.traced.status >= 0:
            for hook in self.polled:
                self.note(hook)


class BufferIsMade(OfTheService):
    hooks = polled = ("create name=data capacity=3MiB uuid=u1",)

    def check_done(self) -> None:
        [buffer] = self.buffers()
        assert (buffer["state"], buffer["uuid"]) == ("ready", "u1")
        assert (self.folders(), self.free()) == (["data"], 7)


class BufferIsDeleted(OfTheService):
    """Another one has waited for its room."""

    hooks = polled = ("delete name=data",)

    def before(self) -> None:
        self.note("create name=data capacity=8MiB uuid=u1")
        self.note("create name=next capacity=6MiB uuid=u2")
        self.serve()
        (self.bb / "data" / "some").touch()

    def check_done(self) -> None:
        [buffer] = self.buffers()
        assert (buffer["name"], buffer["state"]) == ("next", "ready")
        assert (self.folders(), self.free()) == (["next"], 4)


class JobIsStagedIn(OfTheService):
    hooks = ("data_in",)
    polled = ("data_in",)

    def check_done(self) -> None:
        assert self.jobs() == {"job.7": "staged-in"}
        assert (self.bb / "job.7" / "in").read_text() == "an input"
        assert (self.folders(), self.free()) == (["Genomes", "job.7"], 5)


class JobIsStagedOut(OfTheService):
    """Slurm calls teardown when it sees the results at their place."""

    earlier = ("data_in", "pre_run")
    hooks = ("data_out", "teardown")

    def check_left(self) -> None:
        super().check_left()
        places = (self.result, self.bb / "job.7" / "out")
        assert "a result" in [path.read_text() for path in places if path.exists()]

    def check_done(self) -> None:
        assert self.jobs() == {}
        assert self.result.read_text() == "a result"
        assert (self.folders(), self.free()) == (["Genomes"], 7)


class JobIsGivenUp(JobIsStagedOut):
    """scancel while it runs: its results are kept, saved, and no more kept."""

    hooks = ("teardown",)


class NumberComesAgain(JobIsGivenUp):
    """Slurm has forgotten the job without a teardown, and its results cannot be
    saved."""

    hooks = ("data_in",)
    polled = ("data_in",)

    def before(self) -> None:
        self.result.mkdir()

    def check_left(self) -> None:
        super(JobIsStagedOut, self).check_left()
        assert (self.bb / "job.7" / "out").read_text() == "a result"

    def check_done(self) -> None:
        assert (self.bb / "job.7" / "out").read_text() == "a result"
        assert self.jobs() == {"job.7.2": "staged-in", "job.7": "kept"}
        assert (self.folders(), self.free()) == (["Genomes", "job.7", "job.7.2"], 3)


class KeptResultsAreDiscarded(OfTheService):
    earlier = ("data_in", "pre_run")
    hooks = polled = ("discard job=7",)

    def before(self) -> None:
        self.result.mkdir()
        self.note("teardown")
        self.serve()

    def check_done(self) -> None:
        assert self.jobs() == {}
        assert (self.folders(), self.free()) == (["Genomes"], 7)
