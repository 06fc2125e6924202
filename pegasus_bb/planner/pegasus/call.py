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
from pegasus_bb.planner.options import RunDirectories
from pegasus_bb.planner.pegasus.arguments import plain
from pegasus_bb.planner.pegasus.folder import SAID, WARNED
from pegasus_bb.planner.pegasus.home import PLAN, Home
from pegasus_bb.planner.pegasus.inputs import PROPERTIES, WORKFLOW
from pegasus_bb.planner.pegasus.java import java_options
from pegasus_bb.process import start

_GRACE = 2.0  # seconds
_LOOK = 0.02


def plan_argv(
    home: Home,
    run: RunDirectories,
    folder: Path,
    passed: Sequence[str],
    workflow: Path,
) -> list[str]:
    """The real pegasus-plan on what we wrote to ``folder``, made of the user's
    ``workflow``. Raises UsageError, and OSError where that is not there."""
    ours = {
        "--conf": str(folder / PROPERTIES),
        "--dir": str(run.base_dir),
        "--relative-submit-dir": str(run.submit_dir.relative_to(run.base_dir)),
        "--relative-dir": run.relative_dir,
    }
    words = [word for pair in ours.items() for word in pair]
    java = java_options(os.environ, passed, workflow.stat().st_size)
    words = [*java, *words, *passed, str(folder / WORKFLOW)]
    return [home.tool(PLAN), *(plain(word, "the argument") for word in words)]


class Planner:
    """A pegasus-plan that is at work, alone with what it has started. What it prints
    is kept beside what it reads, and its errors: they are passed on to ours while it
    ``is_heard``. Nothing is heard of one that is ended."""

    def __init__(self, argv: Sequence[str], folder: Path, cwd: Path) -> None:
        """Raises UsageError where it cannot be started."""
        self.is_heard = True
        self._said, self._warned = folder / SAID, folder / WARNED
        self._heard = 0  # bytes of its errors
        with (
            self._said.open("wb") as out,
            self._warned.open("ab") as errors,
            _told(argv[0]),
        ):
            self._process = start(
                argv,
                str(cwd),
                stdout=out.fileno(),
                stderr=errors.fileno(),
                new_session=True,
            )

    @property
    def group(self) -> int:
        """Of its processes."""
        return self._process.pid

    def __enter__(self) -> Planner:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        """What fails meanwhile ends it."""
        if error is not None:
            self.stop()

    def has_ended(self) -> bool:
        """Whether it has, well or not."""
        self._pass_on()
        return self._process.poll() is not None

    def status(self) -> int:
        """Its exit status, waited for."""
        return self._process.wait()

    def printed(self) -> bytes:
        """All that it prints to its end. Raises UsageError where it fails."""
        status = self.status()
        text = self._said.read_bytes()
        self._pass_on()
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

    def _pass_on(self) -> None:
        if not self.is_heard:
            return
        with self._warned.open("rb") as errors:
            errors.seek(self._heard)
            new = errors.read()
        if new:
            self._heard += len(new)
            sys.stderr.write(new.decode(errors="replace"))
            sys.stderr.flush()

    def _tell(self, number: signal.Signals) -> bool:
        """Whether there was any process left to tell."""
        self._process.poll()  # or what has ended would still be there to tell
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            return False
        return True


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
