"""The words that a task gets from its list of arguments.

As in Pegasus the items are joined with blanks, quoted for HTCondor and split by that.
Single and double quotes keep blanks together and vanish; outside of them a backslash
keeps the next character.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pegasus_bb.core.errors import UnplacedError
from pegasus_bb.model.dag.quoting import split_words
from pegasus_bb.planner.builtin.profiles import plain_text, short_enough

_QUOTING = re.compile(r"""["'\\]""")
_WORD = re.compile(r"[^ \t\v\f]+")
# The last alternative is a quote that is not closed, or a backslash at the end.
_QUOTED = re.compile(r"""('[^']*')|"([^"]*)"|\\(.)|["'\\]""")
_KEPT = re.compile(r"""\\[\\"']""")
# The character itself.
_WOULD_DO = {
    "'": """it in double quotes: "it's\"""",
    '"': r"\" outside of quotes",
    "\\": r"\\",
}


def task_words(items: Sequence[str], job: str) -> Sequence[str]:
    """The words of ``job``. Raises UnplacedError for a line break, a quote that is not
    closed, and a word that is too long for Linux."""
    text = " ".join(items)
    what = f"an argument of job {job}"
    try:
        plain_text(text, what)
    except UnplacedError:
        for place, item in enumerate(items):
            plain_text(item, what, ("arguments", place))
        raise
    if _QUOTING.search(text) is None:
        words = _WORD.findall(text)
    else:
        words = split_words(_QUOTED.sub(lambda m: _for_htcondor(m, items, what), text))
    for word in words:
        short_enough(word, what, ("arguments",))
    return words


def loses_text(items: Sequence[str]) -> bool:
    """Whether a task gets less than its list has: an empty item is no word, and a
    backslash vanishes unless another one or a quote follows."""
    return "" in items or any("\\" in _KEPT.sub("", item) for item in items)


def _for_htcondor(match: re.Match[str], items: Sequence[str], what: str) -> str:
    single, double, kept = match.groups()
    if single is not None:
        return str(single)
    if double is not None:
        return "'" + double.replace("'", "''") + "'"
    if kept is not None:
        return "''" if kept == "'" else str(kept)
    place = 0
    begin = match.start()
    while begin > len(items[place]):
        begin -= len(items[place]) + 1
        place += 1
    ends = "at the end" if match[0] == "\\" else "that is not closed"
    raise UnplacedError(
        f"{what} has a {match[0]} {ends}: arguments are split by quotes, as in Pegasus",
        ("arguments", place),
        repr(items[place]),
        f"close the quote; for the character itself write {_WOULD_DO[match[0]]}",
    )
