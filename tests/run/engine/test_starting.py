"""How jobs and scripts are started: where, with which words, and what is said where
they cannot be."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pegasus_bb.model.dag.nodes import Script
from pegasus_bb.run.engine.starter import script_command
from pegasus_bb.run.engine.table import Table
from tests.support.shebang import shebang

from .conftest import Folder

LOOK = """\
import json, os, sys
words = [os.environ["WORD"], os.environ["CONDOR_JOBID"], os.getpid() == os.getsid(0)]
print(json.dumps([os.getcwd(), sys.argv[1:], sys.stdin.read(), *words]))
print("bad", file=sys.stderr)
"""


def program(folder: Folder, name: str, text: str) -> None:
    (folder.path / name).write_text(text)
    (folder.path / name).chmod(0o755)


def test_a_job_finds_what_its_submit_file_says(folder: Folder, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (scratch / "in.txt").write_text("hello")
    program(folder, "look.py", f"{shebang()}\n{LOOK}")
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
    program(folder, "look.sh", "#!/bin/sh\npwd\n")
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


def test_script_arguments_are_split_without_a_shell(folder: Folder) -> None:
    folder.job("a", pre=Script("task.py", '$HOME;  out=`id`|*\terr="x"'))
    assert folder.tasks_run() == ["$HOME;", "a"]


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


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("task.py\n", "nowhere.py\n"), "nowhere.py cannot be started: No such file"),
        (("queue", "input = no.txt\nqueue"), "no.txt cannot be opened"),
        (("queue", "initialdir = no/folder\nqueue"), "no/folder"),
        (("queue", "queue 7"), "queue 7"),
    ],
)
def test_a_job_that_cannot_start(
    folder: Folder, change: tuple[str, str], says: str
) -> None:
    folder.job("a", post=folder.script("post", "exits=1"))
    sub = folder.path / "a.sub"
    sub.write_text(sub.read_text().replace(*change))
    folder.fails(says)
    assert folder.ran() == ["post"], "POST hears of it and decides"


@pytest.mark.parametrize(
    ("first", "says"),
    [
        (None, "gate cannot be started: No such file"),
        ("#!/bin/sh\n", "gate cannot be started: Permission"),
        ("no script\n", "cannot be started: Exec format error"),
    ],
)
def test_a_script_that_cannot_start(
    folder: Folder, first: str | None, says: str
) -> None:
    if first is not None:
        program(folder, "gate", first)
    if "Permission" in says:
        (folder.path / "gate").chmod(0o644)
    folder.job("a", pre=Script("gate"))
    folder.fails(says)


def test_transfers_of_pegasus_on_this_machine_have_a_folder_of_their_own(
    folder: Folder,
) -> None:
    """As HTCondor gives it to each job; nothing of it stays."""
    program(folder, "pegasus-lite-local.sh", "#!/bin/sh\nls -d $_CONDOR_SCRATCH_DIR\n")
    for name in ("a", "b"):
        folder.job(name)
        sub = folder.path / f"{name}.sub"
        text = sub.read_text().replace("task.py", "pegasus-lite-local.sh")
        sub.write_text(text)
    folder.run()
    places = {(folder.path / f"{name}.out").read_text() for name in ("a", "b")}
    assert len(places) == 2
    assert all(place.startswith("/") for place in places)
    assert not any(Path(place.strip()).exists() for place in places)
