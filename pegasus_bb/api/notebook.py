"""A result as a piece of HTML for a notebook: no scripts, no styles of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from pegasus_bb.core.text import readable

ROWS = 100  # of a table; the data has all of them
_LEFT = ' style="text-align:left"'
_RIGHT = ' style="text-align:right"'


def fragment(
    title: str,
    lines: Iterable[str] = (),
    *,
    head: Sequence[str] = (),
    rows: Sequence[Sequence[str]] = (),
    code: str = "",
    right: Iterable[int] = (),
) -> str:
    """Return one ``div``: a sentence, more of them, a table, a command. All text is
    escaped; the columns ``right`` hold numbers."""
    parts = [f"<p><strong>{_text(title)}</strong></p>"]
    parts += [f"<p>{_text(line)}</p>" for line in lines if line]
    if rows:
        parts.append(_table(head, rows, frozenset(right)))
    if len(rows) > ROWS:
        parts.append(f"<p>and {len(rows) - ROWS} more</p>")
    if code:
        parts.append(f"<pre>{_text(code)}</pre>")
    return f'<div class="pegasus-bb">{"".join(parts)}</div>'


def _table(
    head: Sequence[str], rows: Sequence[Sequence[str]], right: frozenset[int]
) -> str:
    top = f"<thead>{_row('th', head, right)}</thead>" if head else ""
    body = "".join(_row("td", row, right) for row in rows[:ROWS])
    return f"<table>{top}<tbody>{body}</tbody></table>"


def _row(tag: str, cells: Sequence[str], right: frozenset[int]) -> str:
    found = (
        f"<{tag}{_RIGHT if number in right else _LEFT}>{_text(cell)}</{tag}>"
        for number, cell in enumerate(cells)
    )
    return f"<tr>{''.join(found)}</tr>"


def _text(text: str) -> str:
    return escape(readable(text))
