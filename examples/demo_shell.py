"""Commands as a user would type them: printed, run, and shown where they fail."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from demo_folders import DemoError

WIDTH = 100  # columns where there is no terminal, and at most
GRACE = 15.0  # seconds that a program has to stop; pegasus-bb run gives its jobs 10


@dataclass(frozen=True)
class Shell:
    """Starts programs with this Python's own folder first on PATH."""

    root: Path  # paths are shown relative to it
    bin: Path  # the folder of pegasus-bb and of a Python with NumPy

    def quietly(self, argv: Sequence[str], cwd: Path) -> None:
        """Run ``argv``; its output is shown only where it fails. Raises DemoError."""
        self._run(argv, cwd, subprocess.PIPE)

    def aloud(self, argv: Sequence[str], cwd: Path) -> None:
        """Run ``argv`` with its output passing by. Raises DemoError."""
        self._run(argv, cwd, None)

    def answer(self, argv: Sequence[str], cwd: Path) -> str:
        """What ``argv`` prints. Raises DemoError."""
        self._show(argv, cwd)
        done = subprocess.run(
            self._found(argv),
            cwd=cwd,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if done.returncode != 0:
            say(done.stderr.decode(errors="replace").rstrip())
            raise DemoError(f"this step failed (exit code {done.returncode})")
        return done.stdout.decode()

    def _run(self, argv: Sequence[str], cwd: Path, stdout: int | None) -> None:
        """Whatever interrupts us ends the program first: it may have jobs to stop."""
        self._show(argv, cwd)
        with subprocess.Popen(
            self._found(argv),
            cwd=cwd,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=None if stdout is None else subprocess.STDOUT,
        ) as program:
            try:
                said, _ = program.communicate()
            except BaseException:
                _end(program)
                raise
        if program.returncode != 0:
            if said:
                say(said.decode(errors="replace").rstrip())
            raise DemoError(f"this step failed (exit code {program.returncode})")

    def short(self, path: Path) -> str:
        """``path`` as it is typed in the root folder."""
        inside = path.is_relative_to(self.root)
        return str(path.relative_to(self.root) if inside else path)

    def _show(self, argv: Sequence[str], cwd: Path) -> None:
        go = f"cd {shlex.quote(self.short(cwd))} && " if cwd != self.root else ""
        say("\n" + folded(f"$ {go}{shlex.quote(argv[0])}", argv[1:], columns()))

    def _found(self, argv: Sequence[str]) -> Sequence[str]:
        program = self.bin / argv[0]
        if not program.exists():
            raise DemoError(
                f"{program} is not there: `make setup` installs it, then `make demo`"
            )
        return [str(program), *argv[1:]]

    def _environment(self) -> dict[str, str]:
        path = os.environ.get("PATH", os.defpath)
        return {**os.environ, "PATH": f"{self.bin}{os.pathsep}{path}"}


def _end(program: subprocess.Popen[bytes]) -> None:
    """Let it stop in its own way, which takes a run's jobs with it; then do not ask."""
    program.terminate()
    try:
        program.wait(GRACE)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        program.kill()


def columns() -> int:
    """The width of a line: the reader's, and no more than is good to read."""
    return min(shutil.get_terminal_size((WIDTH, 24)).columns, WIDTH)


def folded(start: str, arguments: Iterable[str], width: int) -> str:
    """A command in lines of ``width``, as a shell takes them.

    Words stay whole, and an option stays with its value.
    """
    lines = [start]
    for words in _options(arguments):
        if len(lines[-1]) + len(words) + len("  \\") > width:
            lines.append("   ")
        lines[-1] += f" {words}"
    return " \\\n".join(lines)


def _options(arguments: Iterable[str]) -> list[str]:
    """Quoted words; one after an option, which may be its value, is with it."""
    together: list[str] = []
    before = ""
    for word in arguments:
        if before.startswith("-") and not word.startswith("-"):
            together[-1] += f" {shlex.quote(word)}"
        else:
            together.append(shlex.quote(word))
        before = word
    return together


def tell(text: str) -> None:
    """A sentence or more, in lines that fit the reader's terminal; paths stay whole."""
    say(textwrap.fill(text, columns(), break_long_words=False, break_on_hyphens=False))


def say(text: str) -> None:
    """A line for the reader, before whatever a program prints next."""
    print(text)
    sys.stdout.flush()
