"""`pegasus-bb check` where Slurm has burst_buffer/lua: whole, and with each fault."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pegasus_bb_testbed import lua
from pegasus_bb_testbed.home import Home

from testbed.tests.lua_site import ON_LUA
from testbed.tests.slurm_site import SlurmSite
from testbed.tests.test_site_check import Checked, buffers_configured

pytestmark = [pytest.mark.site, ON_LUA]
OLD_SCONTROL = """#!/bin/sh
[ "$*" = --version ] && echo slurm 23.11.4 || exec /usr/bin/scontrol "$@"
"""


@contextmanager
def file_with(path: Path, text: str, mode: int = 0o644) -> Iterator[None]:
    """``path`` has that text, and then again what it had, if it was there."""
    before = path.read_text() if path.exists() else None
    path.write_text(text)
    path.chmod(mode)
    try:
        yield
    finally:
        if before is None:
            path.unlink()
        else:
            path.write_text(before)


@contextmanager
def hooks_with(slurm: SlurmSite, old: str, new: str) -> Iterator[None]:
    path = slurm.home.root / "etc/slurm/burst_buffer.lua"
    with file_with(path, path.read_text().replace(old, new)):
        yield


@contextmanager
def old_slurm(slurm: SlurmSite) -> Iterator[None]:
    path = slurm.home.root / "usr/local/bin/scontrol"
    with file_with(path, OLD_SCONTROL, 0o755):
        yield


@contextmanager
def no_service(slurm: SlurmSite) -> Iterator[None]:
    lua.kill_service(slurm.home)
    try:
        yield
    finally:
        lua.start_service(slurm.home)


@contextmanager
def open_control(slurm: SlurmSite) -> Iterator[None]:
    path = "/run/pegasus-bb/control"
    slurm.run("root", "chmod", "666", path)
    try:
        yield
    finally:
        slurm.run("root", "chmod", "600", path)


FAULTS = {
    "has no slurm_bb_data_out": lambda s: hooks_with(s, "slurm_bb_data_out(", "other("),
    "Lua does not take": lambda s: hooks_with(s, "local SPOOL", "local local"),
    "attempt to call": lambda s: hooks_with(s, "if is_away()", "if absent()"),
    "slurm 23.11.4 has 11 of the 13 functions": old_slurm,
    "shows no Flags=TeardownFailure": lambda s: buffers_configured(
        s, "Flags=TeardownFailure\n", ""
    ),
    "the staging service does not answer": no_service,
    "control has mode 0666, not 0600": open_control,
}


def test_each_fault_of_a_site_is_named(submit_host: SlurmSite, home: Home) -> None:
    runner = Checked(home, "lua-check")
    assert runner.wrong() == []
    for words, fault in FAULTS.items():
        with fault(submit_host):
            found = runner.wrong()
        assert any(words in line for line in found), (words, found)
    assert runner.wrong() == []


def test_hooks_are_installed_again_and_stay_while_slurmctld_needs_them(
    submit_host: SlurmSite, home: Home
) -> None:
    install = ["pegasus-bb", "site", "install", "--slurm-conf", "/etc/slurm"]
    path = home.root / lua.HOOKS
    ours = path.read_text()
    assert submit_host.run("root", "luac5.1", "-v").status == 0  # tries them, too
    with hooks_with(submit_host, "local OLD = 15", "local OLD = 14"):
        done = submit_host.run("root", *install)
        assert (done.status, path.read_text()) == (0, ours), done.err
    undone = submit_host.run("root", *install, "--undo")
    assert undone.status == 2 and "slurmctld ends at its next start" in undone.err
    assert path.read_text() == ours
