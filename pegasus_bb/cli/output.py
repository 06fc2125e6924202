"""What commands print: columns, single lines, and the pages that a user asks for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.cells import cell_len

from pegasus_bb.errors import UsageError


def columns(rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> list[str]:
    """Each row as a line; columns whose numbers are in ``right`` end below each other.

    rich's own table takes minutes for 100,000 rows.
    """
    cells = [[printable(text) for text in row] for row in rows]
    widths = [max(map(_width, column)) for column in zip(*cells, strict=True)]
    to_right = set(right)
    return [
        "  ".join(
            _padded(text, width, number in to_right)
            for number, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def printable(text: str) -> str:
    """In one line, without anything that a terminal would obey."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else "?" for char in text)


def one_line(text: str) -> str:
    return printable(" ".join(text.split()))


def write_page(path: Path, text: str) -> None:
    """Write ``text`` to ``path``. Raises UsageError where that cannot be."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{path}: cannot be written ({error.strerror}); name a file in a folder "
            "that exists and is yours"
        ) from error


def _padded(text: str, width: int, right: bool) -> str:
    blanks = " " * (width - _width(text))
    return blanks + text if right else text + blanks


def _width(text: str) -> int:
    return len(text) if text.isascii() else cell_len(text)
