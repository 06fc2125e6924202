"""Calls Pegasus's own tools, with argument lists."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.process import start
from pegasus_bb.model.property_files import ENVIRONMENT
from pegasus_bb.model.settings import PREFIX
from pegasus_bb.planner.pegasus.exclusive_folder import PRINTED
from pegasus_bb.planner.pegasus.pegasus_inputs import PROPERTIES, WORKFLOW
from pegasus_bb.planner.pegasus_home import PLAN, PegasusHome
from pegasus_bb.planner.run_plan import RunPlan

# pegasus-plan is a shell script that puts its arguments together without quotes.
_PLAIN = re.compile(r"(?:[A-Za-z0-9_./+=@,:%-]|[^\x00-\x7f])+")
_GRACE = 2.0  # seconds
_POLL = 0.02


def plain_argv(home: PegasusHome, argv: Iterable[str]) -> list[str]:
    return [home.tool(PLAN), *_without_bb_options(argv)]


def _without_bb_options(argv: Iterable[str]) -> Iterator[str]:
    """``argv`` without our options and -Dpegasus.bb.X; the rest is unchanged."""
    words = iter(argv)
    for word in words:
        if word in ("--check", "--no-check"):
            continue
        if word.startswith("--bb-"):
            if "=" not in word:
                next(words, None)
        elif word == "-D":
            define = next(words, "")
            if not define.startswith(PREFIX):
                yield from (word, define)
        elif not word.startswith(f"-D{PREFIX}"):
            yield word


def run_argv(
    home: PegasusHome, submit_dir: Path, *, as_json: bool, forward: Iterable[str]
) -> list[str]:
    """The call of pegasus-run that pegasus-plan --submit makes; ``forward``:
    KEY[=VALUE]."""
    words = ["--json"] if as_json else []
    for text in forward:
        key, equals, value = text.partition("=")
        words += [f"--{key}", value] if equals else [f"--{key}"]
    return [home.tool("pegasus-run"), *words, str(submit_dir)]


def plan_argv(
    home: PegasusHome, run: RunPlan, folder: Path, passed: Sequence[str]
) -> list[str]:
    """The call of pegasus-plan on the inputs in ``folder``. Raises UsageError."""
    ours = {
        "--conf": str(folder / PROPERTIES),
        "--dir": str(run.base_dir),
        "--relative-submit-dir": str(run.submit_dir.relative_to(run.base_dir)),
        "--relative-dir": run.relative_dir,
    }
    words = [word for pair in ours.items() for word in pair]
    words += [*passed, str(folder / WORKFLOW)]
    return [home.tool(PLAN), *(plain(word, "the argument") for word in words)]


def plain(word: str, what: str) -> str:
    """``word``, if pegasus-plan's shell script does not change it. Raises
    UsageError."""
    if _PLAIN.fullmatch(word) is None:
        raise UsageError(
            f"{what} {word!r} cannot be given to pegasus-plan, whose script splits its "
            "arguments at blanks and expands patterns; letters, digits and "
            "_ . / + = @ , : % - can"
        )
    return word


def run_planner(argv: Sequence[str], folder: Path, cwd: Path) -> bytes:
    """Run pegasus-plan and return its stdout, which ``folder`` keeps too.

    If this process is interrupted, it ends pegasus-plan and all its children. Raises
    UsageError if pegasus-plan fails.
    """
    printed = folder / PRINTED
    with printed.open("wb") as out, _as_usage_error(argv[0]):
        process = start(
            argv,
            cwd=str(cwd),
            env=_without_properties(os.environ),
            stdout=out.fileno(),
            new_session=True,
        )
    try:
        status = process.wait()
    except BaseException:
        _stop(process)
        raise
    text = printed.read_bytes()
    if status != 0:
        sys.stderr.write(text.decode(errors="replace"))
        raise UsageError(
            f"pegasus-plan ended with exit status {status}, its words are above; "
            "nothing was left behind"
        )
    return text


def _without_properties(environ: Mapping[str, str]) -> dict[str, str]:
    """They are in --conf already, changed as the tier needs; and they would win."""
    return {k: v for k, v in environ.items() if not k.startswith(ENVIRONMENT)}


def _stop(process: Any) -> None:
    """End the whole session: a script that waits for Java, and Java."""
    begun = time.monotonic()
    for tries, number in enumerate((signal.SIGTERM, signal.SIGKILL), 1):
        while _signal(process, number) and time.monotonic() < begun + tries * _GRACE:
            time.sleep(_POLL)


def _signal(process: Any, number: signal.Signals) -> bool:
    process.poll()  # reap it, or killpg would find the zombie
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return False
    return True


def run(argv: Sequence[str], cwd: Path) -> int:
    """Run ``argv`` and return its exit status; on an interrupt, wait for its end."""
    with _as_usage_error(argv[0]):
        process = start(argv, cwd=str(cwd))
    try:
        return process.wait()
    except BaseException:
        process.terminate()
        process.wait()
        raise


def become(argv: Sequence[str]) -> None:
    """Replace this process by ``argv``. Raises UsageError if that fails."""
    sys.stdout.flush()
    sys.stderr.flush()
    with _as_usage_error(argv[0]):
        os.execv(argv[0], list(argv))  # noqa: S606 - no shell is wanted


@contextmanager
def _as_usage_error(program: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"{program} cannot be started: {error.strerror}") from error
