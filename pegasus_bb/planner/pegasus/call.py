"""Calls of the real tools, by argument lists."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from pegasus_bb.errors import UsageError
from pegasus_bb.planner.context import PlanContext
from pegasus_bb.planner.pegasus.arguments import plain
from pegasus_bb.planner.pegasus.home import PLAN, Home
from pegasus_bb.planner.pegasus.inputs import PROPERTIES, WORKFLOW
from pegasus_bb.process import start

# What is done while a program works; it may ask whether that has ended.
Meanwhile = Callable[[Callable[[], bool]], None]


def plan_argv(
    home: Home, context: PlanContext, folder: Path, passed: Sequence[str]
) -> list[str]:
    """The real pegasus-plan on what we wrote to ``folder``. Raises UsageError."""
    submit = context.submit_dir.relative_to(context.base_dir)
    ours = {
        "--conf": str(folder / PROPERTIES),
        "--dir": str(context.base_dir),
        "--relative-submit-dir": str(submit),
        "--relative-dir": context.relative_dir,
    }
    words = [word for pair in ours.items() for word in pair]
    words = [*words, *passed, str(folder / WORKFLOW)]
    return [home.tool(PLAN), *(plain(word, "the argument") for word in words)]


def call_planner(
    argv: Sequence[str], said: Path, cwd: Path, meanwhile: Meanwhile
) -> bytes:
    """What pegasus-plan prints, also kept in ``said``. Its errors go to ours as they
    come; ``meanwhile`` is done while it works. Raises UsageError where it fails."""
    with said.open("wb") as out:
        status = run(argv, cwd, out.fileno(), meanwhile)
    text = said.read_bytes()
    if status != 0:
        sys.stderr.write(text.decode(errors="replace"))
        raise UsageError(
            f"pegasus-plan ended with exit status {status}, its words are above; "
            "nothing was left behind"
        )
    return text


def run(
    argv: Sequence[str],
    cwd: Path,
    stdout: int | None = None,
    meanwhile: Meanwhile | None = None,
) -> int:
    """The exit status of ``argv``; interrupted with us, it is waited for."""
    try:
        process = start(argv, cwd=str(cwd), stdout=stdout)
    except OSError as error:
        raise UsageError(f"{argv[0]} cannot be started: {error.strerror}") from error
    try:
        if meanwhile is not None:
            meanwhile(lambda: process.poll() is not None)
        return process.wait()
    except BaseException:
        process.terminate()
        process.wait()
        raise


def become(argv: Sequence[str]) -> None:
    """Replace this process by ``argv``. Raises UsageError where that fails."""
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execv(argv[0], list(argv))  # noqa: S606 - no shell is wanted
    except OSError as error:
        raise UsageError(f"{argv[0]} cannot be started: {error.strerror}") from error
