"""Text of Java's properties files: ``key = value`` to a line, and its escapes.

As java.util.Properties reads and writes them. Of ready-made readers importing alone
takes longer than all else that planning does with properties.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_BLANKS = " \t\f"
_KEY_AND_VALUE = re.compile(
    r"((?:[^\\=: \t\f]|\\.)*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL
)
_ESCAPE = re.compile(r"\\(u.{0,4}|.)", re.DOTALL)
_FOUR_DIGITS = re.compile(r"u[0-9A-Fa-f]{4}")
_LETTERS = {"t": "\t", "n": "\n", "f": "\f", "r": "\r"}
_SPECIAL = re.compile(r"[^ -~]|[\\#!=:]")
_WRITTEN = {char: f"\\{letter}" for letter, char in _LETTERS.items()}


def parse_properties(text: str) -> Iterator[tuple[int, str, str]]:
    """(line, key, value) of every property. Raises ValueError."""
    lines = enumerate(re.split(r"\r\n|\r|\n", text), 1)
    for number, line in lines:
        line = line.lstrip(_BLANKS)
        if line.startswith(("#", "!")):
            continue
        while _goes_on(line):
            _, more = next(lines, (0, ""))
            line = line[:-1] + more.lstrip(_BLANKS)
        match = _KEY_AND_VALUE.fullmatch(line)
        if line and match:
            yield number, _plain(match[1]), _plain(match[2])


def format_properties(properties: Mapping[str, str]) -> str:
    """``properties`` in their order, in ASCII."""
    return "".join(
        f"{_key(key)}={_value(value)}\n" for key, value in properties.items()
    )


def _goes_on(line: str) -> bool:
    """An odd number of backslashes ends a line that the next one continues."""
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _plain(word: str) -> str:
    """Without escapes. Raises ValueError for a ``\\u`` without its four digits."""
    if "\\" not in word:
        return word
    text = _ESCAPE.sub(_unescaped, word)
    # Java's characters are halves of pairs beyond the first 65,536.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def _unescaped(match: re.Match[str]) -> str:
    word = match[1]
    if word[0] != "u":
        return _LETTERS.get(word, word)
    if _FOUR_DIGITS.fullmatch(word) is None:
        raise ValueError(f"Invalid \\u escape sequence: \\{word}")
    return chr(int(word[1:], 16))


def _key(text: str) -> str:
    return _escaped(text).replace(" ", "\\ ")


def _value(text: str) -> str:
    escaped = _escaped(text)
    return f"\\{escaped}" if escaped.startswith(" ") else escaped


def _escaped(text: str) -> str:
    return _SPECIAL.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    if char in "\\#!=:":
        return f"\\{char}"
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return _WRITTEN.get(char) or re.sub("....", r"\\u\g<0>", units)
