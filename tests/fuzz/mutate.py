"""Real files, damaged: as by a crash, an editor or an attacker.

A change is a few numbers, so that Hypothesis can make a failing one smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from hypothesis import strategies as st

# What readers trip over: numbers at the edge, other types, other encodings, depth.
PIECES = [
    b"",
    b"\0",
    b"\n",
    b"\r\n",
    b"\t",
    b" ",
    b"\x1e",
    b"\x1f",
    b"\x85",
    b"\xff\xfe",
    "\u2028".encode(),
    b"\xed\xb2\x80",
    b"\xef\xbb\xbf",
    "e\u0301".encode(),
    b"0",
    b"-1",
    b"1e999",
    b"nan",
    b"inf",
    b"-inf",
    b"9" * 400,
    b"0x10",
    b"1_0",
    b"null",
    b"true",
    b"[]",
    b"{}",
    b'""',
    b"''",
    b"~",
    b"- ",
    b"? ",
    b": ",
    b"#",
    b"[" * 2000,
    b"{" * 2000,
    b"- " * 500,
    b'{"a":' * 2000,
    b"&a [*a]",
    b"*a",
    b"!!python/object/apply:os.system [id]",
    b"!!binary x",
    b"<<: [1]",
    b"%TAG ! x",
    b"2026-02-30",
    b"9999999-01-01T00:00:00",
    b"12:34:56",
    b"<!ENTITY a 'b'>",
    b"'",
    b'"',
    b"\\",
    b"=",
    b"$(x)",
    b"${x}",
    b"%s",
    b"../..",
    b"A" * 5000,
]


class Change(NamedTuple):
    """One blow, at a share of the whole."""

    kind: str
    at: float
    size: int
    piece: bytes


def _cut(data: bytes, change: Change) -> bytes:
    return data[: int(change.at * len(data))]


def _insert(data: bytes, change: Change) -> bytes:
    at = int(change.at * len(data))
    return data[:at] + change.piece + data[at:]


def _replace(data: bytes, change: Change) -> bytes:
    at = int(change.at * len(data))
    return data[:at] + change.piece + data[at + change.size :]


def _flip(data: bytes, change: Change) -> bytes:
    at = int(change.at * len(data))
    flipped = bytes(byte ^ change.size for byte in data[at : at + 1])
    return data[:at] + flipped + data[at + 1 :]


def _of_lines(work: Callable[[list[bytes], int, Change], None]) -> Callable[..., bytes]:
    def done(data: bytes, change: Change) -> bytes:
        lines = data.split(b"\n")
        work(lines, int(change.at * (len(lines) - 1)), change)
        return b"\n".join(lines)

    return done


def _value(lines: list[bytes], at: int, change: Change) -> None:
    """Another value behind the last `:`, `=` or blank of a line."""
    line = lines[at]
    ends = [line.rfind(mark) for mark in (b":", b"=", b" ")]
    lines[at] = line[: max(ends) + 1] + change.piece


KINDS: dict[str, Callable[[bytes, Change], bytes]] = {
    "cut": _cut,
    "insert": _insert,
    "replace": _replace,
    "flip": _flip,
    "drop": _of_lines(lambda lines, at, c: lines.__delitem__(slice(at, at + c.size))),
    "repeat": _of_lines(lambda lines, at, c: lines.insert(at, lines[at])),
    "move": _of_lines(lambda lines, at, c: lines.insert(c.size % 9, lines.pop(at))),
    "indent": _of_lines(lambda lines, at, c: lines.__setitem__(at, b" " + lines[at])),
    "value": _of_lines(_value),
}
CHANGES = st.builds(
    Change,
    st.sampled_from(sorted(KINDS)),
    st.floats(0, 1),
    st.integers(1, 60),
    st.sampled_from(PIECES) | st.binary(max_size=6),
)


def damaged(seeds: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """One of ``seeds`` after a few changes, or no file at all of that kind."""
    changed = st.builds(
        _changed, st.sampled_from(list(seeds)), st.lists(CHANGES, max_size=3)
    )
    return changed | st.binary(max_size=60)


def _changed(data: bytes, changes: list[Change]) -> bytes:
    for change in changes:
        data = KINDS[change.kind](data, change)
    return data
