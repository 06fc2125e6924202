"""What becomes of one node: PRE, job, POST, retries, and how they are started."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from pegasus_bb.engine.commands import script_command
from pegasus_bb.engine.table import Table
from pegasus_bb.errors import RunFailed
from pegasus_bb.planner.dagfile import Script, read_dag

from .conftest import Folder

RECORDED = Path(__file__).parent.parent / "planner" / "recorded"


# --- PRE ---


def test_pre_job_and_post_run_in_this_order(folder: Folder) -> None:
    folder.job("a", pre=folder.script("pre"), post=folder.script("post"))
    folder.run()
    assert folder.ran() == ["pre", "a", "post"]
    assert [event for _, event in folder.events()] == [
        "PRE_SCRIPT_STARTED",
        "PRE_SCRIPT_TERMINATED",
        "PRE_SCRIPT_SUCCESS",
        "SUBMIT",
        "EXECUTE",
        "JOB_TERMINATED",
        "JOB_SUCCESS",
        "POST_SCRIPT_STARTED",
        "POST_SCRIPT_TERMINATED",
        "POST_SCRIPT_SUCCESS",
    ]


def test_a_failed_pre_fails_the_node_without_job_and_post(folder: Folder) -> None:
    pre = folder.script("pre", "exits=76", "err=held")
    folder.job("a", pre=pre, post=folder.script("post"))
    with pytest.raises(
        RunFailed, match=r"PRE script ended with exit status 76[\s\S]*\| held"
    ):
        folder.run()
    assert folder.ran() == ["pre"]
    assert "held" in (folder.path / "a.pre.err").read_text()


def test_a_deferring_gate_is_asked_again_until_it_opens(folder: Folder) -> None:
    gate = folder.script("gate", "exits=75,75,75,0", defer=75)
    folder.job("a", pre=gate)
    folder.run()
    assert folder.ran() == ["gate"] * 4 + ["a"]
    started = [event for _, event in folder.events() if event == "PRE_SCRIPT_STARTED"]
    assert len(started) == 1, "polls do not fill the journal"


def test_a_waiting_gate_holds_neither_slot_nor_script_place(folder: Folder) -> None:
    for number in range(12):  # more gates than scripts may run at a time
        gate = Script("task.py", f"gate{number} exits=75,0", 75, 1)
        folder.job(f"late{number}", pre=gate)
    folder.job("free", pre=folder.script("pre"))
    folder.run(slots=1)
    ran = folder.ran()
    assert ran.index("free") < ran.index("late0"), "it did not wait behind the gates"
    assert folder.times()["gate11"] == 2


def test_deferring_is_no_retry(folder: Folder) -> None:
    gate = folder.script("$RETRY", "exits=75,75,0", defer=75)
    folder.job("a", pre=gate, retry=3)
    folder.run()
    assert folder.times()["0"] == 3


def test_a_gate_killed_by_a_signal_has_not_opened(folder: Folder) -> None:
    # DAGMan reads a killed script as status 0: with DEFER 0 it would ask for ever.
    folder.job("a", pre=folder.script("gate", "kill=9", defer=0))
    with pytest.raises(RunFailed, match="PRE script ended with signal 9"):
        folder.run()
    assert folder.ran() == ["gate"]


def test_pre_skip_makes_the_node_done_without_its_job(folder: Folder) -> None:
    folder.job("a", pre=folder.script("pre", "exits=4"), pre_skip=4)
    folder.job("b")
    folder.chain("a", "b")
    folder.run()
    assert folder.ran() == ["pre", "b"]


def test_a_pre_script_may_write_the_submit_file(folder: Folder) -> None:
    folder.job("a")
    (folder.path / "a.sub").rename(folder.path / "ready.sub")
    mover = folder.path / "mover"
    mover.write_text(f"#!{sys.executable}\nimport os\nos.rename('ready.sub','a.sub')")
    mover.chmod(0o755)
    folder.dag.nodes["a"].pre = Script("mover")
    folder.run()
    assert folder.ran() == ["a"]


# --- POST ---


def test_post_decides_and_may_forgive(folder: Folder) -> None:
    folder.job("a", "exits=3", post=folder.script("post"))
    folder.job("b")
    folder.chain("a", "b")
    folder.run()
    assert folder.ran() == ["a", "post", "b"]


def test_the_words_of_task_and_post_are_both_told(folder: Folder) -> None:
    post = folder.script("post", "exits=1", "err=no-record")
    folder.job("a", "exits=1", "err=disk full", post=post)
    with pytest.raises(RunFailed, match=r"\| disk full[\s\S]*\| no-record"):
        folder.run()


def test_post_decides_and_may_refuse(folder: Folder) -> None:
    folder.job("a", post=folder.script("post", "exits=1", "err=incomplete"))
    with pytest.raises(
        RunFailed, match=r"POST script ended with exit status 1[\s\S]*\| incomplete"
    ):
        folder.run()


@pytest.mark.parametrize(("word", "status"), [("exits=3", "3"), ("kill=9", "-9")])
def test_post_learns_how_the_job_ended(folder: Folder, word: str, status: str) -> None:
    folder.job("a", word, post=folder.script("$RETURN"))
    folder.run()
    assert folder.ran() == ["a", status]


def test_post_may_defer_too(folder: Folder) -> None:
    folder.job("a", post=folder.script("post", "exits=4,0", defer=4))
    folder.run()
    assert folder.ran() == ["a", "post", "post"]


# --- RETRY ---


def test_a_retry_runs_all_parts_again(folder: Folder) -> None:
    folder.job(
        "a",
        "exits=1,1,0",
        pre=folder.script("pre"),
        post=folder.script("post-$RETURN"),
        retry=2,
    )
    folder.dag.nodes["a"].post = folder.script("post", "exits=1,1,0")
    folder.run()
    assert folder.ran() == ["pre", "a", "post"] * 3


def test_retries_come_to_an_end(folder: Folder) -> None:
    folder.job("a", "exits=1", retry=2)
    with pytest.raises(RunFailed):
        folder.run()
    assert folder.times()["a"] == 3


def test_each_call_gives_all_retries_again(folder: Folder) -> None:
    folder.job("a", "exits=1", retry=1)
    for _ in range(2):
        with pytest.raises(RunFailed):
            folder.run()
    assert folder.times()["a"] == 4


def test_unless_exit_ends_retrying(folder: Folder) -> None:
    folder.job("a", "exits=1,42,0", retry=9, unless_exit=42)
    with pytest.raises(RunFailed):
        folder.run()
    assert folder.times()["a"] == 2


# --- NOOP, DONE, ABORT-DAG-ON ---


def test_a_noop_node_runs_its_scripts_only(folder: Folder) -> None:
    pre, post = folder.script("pre"), folder.script("post")
    folder.job("a", pre=pre, post=post, noop=True)
    folder.run()
    assert folder.ran() == ["pre", "post"]


def test_a_done_node_is_not_run(folder: Folder) -> None:
    folder.job("a", done=True)
    folder.job("b")
    folder.chain("a", "b")
    assert folder.run().done_before == 1
    assert folder.ran() == ["b"]


def test_abort_ends_what_runs_and_writes_a_rescue_file(folder: Folder) -> None:
    folder.job("long", "until=never", "ready=long-is-up")
    folder.job("bad", "exits=9", "until=long-is-up", abort_on=(9, 3), retry=5)
    folder.job("never")
    folder.chain("long", "never")
    with pytest.raises(RunFailed, match="aborted"):
        folder.run()
    assert folder.times() == {"long": 1, "long-is-up": 1, "bad": 1}
    assert "long ends" not in folder.noted()
    assert folder.rescues() == ["w.dag.rescue001"]
    assert "DAGMAN_FINISHED 3 ***" in (folder.path / "jobstate.log").read_text()


def test_abort_may_mean_success(folder: Folder) -> None:
    folder.job("enough", "exits=9", abort_on=(9, 0))
    folder.job("never")
    folder.chain("enough", "never")
    done = folder.command("run", str(folder.write()))
    assert done.returncode == 0
    assert folder.ran() == ["enough"]
    assert "0 of 2 nodes are done" in done.stderr
    assert "all 2" not in done.stderr
    assert "DAGMAN_FINISHED 0 ***" in (folder.path / "jobstate.log").read_text()


def test_what_such_an_abort_left_undone_can_be_done(folder: Folder) -> None:
    folder.job("first")
    folder.job("enough", "exits=9,0", abort_on=(9, 0))
    folder.job("then")
    folder.chain("first", "enough", "then")
    outcome = folder.run()
    assert (outcome.done, outcome.total) == (1, 3)
    assert outcome.rescue == folder.path / "w.dag.rescue001"
    again = folder.run()
    assert (again.done_before, again.done, again.rescue) == (1, 3, None)
    assert folder.times() == {"first": 1, "enough": 2, "then": 1}


# --- how things are started ---


def test_the_job_finds_what_its_submit_file_says(
    folder: Folder, tmp_path: Path
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (scratch / "in.txt").write_text("hello")
    look = folder.path / "look.py"
    look.write_text(
        f"#!{sys.executable}\nimport json, os, sys\n"
        "print(json.dumps([os.getcwd(), sys.argv[1:], sys.stdin.read(),"
        " os.environ['WORD'], os.environ['CONDOR_JOBID'],"
        " os.getpid() == os.getsid(0)]))\nprint('bad', file=sys.stderr)\n"
    )
    look.chmod(0o755)
    folder.job("a", vars={"which": "x y", "My.DAGNodeRetry": "$(RETRY)"})
    (folder.path / "a.sub").write_text(
        f"executable = look.py\ninitialdir = {scratch}\ninput = in.txt\n"
        f"output = {folder.path}/a.out\nerror = a.err\n"
        "arguments = \"one 'two  words' '$(which)' $(JOB) $(RETRY) *\"\n"
        "environment = \"WORD='a b' CONDOR_JOBID=$(cluster).$(process)\"\nqueue\n"
    )
    folder.run()
    cwd, argv, stdin, word, job, leads = json.loads((folder.path / "a.out").read_text())
    assert cwd == str(scratch)
    assert argv == ["one", "two  words", "x y", "a", "0", "*"]
    assert (stdin, word, job, leads) == ("hello", "a b", "1.0", True)
    assert (scratch / "a.err").read_text() == "bad\n"


def test_a_job_of_a_pool_starts_where_pegasus_says_and_its_files_stay_here(
    folder: Folder, tmp_path: Path
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    look = folder.path / "look.sh"
    look.write_text("#!/bin/sh\npwd\n")
    look.chmod(0o755)
    folder.job("a")
    (folder.path / "a.sub").write_text(
        f"executable = look.sh\nremote_initialdir = {scratch}\noutput = a.out\nqueue\n"
    )
    folder.run()
    assert (folder.path / "a.out").read_text() == f"{scratch}\n"


def test_output_and_error_may_be_one_file(folder: Folder) -> None:
    folder.job("a")
    sub = folder.path / "a.sub"
    sub.write_text(sub.read_text().replace("a.err", "a.out"))
    folder.run()
    text = (folder.path / "a.out").read_text()
    assert "output of a" in text and "errors of a" in text


def test_dir_is_where_a_node_finds_everything(folder: Folder) -> None:
    below = folder.path / "below"
    below.mkdir()
    folder.job("a", directory="below")
    for name in ("a.sub", "task.py"):
        (folder.path / name).rename(below / name)
    text = (below / "a.sub").read_text()
    (below / "a.sub").write_text(text.replace(str(folder.program), "task.py"))
    folder.dag.nodes["a"].pre = Script("task.py", "pre")
    folder.run()
    assert (below / "ran").read_text().split("\n")[0] == "pre"
    assert (below / "a.out").exists()


def test_a_script_gets_words_not_a_shell(folder: Folder) -> None:
    folder.job("a", pre=Script("task.py", '$HOME;  out=`id`|*\terr="x"'))
    folder.run()
    assert folder.ran() == ["$HOME;", "a"]


def test_macros_of_scripts(folder: Folder) -> None:
    node = folder.job("a", retry=4)
    folder.job("b")
    table = Table(folder.dag, {"b"})
    item = table.items["a"]
    item.retries, item.status, item.pre_status, item.sequence = 2, 5, 1, 7
    text = (
        "$JOB $Node $RETRY $MAX_RETRIES $DAGID $DAG_STATUS $FAILED_COUNT $DONE_COUNT "
        "$FUTILE_COUNT $QUEUED_COUNT $NODE_COUNT x=$RETRY $OTHER"
    )
    both = ["a", "a", "2", "4", str(os.getpid()), "0", "0", "1", "0", "0", "2"]
    both += ["x=$RETRY", "$OTHER"]
    late = "$RETURN $PRE_SCRIPT_RETURN $JOBID $CLUSTERID $SUCCESS"
    script = Script("bin/x", f"{text} {late}")
    pre = script_command(script, item, table, folder.path, post=False)
    post = script_command(script, item, table, folder.path, post=True)
    assert pre.argv == [str(folder.path / "bin/x"), *both, *late.split()]
    assert post.argv[1:] == [*both, "5", "1", "7.0", "7", "False"]
    assert node.name == "a"


def test_the_post_script_of_a_recorded_dag(tmp_path: Path) -> None:
    dag = read_dag(RECORDED / "gated.dag")
    table = Table(dag, ())
    item = table.items["cat1_ID0000002"]
    item.status = 1
    assert item.node.post is not None
    command = script_command(item.node.post, item, table, tmp_path, post=True)
    assert command.cwd == str(tmp_path)
    assert command.argv == [
        "/opt/pegasus/bin/pegasus-exitcode",
        *("-r", "1", "-l", "demo-0.exitcode.log", "-M", "demo-0.cache.meta", "-N"),
        ".//00/00/cat1_ID0000002.out",
    ]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("task.py\n", "nowhere.py\n"), "nowhere.py cannot be started: No such file"),
        (("queue", "input = no.txt\nqueue"), "no.txt cannot be opened"),
        (("queue", "initialdir = no/folder\nqueue"), "no/folder"),
        (("queue", "queue 7"), "queue 7"),
    ],
)
def test_a_job_that_cannot_start_says_why(
    folder: Folder, change: tuple[str, str], says: str
) -> None:
    folder.job("a", post=folder.script("post", "exits=1"))
    sub = folder.path / "a.sub"
    sub.write_text(sub.read_text().replace(*change))
    with pytest.raises(RunFailed, match=says):
        folder.run()
    assert folder.ran() == ["post"], "POST hears of it and decides"


def test_a_script_that_cannot_start_says_why(folder: Folder) -> None:
    folder.job("a", pre=Script("no-gate"))
    with pytest.raises(RunFailed, match="no-gate cannot be started: No such file"):
        folder.run()


@pytest.mark.parametrize(
    ("first", "says"),
    [
        ("#!/nope/python3 -I\n", "its first line names '/nope/python3', and that"),
        ("#! /bin/sh\r\n", r"its first line names '/bin/sh\\r', and that"),
        ("no script\n", "cannot be started: Exec format error"),
    ],
)
def test_a_wrong_interpreter_is_named(folder: Folder, first: str, says: str) -> None:
    gate = folder.path / "gate"
    gate.write_text(first)
    gate.chmod(0o755)
    folder.job("a", pre=Script("gate"))
    with pytest.raises(RunFailed, match=says):
        folder.run()


def test_a_program_that_may_not_run_is_not_blamed_on_its_first_line(
    folder: Folder,
) -> None:
    folder.job("a")
    folder.program.chmod(0o644)
    with pytest.raises(RunFailed, match=r"task\.py cannot be started: Permission"):
        folder.run()
