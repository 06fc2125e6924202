"""Text for a terminal, a page or a shell: tables as columns, and what is safe there."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence

_GAP = re.compile("  +(?=[^ ])")  # between columns
_SHELL_WORDS = re.compile(
    r"[A-Za-z0-9_./+=@,:%&|()-]+(?: +[A-Za-z0-9_./+=@,:%&|()-]+)*"
)
WOULD_DO = "letters, digits, blanks and _ . / + = @ , : % & | ( ) -"


def columns(rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> list[str]:
    """Each row as a line; columns whose numbers are in ``right`` end below each other.

    rich's own table takes minutes for 100,000 rows.
    """
    cells = [[printable(text) for text in row] for row in rows]
    widths = [max(map(_width, column)) for column in zip(*cells, strict=True)]
    to_right = set(right)
    return [
        "  ".join(
            _padded(text, width, right=number in to_right)
            for number, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def folded(lines: Iterable[str], width: int | None) -> Iterator[str]:
    """``lines``; the last column of one that is longer than ``width`` goes on below
    itself. Without a width, as for a file, all stay as they are."""
    for line in lines:
        if width is None or len(line) <= width:
            yield line
            continue
        indent = max((found.end() for found in _GAP.finditer(line)), default=2)
        below = " " * (indent if indent <= width // 2 else 2)
        yield from textwrap.wrap(
            line,
            width,
            subsequent_indent=below,
            drop_whitespace=True,
            break_long_words=False,  # a path is copied
            break_on_hyphens=False,
        )


def printable(text: str) -> str:
    """In one line, without anything that a terminal would obey."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else "?" for char in text)


def one_line(text: str) -> str:
    return printable(" ".join(text.split()))


def _padded(text: str, width: int, *, right: bool) -> str:
    blanks = " " * (width - _width(text))
    return blanks + text if right else text + blanks


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # loads rich: names are rarely in other alphabets

    return cell_len(text)


def is_plain(text: str) -> bool:
    """Whether shell scripts pass ``text`` on unchanged.

    blahp writes the requirements of a job into a shell script in double quotes, and
    echoes them without quotes.
    """
    return not text or _SHELL_WORDS.fullmatch(text) is not None


def names_a_buffer(arguments: str) -> bool:
    """Whether options of sbatch bring directives of a burst buffer."""
    words = (word.partition("=")[0] for word in arguments.split())
    return any(word in ("--bb", "--bbf") for word in words)


def readable(text: str) -> str:
    r"""``text`` with \xNN or \uNNNN for characters that a reader would not see: control
    characters, marks of the writing direction, and lone surrogates."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
