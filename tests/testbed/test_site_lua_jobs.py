"""Jobs without Pegasus on burst_buffer/lua, and daemons that are killed below them."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from pegasus_bb.testbed.home import Home
from tests.testbed.lua_site import ON_LUA, LuaSite
from tests.testbed.slurm_site import until

pytestmark = [pytest.mark.site, ON_LUA]
OWN = "jobbb capacity=20MiB pool=flash"
BOTH_WAYS = " cat $BB_JOB/in.txt > $BB_JOB/out.txt; id -un >> $BB_JOB/out.txt"
NOTHING = {"buffers": [], "kept": []}


@pytest.fixture
def slurm(home: Home) -> LuaSite:
    return LuaSite(home)


def staged(slurm: LuaSite, name: str, *commands: str) -> str:
    """A job that reads in.txt and leaves out-NAME, both through its own buffer."""
    source = slurm.work / "in.txt"
    lines = (OWN, f"stage_in {source} job://in.txt")
    out = f"stage_out job://out.txt {slurm.work}/out-{name}"
    return slurm.submit("wfuser", f"{name}.sh", *lines, out, BOTH_WAYS, *commands)


def result(slurm: LuaSite, name: str) -> str:
    return (slurm.work / f"out-{name}").read_text()


def test_no_cpu_waits_while_data_is_staged(slurm: LuaSite) -> None:
    slurm.file("in.txt")
    slurm.control("pause")
    number = staged(slurm, "idle", f" touch {slurm.work}/ran", " sleep 2")
    until(lambda: slurm.known(number) == "staging-in")
    for _ in range(8):
        assert (slurm.busy_cpus(), slurm.state(number)) == (0, "PENDING")
        time.sleep(0.5)
    slurm.control("resume")
    until((slurm.work / "ran").exists)
    slurm.control("pause")
    until(lambda: slurm.known(number) == "staging-out")
    for _ in range(8):
        assert (slurm.busy_cpus(), slurm.state(number)) == (0, "STAGE_OUT")
        time.sleep(0.5)
    slurm.control("resume")
    slurm.completed(number)
    assert result(slurm, "idle") == "an input\nwfuser\n"
    until(lambda: slurm.left() == NOTHING)


STATES = ("staging-in", "running", "staging-out")


def through(slurm: LuaSite, in_state: Callable[[str], None]) -> None:
    """A job's life, which is held in each state while ``in_state`` is called."""
    slurm.file("in.txt")
    go, ran = slurm.work / "go", slurm.work / "ran"
    slurm.control("pause")
    number = staged(slurm, "k", f" touch {ran}; until [ -e {go} ]; do sleep 0.2; done")
    until(lambda: slurm.known(number) == "staging-in")
    in_state("staging-in")
    slurm.control("resume")
    until(ran.exists, 240)
    in_state("running")
    slurm.control("pause")
    go.touch()
    until(lambda: slurm.known(number) == "staging-out")
    in_state("staging-out")
    slurm.control("resume")
    slurm.completed(number, 240)
    assert result(slurm, "k") == "an input\nwfuser\n"
    until(lambda: slurm.left() == NOTHING)


def test_the_service_is_killed_in_each_state(slurm: LuaSite) -> None:
    def kill(state: str) -> None:
        slurm.kill(service=True, slurmctld=False)
        slurm.control("pause")

    through(slurm, kill)


@pytest.mark.parametrize("service", [False, True], ids=["alone", "both"])
@pytest.mark.parametrize("state", STATES)
def test_slurmctld_is_killed_in_a_state(
    slurm: LuaSite, state: str, service: bool
) -> None:
    def kill(now: str) -> None:
        if now != state:
            return
        if state != "staging-in":  # which begins anew
            slurm.await_saved_state()
        slurm.kill(service, slurmctld=True)
        slurm.control("pause")

    through(slurm, kill)


def test_data_is_kept_between_jobs_until_the_last_one(slurm: LuaSite) -> None:
    first = slurm.submit(
        *("wfuser", "a.sh", "persist store mydata size=10MiB"),
        " echo one > $BB_PERSISTENT_mydata/a",
    )
    after = f"--dependency=afterburstbuffer:{first}"
    second = slurm.submit(
        *("wfuser", "b.sh", "persist use mydata", "persist delete mydata"),
        f"stage_out bb://mydata/a {slurm.work}/kept-a",
        " echo two >> $BB_PERSISTENT_mydata/a",
        options=after,
    )
    slurm.completed(second)
    assert (slurm.work / "kept-a").read_text() == "one\ntwo\n"
    until(lambda: slurm.left() == NOTHING)


