"""Inputs of other hosts come without pegasus-transfer, and as the catalog declares."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.forked import ended
from tests.support.job_lists import PREFIX, SCRATCH, Site, do, names, transfer
from tests.support.shebang import shebang
from tests.support.web_server import WebServer, cut, rest, serving, whole

BODY = b"input data" * 1000
GOOD = f"sha256:{hashlib.sha256(BODY).hexdigest()}"
BAD = f"sha256:{'0' * 64}"
HOLE = 64 << 20  # bytes


Tool = Callable[..., dict[str, str]]


def installed(site: Site, name: str, text: str) -> dict[str, str]:
    """An environment in which program ``name`` is this one."""
    path: Path = site.root / "tools" / name
    path.parent.mkdir()
    path.write_text(text)
    path.chmod(0o755)
    return {"PATH": f"{path.parent}:{os.environ['PATH']}"}


@pytest.fixture
def server() -> Iterator[WebServer]:
    with serving() as server:
        server.answers = [whole(BODY)]
        yield server


class TestWeb:
    @pytest.mark.parametrize("how", ["bb copy", "pfs copy"])
    def test_an_input_comes_as_it_is_placed(
        self, site: Site, server: WebServer, how: str
    ) -> None:
        site.place({"in.txt": how})
        server.answers = [cut(BODY, 700, ETag='"1"'), rest(BODY, ETag='"1"')]
        job = transfer("in.txt", server.url(), f"{SCRATCH}/in.txt", checksum=GOOD)
        done = do(site, job)
        ended(done)
        come = site.scratch / "in.txt"
        assert come.read_bytes() == BODY
        assert come.is_symlink() is (how == "pfs copy")
        assert stat.S_IMODE(come.stat().st_mode) == 0o644
        assert f"{len(BODY)} bytes to ".encode() in done.stdout
        assert server.ranges == [None, "bytes=700-"]

    def test_a_wrong_file_takes_no_name(self, site: Site, server: WebServer) -> None:
        job = transfer("in.txt", server.url(), f"{SCRATCH}/in.txt", checksum=BAD)
        done = do(site, job)
        assert done.returncode == 1
        for part in (server.url(), GOOD, BAD, "sha256sum FILE", "checking = none"):
            assert part.encode() in done.stderr
        assert names(site.scratch) == []

    def test_what_an_earlier_try_has_fetched_is_not_fetched_again(
        self, site: Site, server: WebServer
    ) -> None:
        dest = f"{SCRATCH}/run.sh"
        job = transfer("run.sh", server.url(), dest, checksum=GOOD, executable=True)
        for _ in range(2):
            ended(do(site, job))
            assert os.access(site.scratch / "run.sh", os.X_OK)
            (site.scratch / "run.sh").chmod(0o644)  # as if it was killed here
        assert len(server.seen) == 1
        (site.scratch / "run.sh").write_bytes(BODY + b"damaged")
        ended(do(site, job))
        assert (site.scratch / "run.sh").read_bytes() == BODY

    def test_an_input_of_the_user_is_not_replaced(
        self, site: Site, server: WebServer, given: Path
    ) -> None:
        lists = site.bb.parent / "stage_in_local_0.in"
        lists.write_text(json.dumps([transfer("in.txt", given, f"{PREFIX}/x")]))
        done = do(site, transfer("in.txt", server.url(), given))
        assert b"is an input of this workflow" in done.stderr
        assert given.read_text() == "input data"


class TestOtherSchemes:
    """What pegasus-transfer brings. In its place: notes how it was called."""

    @pytest.fixture
    def tool(self, site: Site) -> Tool:
        seen = site.root / "seen"
        text = f"""#!/bin/sh
