"""Every recorded text of Slurm 24.11 is read right, and so are its traps."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from pegasus_bb.core.units import GIB, MIB
from pegasus_bb.model.reservation import State
from pegasus_bb.runtime.backends import scontrol

RECORDED = Path(__file__).parents[2] / "recorded" / "slurm-24.11"


def text(name: str) -> str:
    return (RECORDED / f"{name}.txt").read_text()


def plugin(name: str) -> scontrol.Plugin:
    [found] = scontrol.parse_burst(text(name))
    return found


def job(name: str) -> scontrol.SpaceJob:
    [found] = scontrol.parse_jobs(text(name))
    return found


@pytest.mark.parametrize(
    "name",
    [
        "show-burst.persistent-and-jobs",
        "show-burst.as-other-user",
        "show-burst.oneliner",
        "show-burst.verbose",
        "show-burst.time-format-relative",
    ],
)
def test_buffers_are_found_whatever_the_options_and_jobs_left_out(name: str) -> None:
    found = plugin(name)
    assert [(b.name, b.size) for b in found.buffers] == [
        ("decim", MIB),
        ("csb2", 500 * MIB),
        ("csb", 700 * MIB),
    ]
    assert {(b.state, b.user, b.uid) for b in found.buffers} == {
        (State.READY, "wfuser", 1000)
    }
    [pool] = found.pools
    assert (pool.name, pool.granularity) == ("wlm_pool", MIB)
    assert (pool.total, pool.free) == (40 * GIB, 39559 * MIB)
    assert found.flags == ("EmulateCray", "EnablePersistent")


def test_times_are_local_and_a_relative_one_is_not_known() -> None:
    created = plugin("show-burst.two-persistent").buffers[1].created
    assert time.localtime(created)[:6] == (2026, 11, 20, 18, 25, 20)
    relative = plugin("show-burst.time-format-relative").buffers
    assert {b.created for b in relative} == {0.0}


@pytest.mark.parametrize(
    "name",
    [
        "show-burst.controller-down",
        "show-burst.no-plugin",
        "show-bbstat",
        "squeue",
        "squeue-long",
        "squeue-format",
        "sbatch.rejections",
    ],
)
def test_nothing_is_read_out_of_an_answer_to_something_else(name: str) -> None:
    assert scontrol.parse_burst(text(name)) == []
    assert scontrol.parse_jobs(text(name)) == []


@pytest.mark.parametrize(
    ("name", "native", "held", "message"),
    [
        ("create-failed", "PENDING", True, "dwsd: no space left on any server: 507"),
        ("name-owned-by-other", "PENDING", True, "Duplicate buffer name"),
        ("larger-than-pool", "PENDING", False, "BurstBufferResources"),
        ("use-of-missing-buffer", "PENDING", False, "BurstBufferResources"),
        ("use-running", "RUNNING", False, ""),
        ("jobdw-running", "RUNNING", False, ""),
        ("use-completed", "COMPLETED", False, ""),
        ("decimal-capacity", "COMPLETED", False, ""),
    ],
)
def test_a_job_is_held_only_if_slurm_refused_it(
    name: str, native: str, held: bool, message: str
) -> None:
    found = job(f"show-job.{name}")
    assert (found.native, found.held) == (native, held)
    assert found.message.endswith(message)


def test_a_directive_is_one_value_though_it_holds_equal_signs() -> None:
    fields = job("show-job.decimal-capacity").fields
    assert fields["BurstBuffer"] == (
        "#BB create_persistent name=decim capacity=3.5TB access_mode=striped "
        "type=scratch"
    )
    assert fields["ReqTRES"] == "cpu=1,mem=1M,node=1,billing=1"
    assert fields["NtasksPerN:B:S:C"] == "0:0:*:*"


# -- traps


def test_a_buffer_named_like_the_plugin_or_a_header_is_still_a_row() -> None:
    [found] = scontrol.parse_burst(
        "Name=datawarp DefaultPool=p Granularity=1 TotalSpace=0 FreeSpace=0 UsedSpace=0"
        "\n  Allocated Buffers:\n"
        "    Name=datawarp CreateTime=Unknown Pool=(null) Size=INFINITE "
        "State=allocated UserID=u(7)\n  Per User Buffer Use:\n    UserID=u(7) Used=3\n"
    )
    [row] = found.buffers
    assert (row.name, row.pool, row.size) == ("datawarp", "", scontrol.INFINITE)


# Slurm's own list (bb_state_string), copied here on purpose: a word that is missing in
# our table fails, and so does one that Slurm does not have.
_SLURM_SAYS = (
    "pending allocating allocated deleting deleted staging-in staged-in pre-run "
    "alloc-revoke running suspended suspend post-run staging-out staged-out teardown "
    "teardown-fail complete"
)
_USABLE = {"allocated", "staged-in", "pre-run", "running", "suspended", "suspend"}


def test_the_whole_table_of_buffer_states() -> None:
    assert set(scontrol.BUFFER_STATES) == set(_SLURM_SAYS.split())
    for native, state in scontrol.BUFFER_STATES.items():
        row = f"    Name=x CreateTime=Unknown Size=1 State={native} UserID=u(7)"
        [found] = scontrol.parse_burst(f"Name=datawarp\n  Allocated Buffers:\n{row}")
        assert (found.buffers[0].state, found.buffers[0].native) == (state, native)
        assert (state is State.READY) == (native in _USABLE)
        assert state is not State.UNKNOWN


def test_the_whole_table_of_job_states() -> None:
    for native, state in scontrol.JOB_STATES.items():
        [found] = scontrol.parse_jobs(f"JobId=1 JobState={native} Priority=1")
        assert (found.state, found.native) == (state, native)
        assert re.fullmatch("[A-Z_]+", native)
        assert state in (State.PENDING, State.ABSENT, State.FAILED)
    [unknown] = scontrol.parse_jobs("JobId=1 JobState=LEVITATING")
    assert unknown.state is State.UNKNOWN
