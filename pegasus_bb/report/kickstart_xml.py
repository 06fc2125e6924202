"""Kickstart XML of Pegasus 4 (iv-2.x) -> the mapping that Kickstart 3.0 YAML has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from pegasus_bb.model.run import FileUse
from pegasus_bb.report.uses import counted

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

TAG_LIMIT = 400_000  # some 20 MiB of text; a record of 1 MiB has 6,000

_START = re.compile(rb"(?:^|\?>)[ \t]*(<invocation[\s>])", re.MULTILINE)
_END = b"</invocation>"
# stdout and stderr of the task: most of a record, and of no use here.
_DATA = b"<data"
_DATA_END = b"</data>"
CONTROL = bytes(range(32)).translate(None, b"\t\n\r") + b"\x7f"


def begins(text: bytes) -> int | None:
    """Find the first XML record of ``text``; None if there is none."""
    match = _START.search(text) if b"<invocation" in text else None
    return match.start(1) if match else None


def split(text: bytes) -> Iterator[bytes]:
    """Yield the records in ``text``: one, or many if jobs were clustered.

    A torn one ends where the next begins.
    """
    starts = [match.start(1) for match in _START.finditer(text)]
    for start, limit in zip(starts, [*starts[1:], len(text)], strict=True):
        end = text.find(_END, start, limit)
        yield text[start : limit if end < 0 else end + len(_END)]


def load(text: bytes) -> tuple[dict[str, Any], tuple[FileUse, ...]]:
    """Parse one record as Kickstart 3.0 has it, and what calls on each file moved.

    Raises ValueError if it is no XML, or more of it than a record can be.
    """
    root = _parsed(_decoded(_without_data(text).translate(None, CONTROL)))
    record: dict[str, Any] = dict(root.attrib)
    record["duration"] = _number(record.get("duration", ""))
    record["cwd"] = root.findtext("{*}cwd", "")
    record["files"] = dict(_files(root))
    uses: tuple[FileUse, ...] = ()
    for main in root.iterfind("{*}mainjob"):
        record["mainjob"] = _main(main)
        uses = tuple(_counted(main))
    return record, uses


def _parsed(text: str) -> Element:
    if text.count("<") > TAG_LIMIT:
        raise ValueError(f"more than {TAG_LIMIT} tags")
    try:
        return fromstring(text, forbid_dtd=True)
    except DefusedXmlException:
        raise ValueError("a DOCTYPE, which no record has") from None
    except ParseError as error:
        raise ValueError(str(error)) from None


def _without_data(text: bytes) -> bytes:
    first, *parts = text.split(_DATA)
    return first + b"".join(part.partition(_DATA_END)[2] for part in parts)


def _decoded(text: bytes) -> str:
    """Decode. Pegasus 4 declares ISO-8859-1 or UTF-8 and prints the bytes of the task's
    names."""
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
    rows = [_numbers(row.attrib) for row in main.iterfind("{*}proc")]
    arguments = main.iterfind("{*}argument-vector/{*}arg")
    return {
        "start": main.get("start"),
        "duration": _number(main.get("duration", "")),
        "pid": _number(main.get("pid", "")),
        "usage": _numbers(_attributes(main, "{*}usage")),
        "status": _status(main),
        "executable": {"file_name": _file_name(main.find("{*}statcall"))},
        "argument_vector": [argument.text or "" for argument in arguments],
        "procs": {row.get("pid"): row for row in rows},
    }


def _attributes(element: Element | None, path: str) -> Mapping[str, str]:
    found = None if element is None else element.find(path)
    return {} if found is None else found.attrib


def _file_name(call: Element | None) -> str:
    return _attributes(call, "{*}file").get("name", "")


def _status(main: Element) -> dict[str, float | str]:
    """Rename keys: `<regular exitcode="1"/>` is regular_exitcode: 1 in YAML, and so
    on."""
    found = _numbers(_attributes(main, "{*}status"))
    for how in main.iterfind("{*}status/*"):
        kind = how.tag.rpartition("}")[2]
        for name, value in how.items():
            found[f"{kind}_{name}"] = _number(value)
    return found


def _files(root: Element) -> Iterator[tuple[str, dict[str, Any]]]:
    for call in root.iterfind("{*}statcall"):
        lfn = call.get("lfn")
        if lfn is not None:
            size = _attributes(call, "{*}statinfo").get("size", "")
            yield (
                lfn,
                {
                    "lfn": lfn,
                    "file_name": _file_name(call),
                    "size": _number(size),
                    "output": call.get("id") == "final",
                },
            )


def _counted(main: Element) -> Iterator[FileUse]:
    for file in main.iterfind("{*}proc/{*}file"):
        yield from counted(file.attrib)