cat > {seen}
[ -z "$PEGASUS_CREDENTIALS" ] || cat "$PEGASUS_CREDENTIALS" > {seen}.secret
"""
        return lambda does="": installed(site, "pegasus-transfer", text + does)

    def test_other_schemes_go_to_pegasus_transfer(
        self, site: Site, tool: Tool, given: Path
    ) -> None:
        near = transfer("in.txt", given, f"{SCRATCH}/in.txt")
        far = transfer("far", "http://host/far", f"{SCRATCH}/far")
        ended(do(site, near, far, **tool()))
        (seen,) = json.loads((site.root / "seen").read_text())
        assert seen["src_urls"][0]["url"] == "http://host/far"
        assert seen["dest_urls"][0]["url"] == f"file://{site.scratch}/far"
        assert (site.scratch / "in.txt").exists()

    def test_it_finds_the_credentials_that_came_with_the_job(
        self, site: Site, tool: Tool
    ) -> None:
        """pegasus-plan names them as if the job worked where it starts."""
        came_here = site.root / "dir_1"
        came_here.mkdir()
        (came_here / "credentials.conf").write_text("[me@host]")
        named = {"PEGASUS_CREDENTIALS": "credentials.conf"}
        far = transfer("far", "s3://me@host/far", f"{SCRATCH}/far")
        ended(do(site, far, _CONDOR_SCRATCH_DIR=str(came_here), **named, **tool()))
        assert (site.root / "seen.secret").read_text() == "[me@host]"

    def test_without_the_tool_scheme_and_file_are_named(
        self, site: Site, given: Path
    ) -> None:
        near = transfer("in.txt", given, f"{SCRATCH}/in.txt")
        far = transfer("far.dat", "s3://me@host/far", f"{SCRATCH}/far.dat")
        done = do(site, far, near)
        assert done.returncode == 1
        assert b"far.dat (s3://me@host/far" in done.stderr
        assert (site.scratch / "in.txt").exists()

    def test_what_belongs_on_the_pfs_comes_to_its_home(
        self, site: Site, tool: Tool
    ) -> None:
        site.place({"far": "pfs copy"})
        home = site.pfs_scratch / "far"
        home.parent.mkdir(parents=True)
        home.write_text("as if the tool had brought it")
        do(site, transfer("far", "http://h/far", f"{SCRATCH}/far"), **tool())
        (seen,) = json.loads((site.root / "seen").read_text())
        assert seen["dest_urls"][0]["url"] == f"file://{home}"
        assert str((site.scratch / "far").readlink()) == str(home)

    @pytest.mark.parametrize("checksum", [GOOD, BAD])
    def test_what_it_brings_is_checked_as_well(
        self, site: Site, tool: Tool, checksum: str
    ) -> None:
        come = site.scratch / "far"
        (site.root / "data").write_bytes(BODY)
        job = transfer("far", "http://host/far", f"{SCRATCH}/far", checksum=checksum)
        done = do(site, job, **tool(f"cp {site.root}/data {come}"))
        assert done.returncode == (checksum == BAD)
        assert come.exists() is (checksum == GOOD)
        assert "checksum" not in (site.root / "seen").read_text()


class TestScp:
    @pytest.fixture
    def scp(self, site: Site) -> dict[str, str]:
        """In the place of scp: notes its arguments and copies /far of this machine."""
        return installed(
            site,
            "scp",
            f"{shebang()}\nimport os, shutil, sys\n"
            f"open({str(site.root / 'seen')!r}, 'a').write(' '.join(sys.argv[1:]))\n"
            f"source = {str(site.root)!r} + sys.argv[-2].partition(':')[2]\n"
            "try: shutil.copyfile(source, sys.argv[-1])\n"
            "except OSError as error: sys.exit(str(error))\n",
        )

    def test_a_file_comes_without_a_shell_and_a_password(
        self, site: Site, scp: dict[str, str]
    ) -> None:
        (site.root / "far.dat").write_bytes(BODY)
        url = "scp://me@host.org:2222/far.dat"
        job = transfer("far", url, f"{SCRATCH}/far", checksum=GOOD)
        ended(do(site, job, **scp))
        assert (site.scratch / "far").read_bytes() == BODY
        words = (site.root / "seen").read_text().split()
        assert "-B" in words
        assert words[-4:-1] == ["2222", "--", "me@host.org:/far.dat"]

    @pytest.mark.parametrize(
        "url", ["scp://-oProxyCommand=x/f", "scp://h/a;b", "scp://h/$(x)", "scp://h"]
    )
    def test_what_a_shell_or_scp_would_misread_is_refused(
        self, site: Site, scp: dict[str, str], url: str
    ) -> None:
        done = do(site, transfer("far", url, f"{SCRATCH}/far"), **scp)
        assert b"not of the form scp://USER@HOST" in done.stderr
        assert not (site.root / "seen").exists()

    def test_what_scp_says_is_passed_on(self, site: Site, scp: dict[str, str]) -> None:
        done = do(site, transfer("far", "scp://h/gone", f"{SCRATCH}/far"), **scp)
        assert done.returncode == 1
        assert b"scp ended with 1: " in done.stderr
        assert b"No such file" in done.stderr
        assert names(site.scratch) == []


class TestDeclaredChecksums:
    """Of inputs with a path."""

    def bring(self, site: Site, source: Path, checksum: str) -> Any:
        dest = f"{SCRATCH}/in.txt"
        return do(site, transfer("in.txt", source, dest, checksum=checksum))

    @pytest.fixture
    def given(self, site: Site) -> Path:
        path: Path = site.pfs / "in.txt"
        path.write_bytes(BODY)
        return path

    @pytest.mark.parametrize("how", ["bb copy", "pfs copy", "pfs link"])
    def test_a_damaged_input_fails_with_both_digests(
        self, site: Site, given: Path, how: str
    ) -> None:
        site.place({"in.txt": how})
        done = self.bring(site, given, BAD)
        assert done.returncode == 1
        for part in (str(given), GOOD, BAD, "sha256sum FILE", "checking = none"):
            assert part.encode() in done.stderr
        assert not os.path.lexists(site.scratch / "in.txt")
        assert given.read_bytes() == BODY
        assert self.bring(site, given, GOOD).returncode == 0
        assert (site.scratch / "in.txt").read_bytes() == BODY

    def test_an_input_that_is_in_its_place_already_is_kept(
        self, site: Site, given: Path
    ) -> None:
        os.link(given, site.scratch / "in.txt")
        assert self.bring(site, given, BAD).returncode == 1
        assert (site.scratch / "in.txt").read_bytes() == BODY
