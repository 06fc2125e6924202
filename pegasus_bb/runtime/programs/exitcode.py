"""The POST script of every node: decides by its record whether the job succeeded.

`exitcode -r RETURN FILE.out` exits with 0 only if the job ended with 0 and so did the
task of every record in FILE.out. It renames FILE.out and FILE.err to the next free
number, so that the next attempt does not overwrite them.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence

from pegasus_bb.core.errors import PegasusBBError, UsageError
from pegasus_bb.core.light_typing import NamedTuple

FAILED = 1
_NUMBERED = re.compile(r"\.out\.[0-9]{3}$")
# Recognised by indentation: the output of a task is quoted, or indented deeper.
_RECORD = b"- invocation:"
_TASK = re.compile(rb'  derivation: "?([^"\n]+)')
_RAW = re.compile(rb"      raw: (-?[0-9]+)\s*$")


class Verdict(NamedTuple):
    """The records in a node's output; ``why`` is empty if the job succeeded."""

    records: int
    why: str


def main(argv: Sequence[str] | None = None) -> int:
    """``exitcode -r RETURN FILE.out``: 0 if the job succeeded."""
    status, why = answer(list(sys.argv[1:] if argv is None else argv))
    if why:
        print(why, file=sys.stderr)
    return status


def answer(argv: list[str], folder: str = "") -> tuple[int, str]:
    """The exit status of ``exitcode ARGV`` in ``folder``, and what it says. Checks and
    renames the output of the job.

    May be repeated: a file that has its number already is checked again.
    """
    try:
        code, path = _arguments(argv)
        why = _problem(code, os.path.join(folder, path))
    except PegasusBBError as error:
        return error.exit_code, f"exitcode: {error}"
    except OSError as error:  # a full disk, a folder that went away
        return FAILED, f"exitcode: {error.filename}: {error.strerror}"
    return (FAILED, f"exitcode: {why}") if why else (0, "")


def _problem(code: int, path: str) -> str:
    """Why the job that ended with ``code`` has failed; empty if it succeeded."""
    kept = keep(path)
    if not kept:
        return f"{path}: is not there, so the job never started or lost it"
    verdict = judge(kept)
    if code != 0:
        why = verdict.why or "its record says 0"
        return f"{kept}: the job ended with {code}; {why}"
    return f"{kept}: {verdict.why}" if verdict.why else ""


def judge(path: str) -> Verdict:
    """The verdict of the records in ``path``, in one pass and constant memory."""
    records = 0
    complete = True
    why = task = ""
    with open(path, "rb") as lines:
        for line in lines:
            if line.startswith(_RECORD):
                if not complete:
                    break
                records = records + 1
                complete = False
                task = ""
            named = _TASK.match(line)
            if named is not None and named.group(1) != b"null":
                task = f" {named.group(1).decode(errors='replace')}"
            match = _RAW.match(line)
            if match is None:
                continue
            complete = True
            if int(match.group(1)) != 0 and not why:
                status = _status_text(match)
                why = f"its task{task} failed ({status})"
                why += f", by record {records}" if records > 1 else ""
    if not why and records == 0:
        why = "no record in it: the job was killed, or never started"
    if not why and not complete:
        why = "a record breaks off: the job was killed while it was written"
    return Verdict(records, why)


def keep(path: str) -> str:
    """Rename FILE.out and FILE.err to their next number; returns the new FILE.out.

    Empty if there is none. A file that has its number already stays.
    """
    if _NUMBERED.search(path):
        return path if os.path.isfile(path) else ""
    base = path[: -len(".out")]
    number = _next_number(base)
    if os.path.isfile(path):
        os.rename(path, f"{path}.{number:03d}")
        if os.path.isfile(base + ".err"):
            os.rename(base + ".err", f"{base}.err.{number:03d}")
        return f"{path}.{number:03d}"
    return f"{path}.{number - 1:03d}" if number else ""


def _next_number(base: str) -> int:
    for number in range(1000):
        if not os.path.lexists(f"{base}.out.{number:03d}"):
            return number
    raise PegasusBBError(
        f"{base}.out has been kept 1000 times; remove old {base}.out.NNN files"
    )


def _status_text(match: re.Match[bytes]) -> str:
    raw = int(match.group(1))
    if raw > 0 and os.WIFSIGNALED(raw):
        return f"signal {os.WTERMSIG(raw)}"
    return f"exit code {os.WEXITSTATUS(raw)}" if raw > 0 else f"raw status {raw}"


def _arguments(arguments: list[str]) -> tuple[int, str]:
    usage = "next: exitcode -r RETURN FILE.out"
    if len(arguments) != 3 or arguments[0] != "-r":
        raise UsageError(usage)
    try:
        code = int(arguments[1])
    except ValueError:
        raise UsageError(f"-r {arguments[1]!r} is not a number; {usage}") from None
    if not arguments[2].endswith(".out") and not _NUMBERED.search(arguments[2]):
        raise UsageError(f"{arguments[2]} does not look like an .out file; {usage}")
    return code, arguments[2]
