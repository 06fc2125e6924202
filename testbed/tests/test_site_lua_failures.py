"""What Slurm does when a hook of burst_buffer/lua fails, as it was recorded.

The hooks are testbed/tests/failing.lua. The files in tests/recorded/slurm-lua-24.11 are
made anew with:

    REFRESH_GOLDEN=1 python -m pytest -m site testbed/tests/test_site_lua_failures.py
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from pegasus_bb_testbed import site
from pegasus_bb_testbed.home import Home
from pegasus_bb_testbed.namespace import call

from testbed.tests.failing_site import HOOKS, FailingSite
from testbed.tests.lua_site import ON_LUA
from testbed.tests.slurm_site import POOL
from tests.support.golden import matches_golden
from tests.support.waiting import until

pytestmark = [pytest.mark.site, ON_LUA]
RECORDED = Path(__file__).parents[2] / "tests" / "recorded" / "slurm-lua-24.11"
STAGE_IN = {
    "setup-fails": "setup fails",
    "setup-times-out": "setup sleeps",
    "data_in-fails": "data_in fails",
    "data_in-throws": "data_in throws",
    "stage-in-times-out": "test_data_in is-busy",
}
STAGE_OUT = {"data_out-fails": "data_out fails", "post_run-fails": "post_run fails"}
WITH_FLAG = {
    "setup-fails.TeardownFailure": "setup fails",
    "data_in-fails.TeardownFailure": "data_in fails",
    "data_out-fails.TeardownFailure": "data_out fails",
    "post_run-fails.TeardownFailure": "post_run fails",
    "stage-out-times-out.TeardownFailure": "test_data_out is-busy",
}
BEFORE_RUN = ("setup-fails.TeardownFailure", "data_in-fails.TeardownFailure")
OTHERS = {"teardown-fails": "job_teardown fails", "pre_run-fails": "pre_run fails"}
ROWS = [
    "job_process-fails",
    "job_process-throws",
    *STAGE_IN,
    *STAGE_OUT,
    "stage-out-dropped",
    "restart-in-stage-in",
    "restart-in-stage-out",
    *WITH_FLAG,
    *OTHERS,
    "array",
    "scancel-in-stage-in",
    "missing-function",
]
Story = Callable[[FailingSite], None]


def held(slurm: FailingSite, *names: str) -> None:
    for name in names:
        until(lambda name=name: slurm.is_held(name))  # type: ignore[misc]


def jobs_are_refused(slurm: FailingSite) -> None:
    for what in ("fails", "throws"):
        script = slurm.script(f"{what}.sh", f"#BB_LUA job_process {what}", "true")
        done = slurm.run("wfuser", "sbatch", script)
        head = f"$ sbatch job.sh    # exit status {done.status}"
        slurm.note(f"job_process-{what}", head, *done.err.splitlines())


def jobs_stay(slurm: FailingSite) -> None:
    """Without TeardownFailure."""
    for name, line in (STAGE_IN | STAGE_OUT).items():
        slurm.begin(name, line)
    held(slurm, *STAGE_IN, *STAGE_OUT)
    for name in STAGE_IN | STAGE_OUT:
        slurm.record(name, name)
    number = slurm.numbers["data_in-fails"]
    denied = slurm.run("wfuser", "scontrol", "release", number).err
    words = denied.replace(number, "N").splitlines()
    slurm.note("data_in-fails", "$ scontrol release N    # as its user", *words)
    for name in STAGE_IN:
        slurm.run("root", "scontrol", "release", slurm.numbers[name])
    for name in STAGE_OUT:
        slurm.run("wfuser", "scancel", slurm.numbers[name])
    dropped(slurm)
    slurm.give_time()
    for name in STAGE_IN:
        slurm.waits_for(name, "BurstBufferStageIn")
        slurm.record(name, name, "$ scontrol release N    # as root")
    for name in STAGE_OUT:
        slurm.record(name, name, "$ scancel N")


def slurmctld_starts_again(slurm: FailingSite) -> None:
    name = "restart-in-stage-in"
    since = time.time()
    slurm.begin(name, "test_data_in is-busy")
    until(lambda: slurm.count(name, "test_data_in"))
    slurm.restart("Flags=TeardownFailure\n")
    slurm.torn_down(name)
    assert slurm.is_put_off(name, 60, since)
    slurm.waits_for(name, "BeginTime")
    slurm.record(name, name, "$ slurmctld    # the job is put off by 60 s")
    slurm.torn_down("data_out-fails")
    done = "$ slurmctld    # now with TeardownFailure"
    slurm.record("restart-in-stage-out", "data_out-fails", done)


def jobs_are_torn_down(slurm: FailingSite) -> None:
    """With TeardownFailure."""
    since = time.time()
    for name, line in (WITH_FLAG | OTHERS).items():
        slurm.begin(name, line)
    slurm.begin("array", "", options="--array=0-1")
    scancelled(slurm)
    for name in BEFORE_RUN:
        held(slurm, name)
        slurm.torn_down(name)
        slurm.record(name, name)
        times = slurm.count(name, "job_teardown")
        slurm.run("root", "scontrol", "release", slurm.numbers[name])
        slurm.torn_down(name, times + 1)
        held(slurm, name)
        did = "$ scontrol release N    # as root: it is staged anew"
        slurm.record(name, name, did)
    name = "pre_run-fails"
    slurm.torn_down(name)
    assert slurm.is_put_off(name, 120, since)
    slurm.record(name, name, "it is requeued, and put off by 120 s")
    for name in set(WITH_FLAG) - set(BEFORE_RUN):
        slurm.torn_down(name)
        slurm.record(name, name)
    forgotten(slurm)
    slurm.torn_down("array")
    held(slurm, "array")
    slurm.record("array", "array")


def dropped(slurm: FailingSite) -> None:
    name = "stage-out-dropped"
    while True:
        slurm.begin(name, "data_out fails")
        held(slurm, name)
        slurm.run("root", "scontrol", "requeue", slurm.numbers[name])
        slurm.run("root", "scancel", slurm.numbers[name])
        if slurm.is_torn_down(name):
            break
    slurm.torn_down(name)
    slurm.record(name, name, "$ scontrol requeue N; scancel N")


def scancelled(slurm: FailingSite) -> None:
    name = "scancel-in-stage-in"
    while True:
        slurm.begin(name, "test_data_in is-busy")
        until(lambda: slurm.count(name, "test_data_in"))
        slurm.waits_for(name, "BurstBufferStageIn")
        slurm.run("wfuser", "scancel", slurm.numbers[name])
        if slurm.is_torn_down(name):
            break
    slurm.torn_down(name)
    slurm.record(name, name, "$ scancel N")


def forgotten(slurm: FailingSite) -> None:
    name = "teardown-fails"
    slurm.torn_down(name, times=3)
    times = [when for when, hook in slurm.calls(name) if "teardown" in hook]
    assert all(10 <= later - when < 20 for when, later in pairwise(times))
    slurm.record(name, name, "after three tries, 10 s apart:")


def a_function_is_missing(slurm: FailingSite) -> None:
    """From then on slurmctld cannot be started."""
    row = "missing-function"
    slurm.have_hooks(HOOKS.read_text() + "\nslurm_bb_data_out = nil\n")
    script = slurm.script("late.sh", "#BB_LUA", "true")
    done = slurm.run("wfuser", "sbatch", script)
    head = f"$ sbatch job.sh    # exit status {done.status}"
    slurm.note(row, head, *done.err.splitlines())
    slurm.run("root", "scontrol", "reconfigure")
    until(lambda: call(slurm.home, ["pgrep", "-x", "slurmctld"]).status != 0)
    words = re.findall(r"(?m)^.*(?:missing|fatal|cannot create).*$", slurm.log_text())
    end = "$ scontrol reconfigure    # slurmctld ends"
    slurm.note(row, end, *dict.fromkeys(words))


STORIES: list[Story] = [
    jobs_are_refused,
    jobs_stay,
    slurmctld_starts_again,
    jobs_are_torn_down,
    a_function_is_missing,
]


@pytest.fixture(scope="module")
def told(home: Home) -> Iterator[dict[str, str]]:
    """What was said in each row; the rows of a story are produced side by side."""
    slurm = FailingSite(home)
    conf = slurm.etc / "burst_buffer.conf"
    before = conf.read_text()
    try:
        slurm.restart()
        for story in STORIES:
            story(slurm)
        yield slurm.texts
    finally:
        conf.write_text(before)
        site.stop_controller(home)
        site.forget_jobs(home, POOL)


@pytest.mark.parametrize("row", ROWS)
def test_slurm_does_what_it_did_when_this_was_recorded(
    told: dict[str, str], row: str
) -> None:
    matches_golden(told[row], RECORDED / f"{row}.txt")
