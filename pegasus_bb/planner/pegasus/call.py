"""Calls of the real tools, by argument lists."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pegasus_bb.errors import UsageError
from pegasus_bb.planner.deciding import RunName
from pegasus_bb.planner.options import PlanOptions, RunDirectories, home_of_runs
from pegasus_bb.planner.pegasus.arguments import plain
from pegasus_bb.planner.pegasus.folder import (
    SAID,
    claimed,
    planned_folder,
    write_files,
)
from pegasus_bb.planner.pegasus.home import PLAN, Home
from pegasus_bb.planner.pegasus.inputs import PROPERTIES, WORKFLOW, files_for_pegasus
from pegasus_bb.process import start
from pegasus_bb.rewrite import Inputs

_GRACE = 2.0  # seconds
_LOOK = 0.02


def plan_argv(
    home: Home, run: RunDirectories, folder: Path, passed: Sequence[str]
) -> list[str]:
    """The real pegasus-plan on what we wrote to ``folder``. Raises UsageError."""
    ours = {
        "--conf": str(folder / PROPERTIES),
        "--dir": str(run.base_dir),
        "--relative-submit-dir": str(run.submit_dir.relative_to(run.base_dir)),
        "--relative-dir": run.relative_dir,
    }
    words = [word for pair in ours.items() for word in pair]
    words += [*passed, str(folder / WORKFLOW)]
    return [home.tool(PLAN), *(plain(word, "the argument") for word in words)]


class Planner:
    """A pegasus-plan at work, in a session of its own with all that it starts.

    Its errors go where ours go. What it prints is kept beside what it reads.
    """

    def __init__(self, argv: Sequence[str], folder: Path, cwd: Path) -> None:
        """Raises UsageError where it cannot be started."""
        self._said = folder / SAID
        with self._said.open("wb") as out, _told(argv[0]):
            self._process = start(argv, str(cwd), stdout=out.fileno(), new_session=True)

    def __enter__(self) -> Planner:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        """A block that fails ends it."""
        if error is not None:
            self.stop()

    def printed(self) -> bytes:
        """All that it prints to its end. Raises UsageError where it fails."""
        status = self._process.wait()
        text = self._said.read_bytes()
        if status != 0:
            sys.stderr.write(text.decode(errors="replace"))
            raise UsageError(
                f"pegasus-plan ended with exit status {status}, its words are above; "
                "nothing was left behind"
            )
        return text

    def stop(self) -> None:
        """End it and all that it has started: it is a script that waits for Java."""
        begun = time.monotonic()
        for tries, number in enumerate((signal.SIGTERM, signal.SIGKILL), 1):
            while self._tell(number) and time.monotonic() < begun + tries * _GRACE:
                time.sleep(_LOOK)

    def _tell(self, number: signal.Signals) -> bool:
        """Whether there was any process left to tell."""
        self._process.poll()  # or what has ended would still be there to tell
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            return False
        return True


@contextmanager
def started_planner(
    inputs: Inputs, argv: Sequence[str], named: RunName, options: PlanOptions
) -> Iterator[Planner]:
    """A pegasus-plan at work on ``inputs``. Its submit directory is removed again if
    the block fails."""
    run = named.directories
    besides = run.base_dir / home_of_runs(named.label)
    with claimed(run.submit_dir, options.force, besides) as submit_dir:
        folder = planned_folder(submit_dir)
        write_files(folder, dict(files_for_pegasus(inputs)))
        with Planner(argv, folder, options.cwd) as planner:
            yield planner


def run(argv: Sequence[str], cwd: Path) -> int:
    """The exit status of ``argv``; interrupted with us, it is waited for."""
    with _told(argv[0]):
        process = start(argv, cwd=str(cwd))
    try:
        return process.wait()
    except BaseException:
        process.terminate()
        process.wait()
        raise


def become(argv: Sequence[str]) -> None:
    """Replace this process by ``argv``. Raises UsageError where that fails."""
    sys.stdout.flush()
    sys.stderr.flush()
    with _told(argv[0]):
        os.execv(argv[0], list(argv))  # noqa: S606 - no shell is wanted


@contextmanager
def _told(program: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"{program} cannot be started: {error.strerror}") from error
