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


@contextmanager
def file_with(path: Path, text: str) -> Iterator[None]:
    """``path`` has that text, and then again what it had, if it was there."""
    before = path.read_text() if path.exists() else None
    path.write_text(text)
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
def no_service(slurm: SlurmSite) -> Iterator[None]:
    lua.kill_service(slurm.home)
    try:
        yield
    finally:
        lua.start_service(slurm.home)


FAULTS = {
    "has no slurm_bb_data_out": lambda s: hooks_with(s, "slurm_bb_data_out(", "other("),
    "attempt to call": lambda s: hooks_with(s, "if is_away()", "if absent()"),
    "shows no Flags=TeardownFailure": lambda s: buffers_configured(
        s, "Flags=TeardownFailure\n", ""
    ),
    "the staging service does not answer": no_service,
}


def test_each_fault_of_a_site_is_named(submit_host: SlurmSite, home: Home) -> None:
    runner = Checked(home, "lua-check")
    assert runner.wrong() == []
    for words, fault in FAULTS.items():
        with fault(submit_host):
            found = runner.wrong()
        assert any(words in line for line in found), (words, found)
    assert runner.wrong() == []
