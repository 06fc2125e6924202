"""Names that others chose, for a terminal or a page."""

from __future__ import annotations


def readable(text: str) -> str:
    r"""``text``, with \xNN, \uNNNN in the place of what would not be seen as itself.

    Control characters (a terminal would obey them), marks that turn the direction of
    writing (a name would look like another), halves of surrogates (no output takes
    them: a file's name need not be UTF-8).
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
