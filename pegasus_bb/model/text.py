"""Foreign text on its way to a shell, a terminal or a page."""

from __future__ import annotations

import re

_SHELL_WORDS = re.compile(
    r"[A-Za-z0-9_./+=@,:%&|()-]+(?: +[A-Za-z0-9_./+=@,:%&|()-]+)*"
)
WOULD_DO = "letters, digits, blanks and _ . / + = @ , : % & | ( ) -"


def is_plain(text: str) -> bool:
    """Whether shell scripts pass ``text`` on unchanged.

    blahp writes the requirements of a job into a shell script in double quotes, and
    echoes them without quotes.
    """
    return not text or _SHELL_WORDS.fullmatch(text) is not None


def readable(text: str) -> str:
    r"""``text`` with \xNN or \uNNNN for characters that a reader would not see: control
    characters, marks of the writing direction, and lone surrogates."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
