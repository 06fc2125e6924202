"""pegasus-bb completion, and what a shell that has read it is answered."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from pegasus_bb.cli import cli

PROGRAM = str(Path(sys.executable).parent / "pegasus-bb")


@pytest.mark.parametrize("shell", ["bash"])
def test_a_shell_can_read_it(shell: str) -> None:
    done = CliRunner().invoke(cli, ["completion", shell])
    assert done.exit_code == 0
    assert "pegasus-bb" in done.output
    if shutil.which(shell):
        read = [shell, "-n"]
        subprocess.run(read, input=done.output, text=True, check=True)


@pytest.mark.parametrize(
    ("words", "offered"),
    [("pegasus-bb ex", "explain"), ("pegasus-bb plan --bb-mo", "--bb-mode")],
)
def test_what_is_offered(words: str, offered: str) -> None:
    done = subprocess.run(
        [PROGRAM],
        env={
            **os.environ,
            "_PEGASUS_BB_COMPLETE": "bash_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split()) - 1),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"plain,{offered}" in done.stdout.split()
