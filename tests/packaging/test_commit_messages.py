"""The check of commit messages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CHECK = Path(__file__).parents[2] / "packaging" / "check_commits.py"


def check(tmp_path: Path, message: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "message").write_text(message)
    argv = [sys.executable, str(CHECK), "--file", str(tmp_path / "message")]
    return subprocess.run(argv, capture_output=True, text=True)


def test_a_message_with_an_area_and_a_problem_passes(tmp_path: Path) -> None:
    done = check(tmp_path, "gate: polls twice\n\nProblem: one answer was lost.\n# x\n")
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        ("polls twice\n\nProblem: x\n", "write `area: what changes`"),
        ("gate: polls\nProblem: x\n", "the second line is not empty"),
        ("gate: polls\n\nIt was lost.\n", "no line begins with `Problem:`"),
        (f"gate: {'x' * 90}\n\nProblem: x\n", "at most 88"),
        ("", "write `area: what changes`"),
    ],
)
def test_a_message_without_one_is_refused_with_the_reason(
    tmp_path: Path, message: str, fault: str
) -> None:
    done = check(tmp_path, message)
    assert done.returncode == 1
    assert fault in done.stdout
