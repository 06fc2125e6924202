"""An emulated DataWarp in a folder, called as Slurm calls it: with an argv."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pegasus_bb_testbed import testbed
from pegasus_bb_testbed.datawarp.install import install
from pegasus_bb_testbed.datawarp.place import Place, Pool
from pegasus_bb_testbed.datawarp.program import dw_wlm_cli
from pegasus_bb_testbed.home import DEFAULT, Home
from pegasus_bb_testbed.sharing import find_installed, share_ourselves, share_pegasus

from testbed.tests.lua_site import LuaSite
from testbed.tests.shared_testbed import turn, up, what_is_missing
from testbed.tests.slurm_site import SlurmSite as SlurmSite
from testbed.tests.workflow_runner import SHOWN
from tests.support.forked import served

MIB = 1 << 20
UID = os.getuid()
GID = os.getgid()


class Dw:
    """The hands of Slurm on an emulated DataWarp."""

    def __init__(self, root: Path) -> None:
        pools = [Pool("wlm_pool", MIB, 1024), Pool("small", 4 * MIB, 2)]
        self.place: Place = install(root / "dw", pools, python=sys.executable)
        self.program = str(root / "dw" / "bin" / "dw_wlm_cli")
        self.root = root
        self.path_file = root / "path"

    def inject(self, lines: str) -> None:
        """It fails, or takes its time, as these lines say."""
        self.place.injected_faults.write_text(lines)

    def start(self, function: str, *options: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.program, "--function", function, *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="surrogateescape",
        )

    def run(self, *argv: str) -> subprocess.CompletedProcess[str]:
        return served(dw_wlm_cli, self.place, argv)

    def call(self, function: str, *options: str) -> tuple[int, str]:
        """Exit status, and both outputs in one, as Slurm reads them."""
        done = self.run("--function", function, *options)
        return done.returncode, done.stdout + done.stderr

    def good(self, function: str, *options: str) -> str:
        status, said = self.call(function, *options)
        assert status == 0, said
        return said

    def refused(self, function: str, *options: str) -> str:
        status, said = self.call(function, *options)
        assert status == 1, said
        assert "Traceback" not in said
        return said

    def create(self, name: str, size: int = 100 * MIB, uid: int = UID) -> str:
        return self.good(*self.create_words(name, size, uid))

    def create_words(
        self, name: str, size: int = 100 * MIB, uid: int = UID
    ) -> tuple[str, ...]:
        """The argv of tests/recorded/slurm-24.11."""
        words = f"create_persistent -c CLI -t {name} -u {uid} -C wlm_pool:{size}"
        return (*words.split(), "-a", "striped", "-T", "scratch")

    def script(self, *directives: str) -> str:
        path = self.root / f"script{len(list(self.root.iterdir()))}"
        path.write_text("\n".join(["#!/bin/bash", *directives, "true", ""]))
        return str(path)

    def setup(self, job: str, script: str, size: int | str = 0) -> str:
        words = f"--token {job} --caller SLURM --user {UID} --groupid {GID}"
        return self.good(
            "setup", *words.split(), "--capacity", f"wlm_pool:{size}", "--job", script
        )

    def paths(self, job: str, script: str) -> dict[str, str]:
        file = self.path_file
        said = self.good(
            "paths", "--job", script, "--token", job, "--pathfile", str(file)
        )
        assert said == ""
        return dict(line.split("=", 1) for line in file.read_text().splitlines())

    def run_job(self, job: str, script: str, size: int | str = 0) -> dict[str, str]:
        """Up to where the job itself runs."""
        self.setup(job, script, size)
        self.good("data_in", "--token", job, "--job", script)
        environ = self.paths(job, script)
        self.good("pre_run", "--token", job, "--job", script)
        return environ

    def end_job(self, job: str, script: str) -> None:
        for function in ("post_run", "data_out", "teardown"):
            self.good(function, "--token", job, "--job", script)

    def show(self, what: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.good(f"show_{what}"))[what]
        return found

    def tokens(self) -> list[str]:
        return [str(session["token"]) for session in self.show("sessions")]

    def free(self, pool: str = "wlm_pool") -> int:
        pools = json.loads(self.good("pools"))["pools"]
        [free] = [entry["free"] for entry in pools if entry["id"] == pool]
        return int(free)


@pytest.fixture
def dw(tmp_path: Path) -> Dw:
    return Dw(tmp_path)


@pytest.fixture(scope="module")
def home(request: pytest.FixtureRequest) -> Iterator[Home]:
    """A testbed that is up, built where it has to be; else skipped by name.

    Its parameter is a Flavour.
    """
    home = Home(getattr(request, "param", DEFAULT))
    missing = what_is_missing(home)
    if missing:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(missing)
    with turn(home):
        fresh = up(home)
        try:
            yield home
        finally:
            if fresh:
                testbed.down(home)


@pytest.fixture(scope="module")
def python_inside(home: Home) -> None:
    """This very Python and package are seen inside, and no earlier runs."""
    shutil.rmtree(home.work / "dagman-tests", ignore_errors=True)
    share_ourselves(home)


@pytest.fixture(scope="module")
def planners(home: Home, python_inside: None) -> None:
    """The Pegasus of this machine is seen inside, where there is one."""
    if SHOWN is not None:
        share_pegasus(home, find_installed(SHOWN.bin, os.environ))


def site_of(home: Home) -> SlurmSite:
    return LuaSite(home) if home.flavour.plugin == "lua" else SlurmSite(home)


@pytest.fixture(scope="module")
def slurm(home: Home) -> SlurmSite:
    """Slurm with nothing in it when the module's first test begins."""
    return site_of(home)


@pytest.fixture
def submit_host(home: Home, python_inside: None) -> Iterator[SlurmSite]:
    """Slurm and HTCondor with nothing in them."""
    site = site_of(home)
    try:
        yield site
    finally:
        site.run("root", "condor_rm", "-all")
