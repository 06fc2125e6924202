"""YAML that every YAML reader reads back, whatever bytes a task was given or wrote."""

from __future__ import annotations

from pegasus_bb.core.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_KEY_MAX = 1000  # readers look for the colon within 1024 characters


class Verbatim(str):
    """Text that is YAML already: a date, an octal mode."""

    __slots__ = ()


class Data(str):
    """What a task wrote: a readable block if it is plain text."""

    __slots__ = ()


def as_text(data: bytes) -> str:
    """``data`` as text; bytes that are no UTF-8 appear as \\xNN."""
    return data.decode("utf-8", "backslashreplace")


def quoted(text: str) -> str:
    """``text`` as a double-quoted scalar on one line.

    What was no UTF-8 (a lone surrogate here) becomes \\xNN: no YAML can carry it.
    """
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    try:
        text.encode()
    except UnicodeEncodeError:
        text = as_text(text.encode("utf-8", "surrogateescape"))
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(char: str) -> str:
    if char in _SHORT:
        return _SHORT[char]
    if char.isprintable():
        return char
    number = ord(char)
    return f"\\u{number:04X}" if number < 0x10000 else f"\\U{number:08X}"


def _is_block(text: str) -> bool:
    return all(line.replace("\t", " ").isprintable() for line in text.split("\n"))


def block(text: str, indent: int) -> str:
    """``text`` after ``key:`` as a literal block, or quoted if it is not plain.

    ``indent`` is that of the lines of the block, two deeper than the key's.
    """
    if not text.strip(" \t\n") or not _is_block(text):
        return quoted(text)
    lead = "2" if text[0] in " \t\n" else ""
    body = text[:-1] if text.endswith("\n") else text
    chomp = "-" if body is text else "+" if body.endswith("\n") else ""
    pad = " " * indent
    lines = [pad + line if line else "" for line in body.split("\n")]
    return f"|{lead}{chomp}\n" + "\n".join(lines)


def scalar(value: Any, indent: int) -> str:
    if isinstance(value, Verbatim):
        return str(value)
    if isinstance(value, Data):
        return block(value, indent + 2)
    if isinstance(value, str):
        return quoted(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "True" if value else "False"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def lines(data: Mapping[Any, Any], indent: int) -> Iterator[str]:
    """``data`` as block mappings and lists, ``indent`` blanks deep.

    A str key is one of ours and written as it is; a ``(text,)`` is foreign and quoted.
    """
    pad = " " * indent
    for key, value in data.items():
        yield from _entry(pad, _key(pad, key), value, indent)


def _key(pad: str, key: Any) -> str:
    if not isinstance(key, tuple):
        return f"{key}:"
    text = quoted(key[0])
    return f"{text}:" if len(text) < _KEY_MAX else f"? {text}\n{pad}:"


def _entry(pad: str, key: str, value: Any, indent: int) -> Iterator[str]:
    if isinstance(value, dict):  # half the cost of an isinstance of Mapping
        yield f"{pad}{key}"
        yield from lines(value, indent + 2)
    elif isinstance(value, (list, tuple)):
        yield f"{pad}{key}"
        for item in value:
            yield f"{pad}  - {scalar(item, indent)}"
    else:
        yield f"{pad}{key} {scalar(value, indent)}"


def record(data: Mapping[Any, Any]) -> bytes:
    text = "\n".join(["- invocation: True", *lines(data, 2)])
    return (text + "\n").encode("utf-8", "backslashreplace")
