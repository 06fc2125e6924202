"""Text on its way to a batch system, through scripts that others wrote.

blahp writes what a job requires into a shell script, in double quotes, and echoes it
without any: ``$``, a backquote, a backslash or a quote would be the shell's to read.
"""

from __future__ import annotations

import re

_WORDS = re.compile(r"[A-Za-z0-9_./+=@,:%&|()-]+(?: +[A-Za-z0-9_./+=@,:%&|()-]+)*")
WOULD_DO = "letters, digits, blanks and _ . / + = @ , : % & | ( ) -"


def is_plain(text: str) -> bool:
    """Whether ``text`` means the same to every shell script that it may pass."""
    return not text or _WORDS.fullmatch(text) is not None
