"""Jobs without Pegasus on burst_buffer/lua: data between jobs, and what is refused."""

from __future__ import annotations

import pytest

from testbed.tests.lua_site import ON_LUA, LuaSite
from tests.support.waiting import until

pytestmark = [pytest.mark.site, ON_LUA]
OWN = "jobbb capacity=20MiB pool=flash"
NOTHING = {"buffers": [], "kept": []}


def test_a_failed_job_keeps_its_data_and_its_successors_are_cancelled(
    slurm: LuaSite,
) -> None:
    first = slurm.submit(
        "wfuser",
        "a.sh",
        "persist store mydata size=10MiB",
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
        "wfuser",
        "a.sh",
        "persist store mydata size=10MiB",
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
    slurm.give_back("wfuser", "mydata")


def test_a_job_that_is_cancelled_at_once_leaves_no_buffer(slurm: LuaSite) -> None:
    """Slurm may ask after its stage-in once more when it was torn down; it has when the
    next job has ended."""
    number = slurm.submit("wfuser", "short.sh", OWN, " true")
    until(lambda: slurm.known(number) == "staged-in")
    slurm.run("wfuser", "scancel", number)
    until(lambda: slurm.state(number) == "CANCELLED")
    slurm.completed(slurm.submit("wfuser", "next.sh", OWN, " true"))
    folder = slurm.home.root / "bb" / f"job.{number}"
    until(lambda: slurm.is_lost(number) or not folder.exists())


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
