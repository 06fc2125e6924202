"""Names that a careless program would split, expand, decode or take for an option."""

from __future__ import annotations

import os

HOSTILE = [
    "two words.txt",
    'it\'s "quoted".txt',
    "$(touch PWNED)",
    "$HOME",
    "a'; touch PWNED; '",
    "line\nbreak",
    "100%41.txt",
    "#hash?query",
    "\u202egnp.txt",
    "-rf",
    "back\\slash",
    "n" * 255,
    "d\u00e9j\u00e0 \u6f22\U0001f600",
    os.fsdecode(b"not-utf8-\xff\xfe"),
]