def test_a_failed_job_keeps_its_data_and_its_successors_are_cancelled(
    slurm: LuaSite,
) -> None:
    first = slurm.submit(
        *("wfuser", "a.sh", "persist store mydata size=10MiB"),
        " echo one > $BB_PERSISTENT_mydata/a; exit 3",
    )
    options = f"--dependency=afterok:{first} --kill-on-invalid-dep=yes"
    lines = ("persist use mydata", "persist delete mydata", " true")
    second = slurm.submit("wfuser", "b.sh", *lines, options=options)
    until(lambda: slurm.state(second) == "CANCELLED")
    [buffer] = slurm.left()["buffers"]
    kept = slurm.home.root / buffer["path"].lstrip("/") / "a"
    assert kept.read_text() == "one\n"
    assert "ok" in slurm.bbstat("wfuser", "delete", "name=mydata")
    until(lambda: slurm.left() == NOTHING)


def test_another_user_reads_what_is_shared_with_him_alone(slurm: LuaSite) -> None:
    made = slurm.submit(
        *("wfuser", "a.sh", "persist store mydata size=10MiB"),
        "persist share mydata other",
        " echo one > $BB_PERSISTENT_mydata/a; chmod 644 $BB_PERSISTENT_mydata/a",
    )
    slurm.completed(made)
    out = slurm.work / "seen"
    read = f" cat $BB_PERSISTENT_mydata/a > {out}; rm $BB_PERSISTENT_mydata/a"
    job = slurm.submit("other", "b.sh", "persist use mydata", read)
    until(lambda: slurm.state(job) == "FAILED")
    assert out.read_text() == "one\n"
    assert slurm.bbstat("other", "delete", "name=mydata")["error"]["code"] == (
        "not-yours"
    )


def test_a_result_that_cannot_be_saved_is_kept_and_saved_when_it_can(
    slurm: LuaSite,
) -> None:
    slurm.file("in.txt")
    (slurm.work / "out-full").mkdir()
    (slurm.work / "out-full" / "in the way").touch()
    number = staged(slurm, "full")
    until(lambda: slurm.left()["kept"])
    [kept] = slurm.left()["kept"]
    assert kept["job"] == int(number) and "out-full" in kept["message"]
    (slurm.work / "out-full" / "in the way").unlink()
    (slurm.work / "out-full").rmdir()
    slurm.kill(service=True, slurmctld=False)
    until(lambda: slurm.left() == NOTHING)
    assert result(slurm, "full") == "an input\nwfuser\n"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["jobbb capacity=20MiB pool=flash", "jobbb capacity=1MiB pool=flash"], "one"),
        (["stage_in /etc/../etc/shadow job://a"], "without '..'"),
        (["persist use x;id"], "3 to 40"),
        (["jobbb capacity=9TiB pool=flash"], "in all"),
    ],
)
def test_sbatch_says_what_is_wrong_with_a_directive(
    slurm: LuaSite, lines: list[str], words: str
) -> None:
    script = slurm.script("bad.sh", *(f"#BB_LUA {line}" for line in lines), "true")
    done = slurm.run("wfuser", "sbatch", script)
    assert done.status != 0
    assert f"pegasus_bb: directive {len(lines)}, #BB_LUA " in done.err
    assert words in done.err


@pytest.mark.parametrize(
    ("lines", "options", "words"),
    [
        ([OWN, "stage_in work://absent job://a"], "", "No such file"),
        (["stage_in /etc/shadow /bb/a"], "", "is below none of"),
        (["persist use theirs"], "", "there is no buffer theirs"),
        ([OWN], "--array=0-1", "a job array cannot use #BB_LUA"),
    ],
)
def test_squeue_says_why_a_job_does_not_start(
    slurm: LuaSite, lines: list[str], options: str, words: str
) -> None:
    number = slurm.submit("wfuser", "waits.sh", *lines, " true", options=options)
    until(lambda: words in slurm.reason(number))
    slurm.run("wfuser", "scancel", number)
    until(lambda: slurm.left() == NOTHING)
