"""The injector itself: which calls it counts, and what is left when it strikes."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from .injector import run_traced

STORY = "echo a > x; cat x; mkdir y; mv x y/z; rm y/z"
TOLD = [
    "openat(x)",
    "write(x)",
    "execve(cat)",
    "execve(mkdir)",
    "mkdir(y)",
    "execve(mv)",
    "renameat2(x -> y/z)",
    "execve(rm)",
    "unlinkat(y/z)",
]
# What is there when it is killed before each of them.
LEFT = [
    ["y"],  # never killed
    [],
    ["x"],
    ["x"],
    ["x"],
    ["x"],
    ["x", "y"],
    ["x", "y"],
    ["y", "y/z"],
    ["y", "y/z"],
    ["y"],
]


@pytest.fixture(autouse=True)
def _permitted(may_trace: None) -> None:
    pass


def sh(folder: Path, script: str, n: int = 0) -> list[str]:
    """The calls of a script, without the folder; the one that it died at comes last."""
    folder.mkdir(exist_ok=True)
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
    argv = ["/bin/sh", "-c", script]
    done = run_traced(argv, folder, strike_at=n, environ=env)
    assert done.status == (-9 if done.struck_at else 0), done.said
    return [told(str(call), folder) for call in done.calls]


def told(call: str, folder: Path) -> str:
    call = call.replace(f"{folder}/", "")
    return re.sub(r"execve\(.*/", "execve(", call)


def found(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize("n", range(0, len(LEFT), 3))
def test_it_strikes_before_the_nth_call_and_nothing_happens_after(
    tmp_path: Path, n: int
) -> None:
    """What changes the folder counts, and reading does not."""
    assert sh(tmp_path / "f", STORY, n) == (TOLD[:n] if n else TOLD)
    assert found(tmp_path / "f") == LEFT[n]


def test_children_die_with_it(tmp_path: Path) -> None:
    """One that lives would still hold its end of the pipe."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    script = f"(: > alive; read line < {pipe}) & until [ -e alive ]; do :; done; : > x"
    assert sh(tmp_path / "f", script, n=2)[-1] == "openat(x)"
    assert found(tmp_path / "f") == ["alive"]
    with pytest.raises(OSError, match="No such device"):
        os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
