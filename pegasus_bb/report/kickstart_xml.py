"""Kickstart XML of Pegasus 4 (iv-2.x) -> the mapping that Kickstart 3.0 YAML has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pegasus_bb.model.run import FileUse
from pegasus_bb.report.elements import Element, parse
from pegasus_bb.report.uses import counted

_START = re.compile(rb"(?:^|\?>)[ \t]*(<invocation[\s>])", re.MULTILINE)
_END = b"</invocation>"
# stdout and stderr of the task: most of a record, and of no use here.
_DATA, _DATA_END = b"<data", b"</data>"
_CONTROL = bytes(range(32)).translate(None, b"\t\n\r") + b"\x7f"


def begins(text: bytes) -> int | None:
    """Where the first XML record of ``text`` is; None where there is none."""
    match = _START.search(text) if b"<invocation" in text else None
    return match.start(1) if match else None


def split(text: bytes) -> Iterator[bytes]:
    """The records in ``text``: one, or many where jobs were clustered.

    A torn one ends where the next begins.
    """
    starts = [match.start(1) for match in _START.finditer(text)]
    for start, limit in zip(starts, [*starts[1:], len(text)], strict=True):
        end = text.find(_END, start, limit)
        yield text[start : limit if end < 0 else end + len(_END)]


def load(text: bytes) -> tuple[dict[str, Any], tuple[FileUse, ...]]:
    """One record as Kickstart 3.0 has it, and what calls on each file moved.

    Raises ValueError where it is no XML, or more of it than a record can be.
    """
    root = parse(_decoded(_without_data(text).translate(None, _CONTROL)))
    record: dict[str, Any] = dict(root.attributes)
    record["duration"] = _number(record.get("duration", ""))
    record["cwd"] = root.one("cwd").text
    record["files"] = dict(_files(root))
    uses: tuple[FileUse, ...] = ()
    for main in root.every("mainjob"):
        record["mainjob"] = _main(main)
        uses = tuple(_counted(main))
    return record, uses


def _without_data(text: bytes) -> bytes:
    kept, at = [], 0
    while (start := text.find(_DATA, at)) >= 0:
        end = text.find(_DATA_END, start)
        if end < 0:
            break
        kept.append(text[at:start])
        at = end + len(_DATA_END)
    return b"".join([*kept, text[at:]])


def _decoded(text: bytes) -> str:
    """Pegasus 4 says ISO-8859-1 or UTF-8 and prints what the task's names are in."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("latin-1")


def _number(text: str) -> float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _numbers(attributes: Mapping[str, str]) -> dict[str, float | str]:
    return {name: _number(value) for name, value in attributes.items()}


def _main(main: Element) -> dict[str, Any]:
    rows = [_numbers(row.attributes) for row in main.every("proc")]
    program = main.one("statcall").one("file").attributes.get("name", "")
    arguments = main.one("argument-vector").every("arg")
    return {
        "start": main.attributes.get("start"),
        "duration": _number(main.attributes.get("duration", "")),
        "pid": _number(main.attributes.get("pid", "")),
        "usage": _numbers(main.one("usage").attributes),
        "status": _status(main.one("status")),
        "executable": {"file_name": program},
        "argument_vector": [argument.text for argument in arguments],
        "procs": {row.get("pid"): row for row in rows},
    }


def _status(status: Element) -> dict[str, float | str]:
    """`<regular exitcode="1"/>` is regular_exitcode: 1 in YAML, and so on."""
    found = _numbers(status.attributes)
    for how in status.children:
        for name, value in how.attributes.items():
            found[f"{how.name}_{name}"] = _number(value)
    return found


def _files(root: Element) -> Iterator[tuple[str, dict[str, Any]]]:
    """The workflow's files; the streams and Kickstart's own have no LFN."""
    for call in root.every("statcall"):
        lfn = call.attributes.get("lfn")
        if lfn is not None:
            size = call.one("statinfo").attributes.get("size", "")
            yield (
                lfn,
                {
                    "lfn": lfn,
                    "file_name": call.one("file").attributes.get("name", ""),
                    "size": _number(size),
                    "output": call.attributes.get("id") == "final",
                },
            )


def _counted(main: Element) -> Iterator[FileUse]:
    for row in main.every("proc"):
        for file in row.every("file"):
            yield from counted(file.attributes)
