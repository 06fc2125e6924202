"""The hook: who gets the command line, and with which arguments."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.shebang import shebang

HOOK = Path(__file__).parents[2] / "planner-hooks" / "pegasus-plan"


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """A folder on PATH with programs that print who they are and what they got."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("pegasus-plan", "pegasus-bb"):
        program = folder / name
        program.write_text(
            f"{shebang()}\nimport json, sys\n"
            f"print(json.dumps([{name!r}, *sys.argv[1:]]))\n"
        )
        program.chmod(0o755)
    return folder


def call(host: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(HOOK.parent), str(host)])
    return subprocess.run(
        [sys.executable, str(HOOK), *arguments],
        env={"PATH": path},
        capture_output=True,
        text=True,
    )


def test_a_plain_command_line_reaches_the_real_planner_untouched(host: Path) -> None:
    arguments = ["-Dpegasus.mode=development", "--sites", "a b;$(c)", "w.yml"]
    assert json.loads(call(host, *arguments).stdout) == ["pegasus-plan", *arguments]


@pytest.mark.parametrize(
    "word", ["--bb-mode", "--bb-mode=persistent", "-Dpegasus.bb.mode=persistent"]
)
def test_a_word_about_burst_buffers_goes_to_pegasus_bb(host: Path, word: str) -> None:
    got = json.loads(call(host, word, "w.yml").stdout)
    assert got == ["pegasus-bb", "plan", word, "w.yml"]


@pytest.mark.parametrize(
    ("missing", "arguments", "messages"),
    [
        ("pegasus-plan", (), ["pegasus-bb plan"]),
        (
            "pegasus-bb",
            ("--bb-mode", "persistent"),
            ["pegasus-bb is not on PATH", "make setup", "export PATH="],
        ),
    ],
)
def test_a_program_that_is_missing_is_named_with_what_would_do(
    host: Path, missing: str, arguments: tuple[str, ...], messages: list[str]
) -> None:
    (host / missing).unlink()
    answer = call(host, *arguments, "w.yml")
    assert answer.returncode == 2
    assert [each for each in messages if each not in answer.stderr] == []
