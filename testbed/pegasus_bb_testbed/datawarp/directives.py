"""The #DW lines of a job script, as DataWarp reads them."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from typing import NamedTuple

from pegasus_bb.core.errors import UsageError
from pegasus_bb_testbed.datawarp.arguments import token

_LARGEST = 4 << 20  # a job script; Slurm's own limit
_ACCESS = re.compile(
    r"(striped|private)(\([^()]*\))?(,(striped|private)(\([^()]*\))?)*"
)
_KEYS = {
    "jobdw": {"type", "capacity", "access_mode", "pool", "modified_threshold"},
    "persistentdw": {"name"},
    "swap": set(),
    "stage_in": {"type", "source", "destination"},
    "stage_out": {"type", "source", "destination"},
}
_VARIABLE = re.compile(
    r"\$(?:\{)?(DW_JOB_STRIPED|DW_JOB_PRIVATE|DW_PERSISTENT_STRIPED_[A-Za-z0-9._-]+)"
    r"(?:\})?(/.*)?"
)


class Directive(NamedTuple):
    """``#DW WORD key=value ...``."""

    word: str
    values: dict[str, str]

    def accesses(self) -> list[str]:
        return re.findall("striped|private", self.values.get("access_mode", "striped"))


def read_script(path: str) -> str:
    """The text of a job script: a regular file, or a memory file of slurmctld's.

    Raises FileNotFoundError, UsageError.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as source:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise UsageError(f"{path}: not a regular file")
            text = source.read(_LARGEST + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    if len(text) > _LARGEST:
        raise UsageError(f"{path}: longer than {_LARGEST} bytes")
    return text.decode(errors="surrogateescape")


def directives(script: str) -> list[Directive]:
    """All #DW lines of the head of the script. Raises UsageError for a wrong one."""
    return [_directive(words) for words in _lines(script)]


def _lines(script: str) -> Iterator[list[str]]:
    """Words of each #DW line; Slurm reads up to the first line that is no comment."""
    carried = ""
    for line in script.split("\n"):
        if not line.startswith("#"):
            return
        if not carried and not line.startswith("#DW "):
            continue
        text = carried + (line[4:] if line.startswith("#DW ") else line[1:])
        if text.endswith("\\"):
            carried = text[:-1]
            continue
        carried = ""
        yield text.split()


def _directive(words: list[str]) -> Directive:
    said = "#DW " + " ".join(words)
    if not words or words[0] not in _KEYS:
        raise UsageError(f"{said!r}: no such directive; there are {', '.join(_KEYS)}")
    word = words[0]
    values = {}
    for pair in words[1:]:
        key, equals, value = pair.partition("=")
        if word == "swap" and not equals:
            continue  # `#DW swap 10GiB`: accepted, and left to the nodes' own memory
        if key not in _KEYS[word] or not value:
            raise UsageError(f"{said!r}: {word} takes no {pair!r}")
        values[key] = value
    found = Directive(word, values)
    _check(found, said)
    return found


def _check(found: Directive, said: str) -> None:
    values = found.values
    if found.word == "jobdw":
        if "capacity" not in values:
            raise UsageError(f"{said!r}: capacity is missing")
        if not _ACCESS.fullmatch(values.get("access_mode", "striped")):
            raise UsageError(f"{said!r}: access_mode is striped or private")
        if values.get("type", "scratch") != "scratch":
            raise UsageError(f"{said!r}: this DataWarp has type=scratch only")
    elif found.word == "persistentdw" and not token(values.get("name", "")):
        raise UsageError(f"{said!r}: name is missing, or not a buffer's")
    elif found.word in ("stage_in", "stage_out"):
        _check_stage(found, said)


def _check_stage(found: Directive, said: str) -> None:
    """One end is a path, the other is on the buffer."""
    if found.values.get("type", "") not in ("file", "directory"):
        raise UsageError(f"{said!r}: type is file or directory here")
    ends = [found.values.get(key, "") for key in ("source", "destination")]
    outside, inside = ends if found.word == "stage_in" else ends[::-1]
    if not outside.startswith("/") or "\0" in outside:
        raise UsageError(f"{found.word}: {outside!r} is not an absolute path")
    split_variable(inside)


def split_variable(text: str) -> tuple[str, str]:
    """``$DW_JOB_STRIPED/a/b`` -> the variable and ``a/b``. Raises UsageError."""
    match = _VARIABLE.fullmatch(text)
    if match is None:
        raise UsageError(f"{text!r} does not begin with $DW_JOB_STRIPED or the like")
    rest = (match.group(2) or "").strip("/")
    if ".." in rest.split("/") or "\0" in rest:
        raise UsageError(f"{text!r} leads out of the buffer")
    return match.group(1), rest
