"""The options of pegasus-kickstart that pegasus-plan writes, read as it reads them."""

from __future__ import annotations

import sys

from pegasus_bb.core.errors import UsageError
from pegasus_bb.core.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Options with a value, as one word or two (-n NAME, -nNAME).
_WITH_VALUE = {
    "n": "transformation",
    "N": "derivation",
    "R": "resource",
    "L": "",
    "T": "",
    "w": "workdir",
    "W": "made workdir",
    "i": "stdin",
    "o": "stdout",
    "e": "stderr",
    "l": "logfile",
    "B": "tail",
    "k": "terminate after",
    "K": "kill after",
}
# These ask for what is always done, or for what our recorder measures without.
_FLAGS = {
    "q": "quiet",
    "X": "make executable",
    "f": "",
    "H": "",
    "F": "",
    "c": "",
    "t": "",
    "z": "",
    "Z": "",
}


class Options:
    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.flags: dict[str, bool] = {}
        self.initial: list[str] = []  # FILE, LFN=FILE or @LIST, looked at before
        self.final: list[str] = []  # the same, looked at after
        self.argv: list[str] = []

    def value(self, name: str, default: str = "") -> str:
        return self.values.get(name, default)

    def number(self, name: str, default: int) -> int:
        """The whole number of an option. Raises UsageError."""
        text = self.values.get(name)
        if text is None:
            return default
        if not text.isdigit():
            raise UsageError(f"{name}: {text!r} is not a whole number")
        return int(text)


def parse_options(argv: Sequence[str]) -> Options:
    """Read ``argv`` up to PROGRAM; the rest is the task's. Raises UsageError."""
    options = Options()
    arguments = list(reversed(argv))  # the end of a list is quickly taken off
    while arguments and arguments[-1].startswith("-") and len(arguments[-1]) > 1:
        word = arguments.pop()
        if word == "--":
            break
        letter = word[1]
        value = word[2:]
        if letter in _FLAGS:
            options.flags[_FLAGS[letter]] = True
            continue
        if letter not in _WITH_VALUE and letter not in "sS":
            raise UsageError(
                f"{word!r} is not an option of pegasus-kickstart that this recorder has"
            )
        if not value:
            if not arguments:
                raise UsageError(f"-{letter} needs a value")
            value = arguments.pop()
        if letter in "sS":
            (options.final if letter == "s" else options.initial).append(value)
        else:
            options.values[_WITH_VALUE[letter]] = _unquoted(value)
    if not arguments:
        raise UsageError("no program to run; next: record [OPTION...] PROGRAM [ARG...]")
    options.argv = arguments[::-1]
    for name in ("terminate after", "kill after", "tail"):
        if options.value(name) != "all" or name != "tail":
            options.number(name, 0)
    return options


def reads_stdin(argv: Sequence[str]) -> bool:
    """Whether a recorder called with ``argv`` passes its own stdin on (-i -)."""
    try:
        return parse_options(argv).value("stdin") == "-"
    except UsageError:
        return False


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    return text


def listed_files(
    values: Sequence[str], environ: Mapping[str, str]
) -> list[tuple[str, str]]:
    """The (LFN, path) of each file of -s or -S. As with Kickstart a list that cannot be
    read is a message, and fails no task."""
    entries: list[str] = []
    for value in values:
        if not value.startswith("@"):
            entries.append(value)
            continue
        path = _expanded(value[1:], environ)
        try:
            with open(path, encoding="utf-8", errors="surrogateescape") as listed:
                entries += filter(None, listed.read().splitlines())
        except OSError as error:
            why = f"its files are not in the record: {error.strerror}"
            print(f"record: {path}: {why}", file=sys.stderr)
    return [_pair(entry) for entry in entries]


def _expanded(path: str, environ: Mapping[str, str]) -> str:
    """``path`` below a folder that a variable names: pegasus-plan 5.1.3 writes
    $_CONDOR_SCRATCH_DIR/mix.in.lof."""
    name, slash, rest = path[1:].partition("/")
    known = environ.get(name) if path.startswith("$") else None
    return path if known is None else f"{known}{slash}{rest}"


def _pair(entry: str) -> tuple[str, str]:
    half = len(entry) // 2
    if entry[half : half + 1] == "=" and entry[:half] == entry[half + 1 :]:
        return entry[:half], entry[:half]  # an LFN may itself hold a "="
    lfn, equals, path = entry.partition("=")
    return (lfn, path) if equals else (entry, entry)


def job_facts(options: Options) -> dict[str, str]:
    """The names of the job in its record, in Kickstart's order."""
    names = ("transformation", "derivation", "resource")
    return {name: options.values[name] for name in names if name in options.values}
