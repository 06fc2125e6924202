"""Text that others chose, on its way to a shell, a terminal or a page."""

from __future__ import annotations

import re

_SHELL_WORDS = re.compile(
    r"[A-Za-z0-9_./+=@,:%&|()-]+(?: +[A-Za-z0-9_./+=@,:%&|()-]+)*"
)
WOULD_DO = "letters, digits, blanks and _ . / + = @ , : % & | ( ) -"


def is_plain(text: str) -> bool:
    """Whether ``text`` means the same to every shell script that it may pass.

    blahp writes what a job requires into a shell script, in double quotes, and echoes
    it without any.
    """
    return not text or _SHELL_WORDS.fullmatch(text) is not None


def readable(text: str) -> str:
    r"""``text``, with \xNN, \uNNNN in the place of what would not be seen as itself:
    control characters, marks that turn the direction of writing, and the halves of
    surrogates, which no output takes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
