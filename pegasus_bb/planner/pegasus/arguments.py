"""What of a command line reaches the real pegasus-plan."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pegasus_bb.errors import UsageError
from pegasus_bb.model.properties import PREFIX
from pegasus_bb.planner.pegasus.home import PLAN, Home

# pegasus-plan is a shell script that puts its arguments together without quotes.
_PLAIN = re.compile(r"[A-Za-z0-9_./+=@,:%-]+")


@dataclass(frozen=True)
class Call:
    """How the user called us, apart from what is replaced."""

    passed: tuple[str, ...] = ()  # for pegasus-plan, word for word
    as_json: bool = False
    forward: tuple[str, ...] = ()  # KEY[=VALUE], options for pegasus-run


def plain_argv(home: Home, argv: Iterable[str]) -> list[str]:
    """A plain pegasus-plan on the user's own command line."""
    return [home.tool(PLAN), *without_ours(argv)]


def run_argv(home: Home, call: Call, submit_dir: Path) -> list[str]:
    """pegasus-run, as pegasus-plan --submit calls it."""
    words = ["--json"] if call.as_json else []
    for text in call.forward:
        key, equals, value = text.partition("=")
        words += [f"--{key}", value] if equals else [f"--{key}"]
    return [home.tool("pegasus-run"), *words, str(submit_dir)]


def without_ours(argv: Iterable[str]) -> Iterator[str]:
    """``argv`` without --bb-X and -Dpegasus.bb.X, all else as it stands."""
    words = iter(argv)
    for word in words:
        if word.startswith("--bb-"):
            if "=" not in word:
                next(words, None)
        elif word == "-D":
            define = next(words, "")
            if not define.startswith(PREFIX):
                yield from (word, define)
        elif not word.startswith(f"-D{PREFIX}"):
            yield word


def plain(word: str, what: str) -> str:
    """``word``, which pegasus-plan's shell script cannot take apart."""
    if _PLAIN.fullmatch(word) is None:
        raise UsageError(
            f"{what} {word!r} cannot be given to pegasus-plan, whose script splits its "
            "arguments at blanks and expands patterns; letters, digits and "
            "_ . / + = @ , : % - can"
        )
    return word
