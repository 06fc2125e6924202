"""The text of Kickstart records -> mappings, with limits on what is read.

YAML is Pegasus 5's, XML Pegasus 4's. A file holds one record, or several one after the
other where jobs were clustered, with other programs' lines around them. Each record is
read on its own, so that a bad one costs no more than itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from ryaml import loads  # type: ignore[attr-defined]

from pegasus_bb.model.run import FileUse
from pegasus_bb.report import kickstart_xml
from pegasus_bb.report.uses import counted

SIZE_LIMIT = 64 << 20  # bytes of one file; a real record is a few KiB

# A record's first line, then everything indented under it. Lines of [cluster-task and
# pegasus-multipart begin in the first column and end it.
_RECORD = re.compile(rb"^- invocation:.*\n?(?:[ \t].*\n?|\r?\n)*", re.MULTILINE)
_SUMMARY = re.compile(rb"^\[cluster-summary [^\n]{0,200}?\btasks=(\d{1,9})\b", re.M)
_COUNTERS = re.compile(rb"# pegasus_bb io: (\{[^\n]{1,4000}\})\n")
_TRIES = re.compile(rb"# pegasus_bb tries: (\d{1,9})\n")
# stdout and stderr of the task. A first line with leading blanks makes the block
# (`|` without an indentation) something that no YAML reader takes.
_DATA = re.compile(rb"\n( *)data: \|.*(?:\n\1 .*|\n[ \t]*\r?(?=\n|$))*")
# What -z and -Z say of each file that a process used.
_FILE = re.compile(rb"\n +<file ([^\n]*)/>")
_ATTRIBUTE = re.compile(r'\b(\w{1,64})="([^"]*)"')
# -z and -Z leave XML lines and an unquoted command line between the rows of procs. The
# rest is more than half of a record, and of no use here: what stat() said of each
# file, the machine's load, the recorder's own usage, environment and limits.
_UNUSED = re.compile(
    rb"\n +(?:<|cmd:|(?:mode|inode|nlink|blksize|blocks|[mac]time|[ug]id|user|group): "
    rb"|(?:ram|swap|cpu|load|procs|task)_\w+: ).*"
    rb"|\n  (?:usage|environment|limits):(?:\n    .*)*"
)
# A record has no brackets outside quotes; the scanner's time grows with their square.
_QUOTED = re.compile(rb'"(?:[^"\\\n]|\\.)*"')
_BRACKETS = 1000


class RecordText(NamedTuple):
    """One record of a file: parsed, or the reason why it could not be."""

    data: Mapping[str, Any] | None
    why: str = ""
    io: Mapping[str, Any] | None = None  # what our launcher counted, after the record
    calls: tuple[FileUse, ...] = ()  # -z, -Z: per process and file
    tries: int = 1  # of the task in its place; the others left their records elsewhere


def read_records(path: Path) -> Iterator[RecordText]:
    """Yield every record of ``path``; never raise for what a file holds."""
    try:
        with open(path, "rb", buffering=0) as source:  # noqa: PTH123 - a third faster
            size = os.fstat(source.fileno()).st_size
            text = source.read(min(size, SIZE_LIMIT) + 1)
    except OSError as error:
        yield RecordText(None, error.strerror or str(error))
        return
    if len(text) > SIZE_LIMIT:
        yield RecordText(None, f"larger than {SIZE_LIMIT >> 20} MiB: not a record")
        return
    yield from parse_records(text)


def holds_record(text: bytes) -> bool:
    """Return whether a Kickstart record begins in ``text``."""
    return kickstart_xml.begins(text) is not None or bool(_RECORD.search(text))


def parse_records(text: bytes) -> Iterator[RecordText]:
    """Yield every record in ``text``; one entry with the reason if there is none."""
    found = 0
    for record in _each(text):
        found += 1
        yield record
    if not found:
        yield RecordText(None, _why_none(text))
    elif (tasks := _clustered(text)) > found:
        yield RecordText(None, f"of {tasks} clustered tasks {found} left a record")


def _each(text: bytes) -> Iterator[RecordText]:
    if _is_xml(text):
        yield from map(_parse_xml, kickstart_xml.split(text))
        return
    for match in _RECORD.finditer(text):
        io = _counters(text, match.end())
        before = text.rfind(b"\n", 0, max(0, match.start() - 1)) + 1
        tries = _TRIES.match(text, before)
        record = _parse(match.group())
        yield record._replace(io=io, tries=int(tries[1]) if tries else 1)


def _clustered(text: bytes) -> int:
    """Return how many tasks pegasus-cluster, or its MPI form, says that it had; 0:
    neither."""
    match = _SUMMARY.search(text) if b"[cluster-summary " in text else None
    return int(match.group(1)) if match else 0


def _is_xml(text: bytes) -> bool:
    """Return whether an XML record comes first: the rest is what a task printed."""
    xml = kickstart_xml.begins(text)
    if xml is None:
        return False
    yaml = _RECORD.search(text)
    return yaml is None or xml < yaml.start()


def _parse_xml(record: bytes) -> RecordText:
    try:
        data, calls = kickstart_xml.load(record)
    except ValueError as error:
        return RecordText(None, f"not XML of a record: {error}")
    return RecordText(data, calls=calls)


def _counters(text: bytes, place: int) -> Mapping[str, Any] | None:
    match = _COUNTERS.match(text, place)
    try:
        found = orjson.loads(match.group(1)) if match else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def load_yaml(text: bytes) -> Any:
    """Parse the YAML in ``text``. Raises ValueError; depth and repetition are
    limited."""
    return loads(text.decode("utf-8", errors="replace"))


def _parse(record: bytes) -> RecordText:
    # A line that was torn off may have been longer, and its number larger.
    record = record[: record.rfind(b"\n") + 1]
    text = _DATA.sub(b"", record) if b"data: |" in record else record
    clean = _UNUSED.sub(b"", text).translate(None, kickstart_xml.CONTROL)
    if _brackets(clean) > _BRACKETS:
        return RecordText(None, "not a Kickstart record: brackets without end")
    try:
        loaded = load_yaml(clean)
    except (ValueError, RecursionError) as error:
        return RecordText(None, f"not YAML: {str(error).splitlines()[0]}")
    if isinstance(loaded, list) and len(loaded) == 1 and isinstance(loaded[0], dict):
        return RecordText(loaded[0], calls=tuple(_calls(text)))
    return RecordText(None, "not a Kickstart record: no mapping under `- invocation`")


def _calls(text: bytes) -> Iterator[FileUse]:
    for match in _FILE.finditer(text) if b"<file" in text else ():
        words = match.group(1).decode("utf-8", errors="replace")
        pairs = _ATTRIBUTE.findall(words)
        yield from counted({name: unescape(value) for name, value in pairs})


def _brackets(text: bytes) -> int:
    number = text.count(b"[") + text.count(b"{")
    if number <= _BRACKETS:
        return number
    bare = _QUOTED.sub(b"", text)
    return bare.count(b"[") + bare.count(b"{")


def _why_none(text: bytes) -> str:
    if not text.strip():
        return "empty: the job left no record"
    return "no Kickstart record in it (neither `- invocation: True` nor <invocation>)"
