"""Job lists: a file is whole under its name, or not there, and is noted only then."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from functools import cache
from pathlib import Path
from typing import Any

from pegasus_bb.core.files import read_journal
from pegasus_bb.runtime.results_guard import ResultsGuard
from pegasus_bb.runtime.staging.folder_lfns import digest_path
from tests.support.forked import install_programs
from tests.support.job_lists import SCRATCH, folder, transfer
from tests.support.run_site import NODE, Site
from tests.support.web_server import WebServer, whole

from .sweep import Story, no_parts_below


class JobList(Story):
    """``launch transfer`` with a job list, as every transfer node runs it."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.site = Site(root)
        install_programs(self.site.bb)
        self.jobs = self.given()

    def given(self) -> list[dict[str, Any]]:
        raise NotImplementedError

    @property
    def argv(self) -> list[str]:
        # One thread, so that the n-th call is always the same.
        tool = [self.site.program("transfer"), "--threads", "1"]
        return [self.site.program("launch"), *tool]

    @property
    def stdin(self) -> bytes:
        return json.dumps(self.jobs).encode()

    @property
    def environ(self) -> dict[str, str]:
        return {**super().environ, "PEGASUS_DAG_JOB_ID": NODE}


def tree(path: Path) -> None:
    (path / "deep").mkdir(parents=True)
    (path / "deep" / "a").write_text("a")
    (path / "b").write_text("bb")
    (path / "link").symlink_to("b")


class StageIn(JobList):
    """A file, a folder, a link, a program, and one that lives on the PFS."""

    def given(self) -> list[dict[str, Any]]:
        pfs = self.site.pfs
        for name in ("file", "linked", "program", "home"):
            (pfs / name).write_text(f"{name} as it was")
        (pfs / "program").chmod(0o640)
        tree(pfs / "folder")
        places = {"file": "bb copy", "linked": "pfs link", "home": "pfs copy"}
        self.site.place({f"sub/{name}": how for name, how in places.items()})
        # Pegasus asks for links where source and scratch are of one site.
        asked = f"symlink://{SCRATCH}/./sub"
        jobs = [transfer(f"sub/{n}", pfs / n, f"{asked}/{n}") for n in places]
        jobs.append(transfer("folder", pfs / "folder", f"{SCRATCH}/sub/folder"))
        run = transfer("program", pfs / "program", f"{SCRATCH}/run", executable=True)
        return [*jobs, run]

    def check_left(self) -> None:
        place = self.site.scratch / "sub"
        for name in ("file", "linked", "home"):
            assert (self.site.pfs / name).read_text() == f"{name} as it was"
            if (place / name).exists():
                assert (place / name).read_text() == f"{name} as it was"
        if (self.site.scratch / "run").exists():
            text = (self.site.scratch / "run").read_text()
            assert text == "program as it was"
        if (place / "folder").exists():
            whole = digest_path(str(self.site.pfs / "folder"))
            assert digest_path(str(place / "folder")) == whole

    def check_done(self) -> None:
        self.check_left()
        place = self.site.scratch / "sub"
        found = sorted(entry.name for entry in place.iterdir())
        assert found == ["file", "folder", "home", "linked"]
        assert not (place / "file").is_symlink()
        assert (place / "linked").readlink() == self.site.pfs / "linked"
        home = self.site.pfs_scratch / "sub" / "home"
        assert (place / "home").readlink() == home
        assert os.access(self.site.scratch / "run", os.X_OK)
        no_parts_below(self.site.scratch, self.site.pfs)


_BODY = b"what the web server has" * 100


