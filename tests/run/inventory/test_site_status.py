"""What an administrator sees of a site: pools, buffers, users, and who waits."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from pegasus_bb.cli.site import command
from pegasus_bb.core.errors import ReservationFailed, SchedulerUnreachable
from pegasus_bb.runtime.backends.scontrol import parse_burst
from tests.support.backend_contract import REQUEST
from tests.support.datawarp_bench import DataWarpBench, bench
from tests.support.lua_bench import FAKE, LuaBench

__all__ = ["bench"]
LUA = """\
Name=lua DefaultPool=(null) Granularity=1 TotalSpace=0 FreeSpace=0 UsedSpace=0
  PoolName[0]=flash Granularity=4MiB TotalSpace=1GiB FreeSpace=1GiB UsedSpace=0
  Flags=TeardownFailure
  Allocated Buffers:
    JobID=7 CreateTime=2026-11-27T00:11:44 Pool=flash Size=8MiB State=staged-in UserID=ann(61001)
"""  # noqa: E501


def shown(*words: str) -> str:
    return (
        CliRunner().invoke(command, ["status", *words], catch_exceptions=False).output
    )


def test_a_site_of_datawarp_shows_who_has_what_and_who_waits(
    bench: DataWarpBench,
) -> None:
    bench.row("filler", size=1000, uid=61001)
    bench.backend.create(REQUEST)
    lines = [line.split() for line in shown().splitlines()]
    assert ["wlm_pool", "1.0", "GiB", "24.0", "MiB", "1.0", "MiB"] in lines
    assert ["user61001", "1000.0", "MiB"] in lines
    assert ["1", f"user{os.getuid()}", REQUEST.name, "BurstBufferResources"] in lines
    found = json.loads(shown("--json"))
    [buffer] = found["buffers"]
    assert (buffer["name"], buffer["state"]) == ("filler", "allocated")
    assert found["users"] == {"user61001": 1000 << 20}
    assert found["waiting"][0]["job"] == "1"


def test_a_site_of_lua_has_its_buffers_from_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    burst = f'test $2 = burst && exec cat {tmp_path}/burst; exec {FAKE}/scontrol "$@"'
    for name, script in {"scontrol": burst, "squeue": "true"}.items():
        (tools / name).write_text(f"#!/bin/sh\n{script}\n")
        (tools / name).chmod(0o755)
    (tmp_path / "burst").write_text(LUA)
    monkeypatch.setenv("FAKE_SITE", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    lua = LuaBench(tmp_path)
    lua.fill()
    lua.backend.create(REQUEST)
    found = json.loads(shown("--json"))
    states = {buffer["name"]: buffer["state"] for buffer in found["buffers"]}
    assert states == {"filler": "ready", REQUEST.name: "pending"}
    assert [job["name"] for job in found["jobs"]] == ["7"]
    assert "pool" in shown() and "service: it answers" in shown()
    lua.go_down()
    assert "service: it does not answer: " in shown()


def test_without_slurm_or_an_answer_it_says_so(bench: DataWarpBench) -> None:
    bench.change(plugin=False)
    with pytest.raises(ReservationFailed, match="no burst buffer"):
        shown()
    bench.change(down=True)
    with pytest.raises(SchedulerUnreachable, match="Unable to contact"):
        shown()
    assert parse_burst(LUA)[0].jobs[0].native == "staged-in"
