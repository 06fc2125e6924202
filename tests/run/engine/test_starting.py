"""How jobs and scripts are started: where, with which words, and what is said where
they cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pegasus_bb.model.dag.nodes import Script
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


def test_files_that_come_with_a_job_are_in_its_scratch(folder: Folder) -> None:
    """Since Pegasus 5.1.3 Kickstart reads lists of files there."""
    (folder.path / "lists").mkdir()
    (folder.path / "lists/a.in.lof").write_text("in.txt\n")
    (folder.path / "b.lof").write_text("out.txt\n")
    look = "ls $_CONDOR_SCRATCH_DIR; cat $_CONDOR_SCRATCH_DIR/*"
    program(folder, "look.sh", f"#!/bin/sh\n{look}\n")
    folder.job("a")
    (folder.path / "a.sub").write_text(
        "executable = look.sh\noutput = a.out\n"
        f"transfer_input_files = {folder.path}/lists/a.in.lof, b.lof\nqueue\n"
    )
    folder.run()
    said = (folder.path / "a.out").read_text().split()
    assert said == ["a.in.lof", "b.lof", "in.txt", "out.txt"]


def test_script_arguments_are_split_without_a_shell(folder: Folder) -> None:
    folder.job("a", pre=Script("task.py", '$HOME;  out=`id`|*\terr="x"'))
    assert folder.tasks_run() == ["$HOME;", "a"]


@pytest.mark.parametrize(
    ("first", "says"),
    [
        (None, "gate cannot be started: No such file"),
        ("#!/bin/sh\n", "gate cannot be started: Permission"),
        ("#!/no/sh\n", "gate cannot be started: its first line names '/no/sh', which"),
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