@cache
def web_server() -> WebServer:
    """One for all tries; it ends with the tests."""
    server = WebServer()
    server.answers = [whole(_BODY)]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class FromTheWeb(JobList):
    """A file of a web server, with the checksum that its catalog declares."""

    def given(self) -> list[dict[str, Any]]:
        digest = f"sha256:{hashlib.sha256(_BODY).hexdigest()}"
        url = web_server().url()
        run = transfer("run", url, f"{SCRATCH}/run", executable=True, checksum=digest)
        return [transfer("file", url, f"{SCRATCH}/sub/file"), run]

    def check_left(self) -> None:
        for path in (self.site.scratch / "run", self.site.scratch / "sub" / "file"):
            assert not path.exists() or path.read_bytes() == _BODY

    def check_done(self) -> None:
        self.check_left()
        assert (self.site.scratch / "sub" / "file").exists()
        assert os.access(self.site.scratch / "run", os.X_OK)
        no_parts_below(self.site.scratch)


class StageOut(JobList):
    """A file, a folder, one over an earlier try, one in the place of a link."""

    def given(self) -> list[dict[str, Any]]:
        site = self.site
        out = self.site.out
        tree(site.scratch / "folder")
        for name in ("file", "again", "linked"):
            (site.scratch / name).write_text(f"{name}: new")
        (out / "again").write_text("again: old")
        self.precious = site.pfs / "precious"
        self.precious.write_text("not ours")
        (out / "linked").symlink_to(self.precious)
        names = ("file", "folder", "again", "linked")
        site.place({}, {name: str(out / name) for name in names})
        return [transfer(n, f"{SCRATCH}/{n}", out / n) for n in names]

    def check_left(self) -> None:
        """A line stands in the manifest for what is whole, and for nothing else."""
        site = self.site
        assert self.precious.read_text() == "not ours"
        for name in ("file", "again", "linked"):
            assert (site.scratch / name).read_text() == f"{name}: new"
        assert not (site.out / "file").exists() or self.is_new("file")
        assert (site.out / "again").read_text() == "again: old" or self.is_new("again")
        assert (site.out / "linked").is_symlink() or self.is_new("linked")
        if (site.out / "folder").exists():
            assert self.is_new("folder")
        for line in read_journal(str(site.bb / "manifest.jsonl")):
            assert digest_path(line["dest"]) == line["digest"]
            assert self.is_new(line["lfn"])

    def is_new(self, name: str) -> bool:
        here = self.site.scratch / name
        there = self.site.out / name
        return digest_path(str(there)) == digest_path(str(here))

    def check_done(self) -> None:
        self.check_left()
        assert list(ResultsGuard(self.site.bbdir, read_all=True).unsafe()) == []
        assert sorted(p.name for p in self.site.out.iterdir()) == sorted(
            job["lfn"] for job in self.jobs
        )


class Folders(JobList):
    """create_dir: the scratch and its twin, both marked as this run's."""

    def given(self) -> list[dict[str, Any]]:
        self.site.scratch.rmdir()
        self.site.place({"home": "pfs write"})
        return [folder("mkdir", SCRATCH)]

    def check_left(self) -> None:
        """Never a folder that a later clean-up would take for another's."""

    def check_done(self) -> None:
        for made in (self.site.scratch, self.site.pfs_scratch):
            assert (made / ".pegasus_bb_scratch").read_text() == "run-1\n"


class CleanUp(JobList):
    """The scratch and its twin go; results, inputs and neighbours stay."""

    def given(self) -> list[dict[str, Any]]:
        site = self.site
        site.place({"home": "pfs write"})
        self.neighbour = site.real / "neighbour"
        self.neighbour.write_text("stays")
        for made in (site.scratch, site.pfs_scratch):
            made.mkdir(parents=True, exist_ok=True)
            (made / ".pegasus_bb_scratch").write_text("run-1\n")
            tree(made / "folder")
            (made / "way").symlink_to(site.pfs)
        (site.pfs / "in").write_text("stays")
        return [folder("remove", SCRATCH, recursive=True)]

    def check_left(self) -> None:
        assert self.neighbour.read_text() == "stays"
        assert (self.site.pfs / "in").read_text() == "stays"

    def check_done(self) -> None:
        self.check_left()
        assert not self.site.scratch.exists() and not self.site.pfs_scratch.exists()
        no_parts_below(self.site.fast, self.site.pfs)
